//! Values that are no plain bits, such as strings: their positions are gathered in their place, and the
//! values at these cloned. Called by the executor, which knows no such values.

use crate::error::{Error, Result};
use crate::op::Op;
use crate::rules::{Fill, OutOfBounds, Rules};
use crate::tensor::{Tensor, TensorView};

/// The position of each value that is no plain bits: what is gathered in its place.
pub(crate) fn positions<S>(params: &TensorView<'_, S>) -> Vec<u64> {
    (0..params.data().len() as u64).collect()
}

/// What a bad index gives where it is to give the default: a position that no value has.
const NO_POSITION: u64 = u64::MAX;

/// Rules under which a bad index gives that.
pub(crate) fn rules(rules: &Rules) -> Rules {
    let out_of_bounds = match &rules.out_of_bounds {
        OutOfBounds::Zero | OutOfBounds::Fill(_) => OutOfBounds::Fill(Fill::new(NO_POSITION)),
        other => other.clone(),
    };
    rules.clone().with_out_of_bounds(out_of_bounds)
}

/// The values at the positions that were found. A device found them, so they are not trusted.
pub(crate) fn values<S: Clone>(
    op: Op,
    rules: &Rules,
    params: &TensorView<'_, S>,
    found: &Tensor<u64>,
    default: &S,
) -> Result<Tensor<S>> {
    let data = params.data();
    let may_be_default = matches!(rules.out_of_bounds, OutOfBounds::Fill(_));
    let value = |&at: &u64| match usize::try_from(at).ok().and_then(|at| data.get(at)) {
        Some(value) => Ok(value.clone()),
        None if may_be_default && at == NO_POSITION => Ok(default.clone()),
        None => Err(Error::ImpossibleReport {
            op: op.kind(),
            what: "the position of a value",
            got: at.to_string(),
            allowed: format!("less than {}", data.len()),
        }),
    };
    let values: Result<Vec<S>> = found.data().iter().map(value).collect();
    Tensor::new(found.shape(), values?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::OpKind;

    #[test]
    fn positions_that_no_gather_finds_are_an_error() {
        let params = Tensor::new(&[2], vec!["a", "b"]).unwrap();
        let params = params.view();
        let cloned = |rules: &Rules, at: u64| {
            let found = Tensor::new(&[2], vec![1, at]).unwrap();
            values(Op::gather(0), rules, &params, &found, &"none")
        };
        let filled = rules(&Rules::default());
        assert_eq!(cloned(&filled, 0).unwrap().data(), ["b", "a"]);
        assert_eq!(cloned(&filled, NO_POSITION).unwrap().data(), ["b", "none"]);
        for (rules, at) in [
            (&filled, 2),
            (&filled, (1 << 32) + 1), // not cut to 32 bits, where addresses have so many
            (&Rules::ONNX, NO_POSITION),
        ] {
            let error = cloned(rules, at).map(|_| ()).unwrap_err();
            assert_eq!(
                error,
                Error::ImpossibleReport {
                    op: OpKind::Gather,
                    what: "the position of a value",
                    got: at.to_string(),
                    allowed: "less than 2".to_owned(),
                }
            );
        }
    }
}

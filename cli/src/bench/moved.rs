//! What the call of a case moves, whose params may be quantised: then it reads blocks.

use anyhow::Result;
use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{Indices, Layout, Op, Plan, Reduce};

use crate::bench::case::Scaled;
use crate::bench::traffic::Traffic;
use crate::bench::verb::Verb;

/// What to expect of random indices: [`Traffic::uniform`].
pub(crate) fn expected(scaled: &Scaled) -> Result<Traffic> {
    Ok(of_verb(scaled, expected_reads(scaled)?))
}

/// What these `indices` make it move: [`Traffic::counted`]. Of quantised params only whole rows are
/// counted; of others it is what to expect.
pub(crate) fn counted(scaled: &Scaled, indices: &Indices<'_>) -> Result<Traffic> {
    Ok(of_verb(scaled, counted_reads(scaled, indices)?))
}

/// The bytes of the verb, where a gather of the same rows moves `rows`. What a scatter combines with updates is
/// read and written; where the last update replaces the others, only those that last are read.
fn of_verb(scaled: &Scaled, rows: Traffic) -> Traffic {
    let (updates, output) = (scaled.updates_bytes() as u64, scaled.output_bytes() as u64);
    let last = match scaled.case.verb {
        Verb::Gather => return rows,
        Verb::SumBags => return Traffic { output, ..rows },
        Verb::Scatter(reduce) | Verb::ScatterInto(reduce) => reduce == Reduce::None,
    };
    let rows = match last {
        true => Traffic {
            updates: rows.params,
            output: rows.params_sectors,
            params: 0,
            params_sectors: 0,
            ..rows
        },
        false => Traffic {
            updates,
            output: rows.params_sectors,
            ..rows
        },
    };
    match scaled.case.verb {
        Verb::ScatterInto(_) => rows,
        // A copy of all.
        _ => Traffic {
            params: output,
            params_sectors: output,
            output,
            ..rows
        },
    }
}

fn expected_reads(scaled: &Scaled) -> Result<Traffic> {
    let Some(format) = scaled.case.format else {
        return Ok(Traffic::uniform(&scaled.plan));
    };
    Ok(Traffic::uniform(&codes(scaled, format)?).moving(&scaled.plan))
}

fn counted_reads(scaled: &Scaled, indices: &Indices<'_>) -> Result<Traffic> {
    let Some(format) = scaled.case.format else {
        return Traffic::counted(&scaled.plan, indices);
    };
    let codes = codes(scaled, format)?;
    match codes.element_bytes() {
        1 => Ok(Traffic::counted(&codes, indices)?.moving(&scaled.plan)),
        _ => expected_reads(scaled),
    }
}

/// A gather of bytes of rows, or of whole blocks, that reads as many bytes as the gather of the case
/// reads of its blocks. Where the slices are not whole rows, its extents are others: then it is for
/// counting what to expect only.
fn codes(scaled: &Scaled, format: BlockFormat) -> Result<Plan> {
    let Scaled {
        case, plan, rules, ..
    } = scaled;
    let (block, block_bytes) = (format.block_elements(), format.block_bytes());
    let (mut params, mut indices) = (case.params.clone(), case.indices.clone());
    let last = params.len() - 1;
    let row = params[last];
    let whole_rows = row > 0 && plan.geometry().slice().is_multiple_of(row);
    let element_bytes = match whole_rows {
        true => 1,
        false => block_bytes,
    };
    params[last] = row / block * (block_bytes / element_bytes);
    if let Op::GatherElements { axis } = case.op
        && axis.rem_euclid(params.len() as isize) as usize != last
    {
        // The elements of one row of indices that fall into one column of blocks.
        let axis = axis.rem_euclid(params.len() as isize) as usize;
        indices[axis] = indices[axis].saturating_mul(block);
        indices[last] = indices[last].div_ceil(block);
    }
    Ok(Plan::new(
        case.op,
        rules,
        element_bytes,
        &Layout::contiguous(&params),
        case.index_type,
        &Layout::contiguous(&indices),
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::case::Case;
    use crate::bench::pattern::Pattern;
    use wgpu_gather::{DType, IndexType, Rules};

    /// Bytes of blocks, and of their sectors, that a gather reads.
    fn read(op: Op, format: BlockFormat, params: &[usize], indices: &[usize]) -> [u64; 2] {
        let case = Case {
            name: "own".to_owned(),
            group: "own",
            what: "",
            verb: Verb::Gather,
            op,
            dtype: DType::F32,
            format: Some(format),
            index_type: IndexType::I32,
            params: params.to_vec(),
            indices: indices.to_vec(),
            divided: [None; 2],
            pattern: Pattern::Random,
            bad: 0.0,
        };
        let scaled = case.scaled(1, &Rules::default()).unwrap();
        let Traffic {
            params,
            params_sectors,
            ..
        } = expected(&scaled).unwrap();
        [params, params_sectors]
    }

    #[test]
    fn rows_and_single_elements_read_their_blocks() {
        use BlockFormat::{Q4_0, Q8_0};
        // One row of 28 blocks of 34 bytes, which lie in 30.7 sectors on average; one of 18 bytes.
        let one_row = read(Op::gather(0), Q8_0, &[151_936, 896], &[1]);
        assert_eq!(one_row, [952, 31 * 32]);
        assert_eq!(read(Op::gather(0), Q4_0, &[151_936, 896], &[1])[0], 504);
        // 512 of so many rows are hardly the same.
        let prompt = read(Op::gather(0), Q8_0, &[151_936, 896], &[512])[0];
        assert!((486_500..=487_424).contains(&prompt), "{prompt}");
        // A single element reads its block.
        assert_eq!(read(Op::gather_nd(), Q8_0, &[1000, 64], &[1, 2])[0], 34);
        assert_eq!(
            read(Op::gather_elements(1), Q8_0, &[1, 6400], &[1, 1])[0],
            34
        );
        // A row of 64 of them, from any of 1,000 rows each: about 64 blocks, of the 2,000.
        let elements = read(Op::gather_elements(0), Q8_0, &[1000, 64], &[1, 64])[0];
        assert!((34 * 62..=34 * 64).contains(&elements), "{elements}");
    }
}

//! What is said of a gather from a quantized table.

use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};
use wgpu_gather::quantized::BlockFormat;

use crate::bench::case::Scaled;
use crate::text;

/// What an explanation says of kernels that copy.
const PLAIN: [&str; 6] = [
    "passes",
    "boxes",
    "segments",
    "check_passes",
    "dispatches",
    "host_call",
];

/// A table in blocks, and what a gather decodes of it.
pub(super) struct Decoded<'a> {
    scaled: &'a Scaled,
    format: BlockFormat,
}

impl<'a> Decoded<'a> {
    /// Of a gather whose params are quantized.
    pub(super) fn of(scaled: &'a Scaled) -> Option<Self> {
        let format = scaled.case.format?;
        Some(Decoded { scaled, format })
    }

    fn bits(&self) -> f64 {
        (8 * self.format.block_bytes()) as f64 / self.format.block_elements() as f64
    }

    /// Bytes of params, if all of it were decoded.
    fn decoded_bytes(&self) -> u128 {
        let dims = self.scaled.case.params.iter().map(|&dim| dim as u128);
        dims.product::<u128>() * self.scaled.case.dtype.bytes() as u128
    }

    /// Adds what is said here to the object of a gather from the decoded table, and takes away what is
    /// so of that one only.
    pub(super) fn amend(&self, value: &mut Value) {
        for key in PLAIN {
            value[key] = Value::Null;
        }
        value["quantised"] = self.json();
    }

    fn json(&self) -> Value {
        let case = &self.scaled.case;
        json!({
            "format": self.format.name(),
            "block_elements": self.format.block_elements(),
            "block_bytes": self.format.block_bytes(),
            "params_bytes": self.scaled.params_bytes(),
            "params_bytes_decoded": self.decoded_bytes() as u64,
            "decoded_elements": self.scaled.output_bytes() / case.dtype.bytes(),
            "decoded_to": case.dtype.name(),
        })
    }
}

impl Display for Decoded<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Scaled { case, plan, .. } = self.scaled;
        writeln!(
            f,
            "{}: params {:?} in {}, indices {:?} of {}, output {:?} of {}",
            plan.op(),
            case.params,
            self.format,
            case.indices,
            plan.index_type().name(),
            plan.output_shape(),
            case.dtype
        )?;
        writeln!(
            f,
            "{:<12}negative: {}; out of bounds: {}",
            "rules",
            plan.rules().negative,
            plan.rules().out_of_bounds
        )?;
        writeln!(
            f,
            "{:<12}blocks of {} elements in {} bytes, {} bits an element: params of {}, which would \
             be {} of {}",
            "format",
            self.format.block_elements(),
            self.format.block_bytes(),
            self.bits(),
            text::bytes(self.scaled.params_bytes() as u64),
            text::bytes(self.decoded_bytes() as u64),
            case.dtype
        )?;
        writeln!(
            f,
            "{:<12}{} elements, between their load and their store; nothing else of params",
            "decoded",
            text::grouped(self.scaled.output_bytes() / case.dtype.bytes())
        )
    }
}

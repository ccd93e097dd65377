//! The definition of a gather, one output element at a time.

use super::definition::{Coordinates, Definition};
use crate::call::Gather;
use crate::error::{Result, Role};
use crate::operand::AnyTable;
use crate::rules::OutOfBounds;
use crate::shape::{check_output_bytes, elements};

/// Gathers element by element.
pub(crate) fn gather(call: &Gather<'_>, output: &mut [u8]) -> Result<()> {
    let table = &call.table;
    let layout = table.layout();
    gather_with(call, output, |source, element| {
        let at = layout.position(source);
        match table {
            AnyTable::Plain(params) => {
                let width = params.element_bytes();
                element.copy_from_slice(&params.bytes()[at * width..][..width]);
            }
            AnyTable::Quantized(table, to) => {
                let mut value = [0.0];
                table.decode_within(at, &mut value);
                to.write(&value, element);
            }
        }
    })
}

/// Gathers with `copy`, which writes the element of the table at these coordinates.
fn gather_with(
    call: &Gather<'_>,
    output: &mut [u8],
    copy: impl Fn(&[usize], &mut [u8]),
) -> Result<()> {
    let (op, rules, width) = (call.op, call.rules, call.width());
    let shape = call.output_shape()?;
    let expected = elements(Role::Output, &shape, width)? * width;
    check_output_bytes(op.kind(), expected, output.len())?;
    let params_of = (call.table.shape(), width);
    let definition = Definition::new(op, op.kind(), rules, params_of, &call.indices)?;
    if output.is_empty() {
        return Ok(());
    }
    definition.check_rules()?;
    let mut any_bad = false;
    for (coordinates, element) in Coordinates::new(&shape).zip(output.chunks_exact_mut(width)) {
        match definition.source(&coordinates) {
            Some(source) => copy(&source, element),
            None => {
                match &rules.out_of_bounds {
                    OutOfBounds::Fill(fill) => element.copy_from_slice(fill.bytes()),
                    _ => element.fill(0),
                }
                any_bad = true;
            }
        }
    }
    if any_bad && rules.out_of_bounds == OutOfBounds::Error {
        return definition.report();
    }
    Ok(())
}

//! Outputs in bytes: before a call, and what is wrong with them after it.

use wgpu_gather::{Error, Layout, Role};

/// What the output holds before the call: a value that no case expects everywhere.
const POISON: u8 = 0xa5;

/// An output of this shape before the call.
pub(crate) fn poisoned(shape: &[usize], element_bytes: usize) -> Result<Vec<u8>, Error> {
    let role = Role::Output;
    // Of an empty tensor, a slice may have any extent.
    let bytes = Layout::checked_elements(shape).and_then(|n| n.checked_mul(element_bytes));
    let addressable = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
    let bytes = addressable.ok_or_else(|| Error::SizeOverflow {
        role,
        shape: shape.to_vec(),
        element_bytes,
    })?;
    let mut output = Vec::new();
    let reserved = output.try_reserve_exact(bytes);
    reserved.map_err(|_| Error::HostOutOfMemory { role, bytes })?;
    output.resize(bytes, POISON);
    Ok(output)
}

/// The first element that differs, in hexadecimal, lowest byte first.
pub(crate) fn byte_difference(
    shape: &[usize],
    element_bytes: usize,
    expected: &[u8],
    got: &[u8],
) -> Option<String> {
    let at = expected.iter().zip(got).position(|(e, g)| e != g)? / element_bytes;
    let hex = |bytes: &[u8]| hexadecimal(&bytes[at * element_bytes..(at + 1) * element_bytes]);
    Some(describe(shape, at, &hex(got), &hex(expected)))
}

/// An element, lowest byte first.
pub(crate) fn hexadecimal(element: &[u8]) -> String {
    element.iter().map(|b| format!("{b:02x}")).collect()
}

/// What is wrong with what an executor has made: by `compare`, if there are two outputs; nothing, if there
/// are two equal errors.
pub fn difference(
    expected: Result<Vec<u8>, Error>,
    got: Result<Vec<u8>, Error>,
    compare: impl FnOnce(&[u8], &[u8]) -> Option<String>,
) -> Option<String> {
    match (expected, got) {
        (Ok(expected), Ok(got)) => compare(&expected, &got),
        (Err(expected), Err(got)) if expected == got => None,
        (Err(expected), Err(got)) => {
            Some(format!("failed with \"{got}\", expected \"{expected}\""))
        }
        (Err(expected), Ok(_)) => Some(format!("gave an output, expected \"{expected}\"")),
        (Ok(_), Err(got)) => Some(format!("failed with \"{got}\"")),
    }
}

/// In words, what is wrong with element number `at` of a tensor of this shape.
pub(crate) fn describe(shape: &[usize], mut at: usize, got: &str, expected: &str) -> String {
    let mut coordinates = vec![0; shape.len()];
    for (coordinate, extent) in coordinates.iter_mut().zip(shape).rev() {
        *coordinate = at % extent;
        at /= extent;
    }
    format!("output{coordinates:?} is {got}, expected {expected}")
}

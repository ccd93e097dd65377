//! How files name the element types, for who reads them and who writes them.

use safetensors::Dtype;
use wgpu_gather::DType;

/// An element type, in NumPy's words and in those of `.safetensors`.
type Row = (DType, &'static str, Option<Dtype>);

/// NumPy does not know bf16, which is raw bytes there.
const NAMES: [Row; 15] = [
    (DType::Bool, "|b1", Some(Dtype::BOOL)),
    (DType::U8, "|u1", Some(Dtype::U8)),
    (DType::I8, "|i1", Some(Dtype::I8)),
    (DType::U16, "<u2", Some(Dtype::U16)),
    (DType::I16, "<i2", Some(Dtype::I16)),
    (DType::F16, "<f2", Some(Dtype::F16)),
    (DType::BF16, "<V2", Some(Dtype::BF16)),
    (DType::U32, "<u4", Some(Dtype::U32)),
    (DType::I32, "<i4", Some(Dtype::I32)),
    (DType::F32, "<f4", Some(Dtype::F32)),
    (DType::U64, "<u8", Some(Dtype::U64)),
    (DType::I64, "<i8", Some(Dtype::I64)),
    (DType::F64, "<f8", Some(Dtype::F64)),
    (DType::C64, "<c8", Some(Dtype::C64)),
    (DType::C128, "<c16", None),
];

fn row(dtype: DType) -> Option<&'static Row> {
    NAMES.iter().find(|row| row.0 == dtype)
}

/// What `.npy` calls elements of a type (`descr`), little-endian: `<f4`. bf16, which NumPy does not know, is
/// raw bytes there: `<V2`. `None` for a type that the format does not have.
pub fn npy_name(dtype: DType) -> Option<&'static str> {
    Some(row(dtype)?.1)
}

/// What `.safetensors` calls elements of a type; `None` for a type that the format does not have.
pub fn safetensors_name(dtype: DType) -> Option<Dtype> {
    row(dtype)?.2
}

/// The type that `.npy` calls so, but for the byte order: `f4`. Raw bytes are of no type.
pub(crate) fn of_npy(name: &str) -> Option<DType> {
    let is_so = |row: &&Row| !name.starts_with('V') && row.1[1..] == *name;
    Some(NAMES.iter().find(is_so)?.0)
}

/// The types of `.safetensors` that can be gathered, by name.
pub(crate) fn of_safetensors() -> impl Iterator<Item = (String, DType)> {
    NAMES
        .iter()
        .filter_map(|&(dtype, _, name)| Some((name?.to_string(), dtype)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_row() {
        assert_eq!(NAMES.map(|row| row.0), DType::ALL);
    }
}

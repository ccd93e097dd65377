//! Files made by hand, as the formats say.

/// A `.npy` file of version 1.0, as NumPy pads it.
pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_dict(
        &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"),
        data,
    )
}

/// A `.npy` file in Fortran's order.
pub(crate) fn npy_fortran(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_dict(
        &format!("{{'descr': '{descr}', 'fortran_order': True, 'shape': {shape}, }}"),
        data,
    )
}

/// A `.npy` file with this dict.
pub(crate) fn npy_dict(dict: &str, data: &[u8]) -> Vec<u8> {
    let padded = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let length = u16::try_from(padded).unwrap();
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(length.to_le_bytes());
    file.extend(format!("{dict:<width$}\n", width = padded - 1).bytes());
    file.extend(data);
    file
}

/// A `.safetensors` file: this header, these bytes.
pub(crate) fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.extend(data);
    file
}

/// A `.safetensors` file with one tensor called `t`.
pub(crate) fn one_tensor(dtype: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let end = data.len();
    let header =
        format!(r#"{{"t":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{end}]}}}}"#);
    safetensors(&header, data)
}

/// A `.gguf` file with one tensor, of the type with this number.
pub(crate) fn gguf(name: &str, shape: &[usize], kind: u32, data: &[u8]) -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    // One tensor, no metadata.
    file.extend([1u64, 0, name.len() as u64].map(u64::to_le_bytes).concat());
    file.extend(name.bytes());
    file.extend((shape.len() as u32).to_le_bytes());
    shape
        .iter()
        .rev()
        .for_each(|&dim| file.extend((dim as u64).to_le_bytes()));
    file.extend(kind.to_le_bytes());
    file.extend(0u64.to_le_bytes());
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend(data);
    file
}

pub(crate) fn i32s(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub(crate) fn i64s(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub(crate) fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

//! Every element type, in every format that has it, with bits that arithmetic would not keep.

use crate::kit::{Dir, hex, i32s, npy, one_tensor, split_npy, split_safetensors};

/// An element type: its names, and three elements as they lie in a file.
pub(crate) struct Elements {
    pub(crate) name: &'static str,
    pub(crate) npy: &'static str,
    pub(crate) safetensors: Option<&'static str>,
    pub(crate) three: [&'static str; 3],
}

const fn of(
    name: &'static str,
    npy: &'static str,
    safetensors: &'static str,
    three: [&'static str; 3],
) -> Elements {
    Elements {
        name,
        npy,
        safetensors: Some(safetensors),
        three,
    }
}

pub(crate) const ALL: [Elements; 15] = [
    of("bool", "|b1", "BOOL", ["01", "00", "01"]),
    of("u8", "|u1", "U8", ["ff", "07", "80"]),
    of("i8", "|i1", "I8", ["ff", "07", "80"]),
    of("u16", "<u2", "U16", ["ffff", "0102", "0080"]),
    of("i16", "<i2", "I16", ["ffff", "0102", "0080"]),
    // A NaN with a payload, a negative zero, the least subnormal.
    of("f16", "<f2", "F16", ["017d", "0080", "0100"]),
    of("bf16", "<V2", "BF16", ["817f", "0080", "0100"]),
    of("u32", "<u4", "U32", ["ffffffff", "01020304", "00000080"]),
    of("i32", "<i4", "I32", ["ffffffff", "01020304", "00000080"]),
    of("f32", "<f4", "F32", ["0100a07f", "00000080", "01000000"]),
    of(
        "u64",
        "<u8",
        "U64",
        ["ffffffffffffffff", "0102030405060708", "0000000000000080"],
    ),
    of(
        "i64",
        "<i8",
        "I64",
        ["ffffffffffffffff", "0102030405060708", "0000000000000080"],
    ),
    of(
        "f64",
        "<f8",
        "F64",
        ["010000000000f47f", "0000000000000080", "0100000000000000"],
    ),
    of(
        "c64",
        "<c8",
        "C64",
        ["0100a07f00000080", "0000803f000080bf", "0100000000000000"],
    ),
    Elements {
        name: "c128",
        npy: "<c16",
        safetensors: None,
        three: [
            "010000000000f47f0000000000000080",
            "000000000000f03f000000000000f0bf",
            "01000000000000000000000000000000",
        ],
    },
];

impl Elements {
    /// The three elements.
    pub(crate) fn data(&self) -> Vec<u8> {
        hex(&self.three.concat())
    }

    /// The third, the first, and zero bits: what the indices 2, 0 and 5 give.
    pub(crate) fn gathered(&self) -> Vec<u8> {
        let [first, _, third] = self.three;
        hex(&[third, first, &"0".repeat(first.len())].concat())
    }

    /// What a `.npy` file of raw bytes needs to be told.
    pub(crate) fn declared(&self) -> String {
        match self.npy.contains('V') {
            true => format!("--dtype {}", self.name),
            false => String::new(),
        }
    }
}

#[test]
fn npy_to_npy_keeps_type_and_bits() {
    let dir = Dir::new();
    dir.put("i.npy", &npy("<i4", "(3,)", &i32s(&[2, 0, 5])));
    for elements in &ALL {
        dir.put("p.npy", &npy(elements.npy, "(3,)", &elements.data()));
        for backend in ["cpu", "reference"] {
            let declared = elements.declared();
            dir.ok(&format!(
                "gather --params p.npy --indices i.npy --out o.npy --backend {backend} {declared}"
            ));
            let (dict, data) = split_npy(&dir.get("o.npy"));
            let name = elements.name;
            assert_eq!(data, elements.gathered(), "{name} on {backend}");
            let descr = elements.npy;
            let expected =
                format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3,), }}");
            assert_eq!(dict, expected, "{name}");
        }
    }
}

#[test]
fn safetensors_to_safetensors_keeps_type_and_bits() {
    let dir = Dir::new();
    dir.put("i.npy", &npy("<i4", "(3,)", &i32s(&[2, 0, 5])));
    for elements in &ALL {
        let Some(dtype) = elements.safetensors else {
            continue;
        };
        dir.put("p.safetensors", &one_tensor(dtype, "[3]", &elements.data()));
        dir.ok("gather --params p.safetensors:t --indices i.npy --out o.safetensors --backend cpu");
        let (header, data) = split_safetensors(&dir.get("o.safetensors"));
        assert_eq!(data, elements.gathered(), "{dtype}");
        let end = data.len();
        let expected =
            format!(r#"{{"output":{{"dtype":"{dtype}","shape":[3],"data_offsets":[0,{end}]}}}}"#);
        assert_eq!(header, expected);
    }
}

#[test]
fn raw_bytes_are_what_they_are_declared_to_be() {
    let dir = Dir::new();
    dir.put("i.npy", &npy("<i4", "(3,)", &i32s(&[2, 0, 5])));
    for elements in &ALL {
        let width = elements.three[0].len() / 2;
        for raw in [format!("|V{width}"), format!("<V{width}")] {
            dir.put("p.npy", &npy(&raw, "(3,)", &elements.data()));
            let name = elements.name;
            dir.ok(&format!(
                "gather --params p.npy --indices i.npy --out o.npy --backend cpu --dtype {name}"
            ));
            let (dict, data) = split_npy(&dir.get("o.npy"));
            assert_eq!(data, elements.gathered(), "{name}");
            assert!(dict.contains(elements.npy), "{name}: {dict}");
        }
    }
}

#[test]
fn bf16_goes_from_safetensors_through_npy_and_back() {
    let dir = Dir::new();
    dir.put("i.npy", &npy("<i4", "(3,)", &i32s(&[2, 1, 0])))
        .put(
            "p.safetensors",
            &one_tensor("BF16", "[3]", &hex("803f 0040 4040")),
        );
    dir.ok("gather --params p.safetensors:t --indices i.npy --out o.npy --backend cpu");
    assert_eq!(split_npy(&dir.get("o.npy")).1, hex("4040 0040 803f"));
    dir.ok("gather --params o.npy --dtype bf16 --indices i.npy --out o.safetensors --backend cpu");
    let (header, data) = split_safetensors(&dir.get("o.safetensors"));
    assert_eq!(data, hex("803f 0040 4040"));
    assert!(header.contains("\"BF16\""), "{header}");
}

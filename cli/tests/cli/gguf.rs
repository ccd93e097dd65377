//! Tensors of GGUF files. The files of llama.cpp's own writer are in `fixtures/`.

use crate::kit::{Dir, f32s, hex, i32s, npy, split_npy};

const SMALL: &[u8] = include_bytes!("../fixtures/small.gguf");

#[test]
fn plain_tensors_of_the_writer_of_gguf() {
    let dir = Dir::new();
    dir.put("m.gguf", SMALL)
        .put("i.npy", &npy("<i4", "(1,)", &i32s(&[1])));
    for backend in ["cpu", "reference"] {
        let said = dir.ok(&format!(
            "gather --params m.gguf:words.weight --indices m.gguf:ids --out o.npy --rules onnx \
             --backend {backend}"
        ));
        assert!(
            said.starts_with("gather: params [2, 3] f32, indices [4] i64 -> output [4, 3]"),
            "{said}"
        );
        let (dict, data) = split_npy(&dir.get("o.npy"));
        assert_eq!(
            dict,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }"
        );
        let (first, second) = (f32s(&[1.5, -2.0, 0.25]), f32s(&[0.0, -0.0, 7.0]));
        assert_eq!(data, [&*second, &*first, &*second, &*second].concat());
        // bf16 0 to 63, as raw bytes.
        dir.ok(&format!(
            "gather --params m.gguf:blocks.BF16 --indices i.npy --out o.npy --backend {backend}"
        ));
        let (dict, data) = split_npy(&dir.get("o.npy"));
        assert!(dict.contains("'<V2'") && dict.contains("(1, 64)"), "{dict}");
        assert_eq!(data[..8], hex("0000 803f 0040 4040"));
    }
}

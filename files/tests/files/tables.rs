//! Tables of every format, listed and gathered from.

use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{DType, Executor, IndexType, Op, Rules, Tensor};
use wgpu_gather_files::{FileFormat, Source, Stored, StoredTensor, TensorFile};

use crate::make::*;
use crate::{DEFLATED, Dir, GGUF, STORED};

/// The rows of `params` that `ids` select.
fn rows(params: &StoredTensor, ids: &StoredTensor) -> Vec<u8> {
    let params = params.params().unwrap();
    let ids = ids.indices().unwrap();
    let op = Op::gather(0);
    let shape = op.output_shape(params.layout().shape(), ids.layout().shape(), &Rules::ONNX);
    let elements: usize = shape.unwrap().iter().product();
    let mut output = vec![0; elements * params.element_bytes()];
    Executor::Cpu
        .gather(op, &Rules::ONNX, &params, &ids)
        .into(&mut output)
        .wait()
        .unwrap();
    output
}

#[test]
fn rows_of_every_format() {
    let dir = Dir::new();
    let table = f32s(&[1., 2., 3., 4., 5., 6.]);
    let columns = f32s(&[1., 4., 2., 5., 3., 6.]);
    let ids = dir.tensor("ids.npy", "", &npy("<i8", "(2,)", &i64s(&[1, -2])));
    let ids = ids.unwrap();
    let expected = f32s(&[4., 5., 6., 1., 2., 3.]);
    for (name, tensor, file) in [
        ("c.npy", "", npy("<f4", "(2, 3)", &table)),
        ("f.npy", "", npy_fortran("<f4", "(2, 3)", &columns)),
        ("s.safetensors", "t", one_tensor("F32", "[2,3]", &table)),
        ("g.gguf", "t", gguf("t", &[2, 3], 0, &table)),
    ] {
        let params = dir.tensor(name, tensor, &file).unwrap();
        assert_eq!(params.dtype(), Some(DType::F32), "{name}");
        assert_eq!((params.name(), params.shape()), (tensor, &[2, 3][..]));
        assert_eq!(rows(&params, &ids), expected, "{name}");
        // Mapped, where the file has the elements as they are.
        assert_eq!(params.mapped_bytes(), 24, "{name}");
        params.expect_scattered();
        params.release_pages();
        assert_eq!(rows(&params, &ids), expected, "{name}");
    }
    for (name, archive) in [("s.npz", STORED), ("d.npz", DEFLATED)] {
        let file = dir.open(name, archive).unwrap();
        let (table, ids) = (file.tensor("table").unwrap(), file.tensor("ids").unwrap());
        let turned = file.tensor("turned").unwrap();
        assert_eq!(table.mapped_bytes(), 0);
        assert_eq!(rows(&table, &ids), rows(&turned, &ids), "{name}");
    }
}

#[test]
fn tensors_are_views_of_the_map_and_outlive_the_file() {
    let dir = Dir::new();
    let header = r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}}"#;
    let file = dir.open("m.safetensors", &safetensors(header, &[1, 2, 3, 4, 5]));
    let file = file.unwrap();
    let (a, b) = (file.tensor("a").unwrap(), file.tensor("b").unwrap());
    drop(file);
    assert_eq!(a.bytes().as_ptr_range().end, b.bytes().as_ptr());
    assert_eq!(a.params().unwrap().bytes().as_ptr(), a.bytes().as_ptr());
    assert_eq!(
        (a.bytes(), b.clone().bytes()),
        (&[1, 2][..], &[3, 4, 5][..])
    );
}

/// Name, type, stored form and shape of each tensor.
fn listed(file: &TensorFile) -> Vec<String> {
    let tensors = file.tensors().unwrap();
    let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name()).collect();
    assert_eq!(names, file.names());
    let line = |tensor: &wgpu_gather_files::TensorInfo| {
        let stored = tensor.stored().map_or("-".to_owned(), |s| s.to_string());
        let (name, type_name) = (tensor.name(), tensor.type_name());
        format!("{name} {type_name} {stored} {:?}", tensor.shape())
    };
    tensors.iter().map(line).collect()
}

#[test]
fn every_tensor_is_listed_whether_it_can_be_gathered_or_not() {
    let dir = Dir::new();
    let file = dir.open("m.gguf", GGUF).unwrap();
    assert_eq!(file.format(), FileFormat::Gguf);
    let expected = [
        "words.weight F32 f32 [2, 3]",
        "ids I64 i64 [4]",
        "blocks.Q8_0 Q8_0 Q8_0 [2, 64]",
        "blocks.BF16 BF16 bf16 [2, 64]",
    ];
    assert_eq!(listed(&file), expected);
    for (name, file, expected) in [
        (
            "q.gguf",
            gguf("t", &[2, 256], 16, &[0; 132]),
            "t IQ2_XXS - [2, 256]",
        ),
        ("u.gguf", gguf("t", &[7], 99, &[]), "t 99 - [7]"),
        (
            "s.safetensors",
            one_tensor("F8_E4M3", "[2]", &[0; 2]),
            "t F8_E4M3 - [2]",
        ),
        ("t.npy", npy("<U5", "(3,)", &[0; 60]), " <U5 - [3]"),
        ("e.npy", npy(">f4", "(1,)", &[0; 4]), " >f4 - [1]"),
        ("r.npy", npy("|V2", "(2, 1)", &[0; 4]), " |V2 V2 [2, 1]"),
        (
            "d.npy",
            npy_dict(
                "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                &[0; 4],
            ),
            " [('x', '<f4')] - [1]",
        ),
        // More elements than there can be, of a type that is not read.
        (
            "h.npy",
            npy("<U5", "(4611686018427387904, 8)", &[]),
            " <U5 - [4611686018427387904, 8]",
        ),
    ] {
        let file = dir.open(name, &file).unwrap();
        assert_eq!(listed(&file), [expected], "{name}");
    }
    let mut archive = listed(&dir.open("a.npz", DEFLATED).unwrap());
    archive.sort();
    let expected = [
        "ids <i8 i64 [3]",
        "table <f4 f32 [2, 3]",
        "turned <f4 f32 [2, 3]",
    ];
    assert_eq!(archive, expected);
}

#[test]
fn a_file_of_any_name_is_read_as_told() {
    let dir = Dir::new();
    let path = dir.put("blob", &gguf("t", &[2], 24, &[7, 9]));
    let file = TensorFile::open_as(&path, FileFormat::Gguf).unwrap();
    assert_eq!(
        (file.path(), file.tensor("t").unwrap().bytes()),
        (&*path, &[7, 9][..])
    );
    let refused = TensorFile::open_as(&path, FileFormat::Npy).unwrap_err();
    assert!(refused.to_string().contains("not a .npy file"), "{refused}");
}

#[test]
fn every_integer_type_indexes() {
    let dir = Dir::new();
    for (descr, data, index_type, wide) in [
        ("|i1", vec![1, 0xff], IndexType::I32, i32s(&[1, -1])),
        ("|u1", vec![1, 0xff], IndexType::I32, i32s(&[1, 255])),
        (
            "<i2",
            vec![1, 0, 0xff, 0xff],
            IndexType::I32,
            i32s(&[1, -1]),
        ),
        (
            "<u2",
            vec![1, 0, 0xff, 0xff],
            IndexType::I32,
            i32s(&[1, 65535]),
        ),
        ("<i4", i32s(&[1, -1]), IndexType::I32, i32s(&[1, -1])),
        ("<u4", i32s(&[1, -1]), IndexType::U32, i32s(&[1, -1])),
        ("<i8", i64s(&[1, -1]), IndexType::I64, i64s(&[1, -1])),
        ("<u8", i64s(&[1, -1]), IndexType::U64, i64s(&[1, -1])),
    ] {
        let ids = dir.tensor("i.npy", "", &npy(descr, "(2,)", &data)).unwrap();
        let indices = ids.indices().unwrap();
        assert_eq!(indices.bytes(), wide, "{descr}");
        // Both have 32 bits.
        let got = indices.index_type();
        assert_eq!(got.bytes(), index_type.bytes(), "{descr}");
        if data.len() == wide.len() {
            assert_eq!(got, index_type, "{descr}");
            assert_eq!(indices.bytes().as_ptr(), ids.bytes().as_ptr(), "{descr}");
        }
    }
}

/// All elements of a table, decoded.
fn decoded(table: &QuantizedTable<'_>) -> Vec<f32> {
    let mut decoded = vec![0.0; table.elements()];
    table.decode(0, &mut decoded).unwrap();
    decoded
}

#[test]
fn blocks_and_halves_are_quantized_tables() {
    let dir = Dir::new();
    // A scale of 0.5, then the codes.
    let block: Vec<u8> = [&[0x00, 0x38][..], &[6; 32]].concat();
    let blocks = dir.tensor("q.gguf", "t", &gguf("t", &[1, 32], 8, &block));
    let blocks = blocks.unwrap();
    assert_eq!(blocks.stored(), Stored::Blocks(BlockFormat::Q8_0));
    assert_eq!(decoded(&blocks.quantized_table().unwrap()), [3.0; 32]);
    // 1 and -2.
    for (dtype, bytes) in [
        ("F16", [0x00, 0x3c, 0x00, 0xc0]),
        ("BF16", [0x80, 0x3f, 0x00, 0xc0]),
    ] {
        let halves = dir.tensor("h.safetensors", "t", &one_tensor(dtype, "[2]", &bytes));
        let table = halves.unwrap();
        assert_eq!(
            decoded(&table.quantized_table().unwrap()),
            [1.0, -2.0],
            "{dtype}"
        );
    }
    // NumPy has no name for bf16.
    let raw = dir.tensor("r.npy", "", &npy("<V2", "(2,)", &[0x80, 0x3f, 0x00, 0xc0]));
    let raw = raw.unwrap();
    assert_eq!(raw.params().unwrap().element_bytes(), 2);
    let table = raw.quantized_as(BlockFormat::BF16).unwrap();
    assert_eq!(decoded(&table), [1.0, -2.0]);
}

/// The rows of a table in a file, as a user of the library gathers them.
#[test]
fn typed_rows_of_a_quantized_table() {
    let dir = Dir::new();
    let blocks = [
        [&[0x00, 0x38][..], &[2; 32]].concat(),
        [&[0x00, 0x38][..], &[4; 32]].concat(),
    ];
    let words = dir.tensor("q.gguf", "t", &gguf("t", &[2, 32], 8, &blocks.concat()));
    let words = words.unwrap();
    let ids = Tensor::new(&[1], vec![1i32]).unwrap();
    let table = words.quantized_table().unwrap();
    let rows = Executor::Cpu
        .gather(Op::gather(0), &Rules::ONNX, &table.to::<f32>(), &ids)
        .wait()
        .unwrap();
    assert_eq!(rows.data(), [2.0; 32]);
}

#[test]
fn sources_name_a_file_and_a_tensor() {
    for (text, path, name) in [
        ("t.npy", "t.npy", ""),
        ("a.npz:x", "a.npz", "x"),
        ("a.npz", "a.npz", ""),
        ("m.safetensors:a:b", "m.safetensors", "a:b"),
        ("m.gguf:x.npy", "m.gguf", "x.npy"),
    ] {
        let source = Source::parse(text).unwrap();
        assert_eq!(
            (source.path().to_str().unwrap(), source.name()),
            (path, name)
        );
    }
    let dir = Dir::new();
    let path = dir.put("m.gguf", &gguf("t", &[2], 24, &[7, 9]));
    let source = Source::parse(&format!("{}:t", path.display())).unwrap();
    assert_eq!(source.read().unwrap().bytes(), [7, 9]);
}

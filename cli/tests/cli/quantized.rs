//! Quantized tables through the command: recorded answers, and what the options say.

use gather_conformance::{
    Data, QuantizedCase, QuantizedExpected, Scales, Values, read_quantized_cases,
};
use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{DType, Negative, Op, OutOfBounds, Rules};

use crate::gpu::{adapters, on};
use crate::kit::{Dir, f32s, gguf, hex, i32s, npy, split_npy};

/// The recorded cases of a suite.
fn suite(name: &str) -> Vec<QuantizedCase> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/conformance/quantized"
    );
    let text = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    read_quantized_cases(&text).unwrap()
}

fn tuple(shape: &[usize]) -> String {
    let dims: Vec<String> = shape.iter().map(|dim| format!("{dim},")).collect();
    format!("({})", dims.concat())
}

fn descr(dtype: DType) -> &'static str {
    match dtype {
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::F32 => "<f4",
        DType::F16 => "<f2",
        DType::BF16 => "<V2",
        other => panic!("{other}"),
    }
}

fn indices(data: &Data) -> Vec<u8> {
    let Values::Bytes(dtype, bytes) = &data.values else {
        panic!("indices of strings");
    };
    npy(descr(*dtype), &tuple(&data.shape), bytes)
}

/// The operator, its attributes and the rules, as words of the command.
fn words(op: Op, rules: &Rules) -> String {
    let mut words = op.kind().name().replace('_', "-");
    if let Some(axis) = op.axis() {
        words += &format!(" --axis {axis}");
    }
    if let Some(batch_dims) = op.batch_dims() {
        words += &format!(" --batch-dims {batch_dims}");
    }
    let negative = match rules.negative {
        Negative::OutOfBounds => "out-of-bounds",
        _ => "from-end",
    };
    let out_of_bounds = match &rules.out_of_bounds {
        OutOfBounds::Fill(fill) => {
            let digits = fill.bytes().iter().rev().map(|b| format!("{b:02x}"));
            format!("fill=0x{}", digits.collect::<String>())
        }
        other => other.name().to_owned(),
    };
    format!("{words} --negative {negative} --out-of-bounds {out_of_bounds}")
}

/// Runs `line` with what the case says besides params, and compares the answer.
fn check(dir: &Dir, case: &QuantizedCase, line: &str) {
    dir.put("i.npy", &indices(&case.indices));
    let line = format!(
        "{} {line} --indices i.npy --out o.npy --to {} --backend cpu --quiet",
        words(case.op, &case.rules),
        case.output
    );
    let ran = dir.run(&line);
    let name = &case.name;
    match &case.expected {
        QuantizedExpected::Output { shape, bytes, .. } => {
            assert_eq!((ran.code, &*ran.stderr), (0, ""), "{name}: {line}");
            let (dict, data) = split_npy(&dir.get("o.npy"));
            assert!(data == *bytes, "{name}: {line}");
            let dims: Vec<String> = shape.iter().map(|dim| dim.to_string()).collect();
            let head = format!(
                "'{}', 'fortran_order': False, 'shape': ({})",
                descr(case.output),
                dims.join(", ") + if shape.len() == 1 { "," } else { "" }
            );
            assert!(dict.contains(&head), "{name}: {dict}\n{head}");
        }
        QuantizedExpected::Error(_) => {
            assert!(
                ran.code == 1 && ran.stderr.starts_with("error: "),
                "{name}: {ran:?}"
            );
        }
    }
}

/// The number of a type in a GGUF file.
fn number(format: BlockFormat) -> u32 {
    match format.name() {
        "F16" => 1,
        "Q4_0" => 2,
        "Q4_1" => 3,
        "Q5_0" => 6,
        "Q5_1" => 7,
        "Q8_0" => 8,
        "Q2_K" => 10,
        "Q3_K" => 11,
        "Q4_K" => 12,
        "Q5_K" => 13,
        "Q6_K" => 14,
        "IQ4_NL" => 20,
        "BF16" => 30,
        "MXFP4" => 39,
        other => panic!("{other}"),
    }
}

#[test]
fn recorded_answers_of_gguf() {
    let dir = Dir::new();
    let (mut run, mut formats) = (0, std::collections::BTreeSet::new());
    for case in suite("gguf_blocks").into_iter().step_by(4) {
        let format: BlockFormat = case.table.format.parse().unwrap();
        let file = gguf("t", &case.table.shape, number(format), &case.table.codes);
        dir.put("p.gguf", &file);
        check(&dir, &case, "--params p.gguf:t");
        formats.insert(format);
        run += 1;
    }
    assert_eq!((run, formats.len()), (266, BlockFormat::ALL.len()));
}

/// Zero points of `bits` each, as bytes whose rows begin a byte.
fn packed(zero_points: &[u8], row: usize, bits: u32) -> Vec<u8> {
    let per_byte = 8 / bits as usize;
    let byte = |codes: &[u8]| {
        let bits = codes
            .iter()
            .enumerate()
            .map(|(n, code)| code << (n as u32 * bits));
        bits.fold(0, |byte, code| byte | code)
    };
    let rows = zero_points.chunks(row);
    rows.flat_map(|row| row.chunks(per_byte).map(byte))
        .collect()
}

/// Writes the table as `.npy` files; the words that say how to read them.
fn put_blocks(dir: &Dir, shape: &[usize], codes: &[u8], scales: &Scales) -> String {
    let code = if scales.signed { "|i1" } else { "|u1" };
    let per_byte = 8 / scales.bits as usize;
    let axis = scales.axis.rem_euclid(shape.len() as isize) as usize;
    let mut blocks = shape.to_vec();
    blocks[axis] = blocks[axis].div_ceil(scales.block as usize);
    let bytes_of = |shape: &[usize]| {
        let mut shape = shape.to_vec();
        let last = shape.last_mut().unwrap();
        *last = last.div_ceil(per_byte);
        tuple(&shape)
    };
    let dtype = scales.dtype.unwrap();
    dir.put("p.npy", &npy(code, &bytes_of(shape), codes))
        .put("s.npy", &npy(descr(dtype), &tuple(&blocks), &scales.bytes));
    let mut words = format!(
        "--params p.npy --scales s.npy --bits {} --block-size {} --quantize-axis {}",
        scales.bits, scales.block, scales.axis
    );
    // The command has ONNX's default for u8: a zero point in the middle.
    let middle = 1 << (scales.bits - 1);
    let usual = if scales.signed { 0 } else { middle };
    let count = blocks.iter().product();
    let zero_points = scales.zero_points.clone();
    let zeros = || (scales.default_zero != usual).then(|| vec![scales.default_zero as u8; count]);
    if let Some(zero_points) = zero_points.or_else(zeros) {
        let bytes = packed(&zero_points, *blocks.last().unwrap(), scales.bits);
        dir.put("z.npy", &npy(code, &bytes_of(&blocks), &bytes));
        words += " --zero-points z.npy";
    }
    if dtype == DType::BF16 {
        words += " --dtype bf16";
    }
    words
}

#[test]
fn recorded_answers_of_onnx_runtime() {
    let dir = Dir::new();
    let cases = suite("ort_blocks").into_iter().chain(suite("numpy_blocks"));
    let (mut run, mut with_zeros) = (0, 0);
    for case in cases {
        let (shape, scales) = (&case.table.shape, case.table.scales.as_ref().unwrap());
        // Files have whole bytes in a row; tables that do not fit together are in `bad_calls.txt`.
        let whole = (shape.last().unwrap() * scales.bits as usize).is_multiple_of(8);
        let fits =
            !case.name.starts_with("ORT ") || !matches!(case.expected, QuantizedExpected::Error(_));
        if !whole || !fits {
            continue;
        }
        let words = put_blocks(&dir, shape, &case.table.codes, scales);
        check(&dir, &case, &words);
        run += 1;
        with_zeros += usize::from(words.contains("z.npy"));
    }
    println!("{run} cases, {with_zeros} with zero points");
    assert!(run > 700 && with_zeros > 300, "{run}, {with_zeros}");
}

#[test]
fn the_type_of_the_output_is_that_of_the_scales_or_f32_unless_it_is_said() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("|u1", "(2, 1)", &[0x9f, 0x08]))
        .put("s.npy", &npy("<f2", "(2, 1)", &hex("003c 0040")))
        .put("i.npy", &npy("<i4", "(2,)", &i32s(&[1, 0])))
        .put(
            "q.gguf",
            &gguf("t", &[1, 32], 8, &[&hex("003c")[..], &[7; 32]].concat()),
        )
        .put("h.npy", &npy("<f2", "(2, 1)", &hex("003e 00bc")));
    let onnx = "gather --params p.npy --scales s.npy --bits 4 --block-size 16 --indices i.npy \
                --out o.npy --backend cpu";
    let said = dir.ok(onnx);
    assert!(
        said.starts_with(
            "gather: params [2, 2] u4 in blocks of 16 along axis -1, scales f16, indices [2] i32 -> \
             output [2, 2] f16, 8 bytes, cpu"
        ),
        "{said}"
    );
    // (8 - 8) * 2, (0 - 8) * 2; (15 - 8) * 1, (9 - 8) * 1
    assert_eq!(split_npy(&dir.get("o.npy")).1, hex("0000 00cc 0047 003c"));
    dir.ok(&format!("{onnx} --to f32"));
    assert_eq!(split_npy(&dir.get("o.npy")).1, f32s(&[0., -16., 7., 1.]));
    let json = dir.ok(
        "gather --params q.gguf:t --indices i.npy --out o.npy --backend cpu --json --rules onnx-cuda",
    );
    assert!(
        json.contains("\"format\": \"Q8_0\"") && json.contains("\"dtype\": \"f32\""),
        "{json}"
    );
    let expected = [f32s(&[0.; 32]), f32s(&[7.; 32])].concat();
    assert_eq!(split_npy(&dir.get("o.npy")).1, expected);
    // Halves of any file are decoded, too.
    dir.ok("gather --params h.npy --indices i.npy --out o.npy --backend cpu --to f32");
    assert_eq!(split_npy(&dir.get("o.npy")).1, f32s(&[-1., 1.5]));
    dir.ok("gather --params h.npy --indices i.npy --out o.safetensors --backend cpu --to bf16");
    let file = dir.get("o.safetensors");
    assert_eq!(file[file.len() - 4..], hex("80bf c03f"));
}

#[test]
fn every_executor_gives_the_same_bytes() {
    let dir = Dir::new();
    let blocks: Vec<u8> = (0..40)
        .flat_map(|n: u8| [&[n, 0x2c][..], &[n; 32]].concat())
        .collect();
    dir.put("q.gguf", &gguf("t", &[20, 64], 8, &blocks))
        .put("i.npy", &npy("<i4", "(2, 2)", &i32s(&[19, 0, 20, -1])));
    let line = "gather --params q.gguf:t --indices i.npy --out o.npy --rules onnx-cuda --to f16";
    let [reference, cpu] = ["reference", "cpu"].map(|backend| {
        dir.ok(&format!("{line} --backend {backend}"));
        dir.get("o.npy")
    });
    assert_eq!(cpu, reference);
    for (adapter, label) in adapters(&dir) {
        // The tensors whole in its memory, streamed through it, and too little for anything.
        for bound in ["", " --max-gpu-memory 70KiB", " --max-gpu-memory 1KiB"] {
            let ran = on(&dir, &adapter, &format!("{line}{bound}"));
            assert!(ran.stdout.contains(&label), "{}", ran.stdout);
            assert_eq!(dir.get("o.npy"), reference, "{adapter}{bound}");
        }
    }
}

/// More rows than the bound on memory has room for at once.
#[test]
fn a_bound_on_memory_changes_no_byte() {
    let dir = Dir::new();
    let blocks: Vec<u8> = (0..4000)
        .flat_map(|n: u32| [&[n as u8, 0x2c][..], &[(n >> 4) as u8; 32]].concat())
        .collect();
    let ids: Vec<i32> = (0..3000).map(|n| n * 7 % 2001).collect();
    dir.put("q.gguf", &gguf("t", &[2000, 64], 8, &blocks))
        .put("i.npy", &npy("<i4", "(3000,)", &i32s(&ids)));
    let line = "gather --params q.gguf:t --indices i.npy --out o.npy --quiet";
    dir.ok(&format!("{line} --backend reference"));
    let reference = dir.get("o.npy");
    for (adapter, _) in adapters(&dir) {
        on(&dir, &adapter, &format!("{line} --max-gpu-memory 128KiB"));
        assert_eq!(dir.get("o.npy"), reference, "{adapter}");
    }
}

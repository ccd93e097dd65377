//! What files may look like.

use crate::kit::{
    Dir, f32s, hex, i32s, i64s, npy, npy_dict, npy_fortran, one_tensor, safetensors, split_npy,
};

const STORED: &[u8] = include_bytes!("../fixtures/stored.npz");
const DEFLATED: &[u8] = include_bytes!("../fixtures/deflated.npz");

#[test]
fn npz_stored_and_deflated() {
    let dir = Dir::new();
    dir.put("stored.npz", STORED).put("deflated.npz", DEFLATED);
    for archive in ["stored.npz", "deflated.npz"] {
        for table in ["table", "turned"] {
            for backend in ["cpu", "reference"] {
                dir.ok(&format!(
                    "gather --params {archive}:{table} --indices {archive}:ids --out o.npy \
                     --backend {backend}"
                ));
                let (dict, data) = split_npy(&dir.get("o.npy"));
                assert_eq!(
                    dict,
                    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }"
                );
                let (first, second) = ("0000c03f 000000c0 0000c07f", "00000000 00000080 01000000");
                assert_eq!(data, hex(&[second, first, second].concat()), "{table}");
            }
        }
    }
}

#[test]
fn fortran_order_is_read_as_it_lies() {
    let dir = Dir::new();
    // [[1, 2, 3], [4, 5, 6]], column by column; indices [[1, 0], [0, 1]] likewise.
    dir.put(
        "p.npy",
        &npy_fortran("<f4", "(2, 3)", &f32s(&[1., 4., 2., 5., 3., 6.])),
    )
    .put("i.npy", &npy_fortran("<i8", "(2, 2)", &i64s(&[1, 0, 0, 1])))
    .put(
        "narrow.npy",
        &npy_fortran("|u1", "(3, 2)", &[0, 1, 1, 2, 0, 1]),
    );
    for backend in ["cpu", "reference"] {
        let with = format!("--params p.npy --out o.npy --backend {backend}");
        dir.ok(&format!("gather --indices i.npy {with}"));
        let (dict, data) = split_npy(&dir.get("o.npy"));
        assert_eq!(
            dict,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 3), }"
        );
        let rows = [4., 5., 6., 1., 2., 3., 1., 2., 3., 4., 5., 6.];
        assert_eq!(data, f32s(&rows), "{backend}");
        // Pairs (0, 2), (1, 0), (1, 1).
        dir.ok(&format!("gather-nd --indices narrow.npy {with}"));
        assert_eq!(split_npy(&dir.get("o.npy")).1, f32s(&[3., 4., 5.]));
    }
}

#[test]
fn fortran_order_of_three_dims() {
    let dir = Dir::new();
    // params[a, b, c] = 100 a + 10 b + c for the shape (2, 3, 2); a counts fastest.
    let column_major: Vec<i32> = (0..12)
        .map(|n| 100 * (n % 2) + 10 * (n / 2 % 3) + n / 6)
        .collect();
    dir.put(
        "p.npy",
        &npy_fortran("<i4", "(2, 3, 2)", &i32s(&column_major)),
    )
    .put("i.npy", &npy("<i4", "(2,)", &i32s(&[2, 0])));
    dir.ok("gather --axis 1 --params p.npy --indices i.npy --out o.npy --backend cpu");
    let expected = [20, 21, 0, 1, 120, 121, 100, 101];
    assert_eq!(split_npy(&dir.get("o.npy")).1, i32s(&expected));
}

#[test]
fn safetensors_with_several_tensors_and_metadata() {
    let dir = Dir::new();
    let header = r#"{"__metadata__":{"format":"pt"},"ids":{"dtype":"I64","shape":[2],"data_offsets":[6,22]},"a.weight":{"dtype":"U8","shape":[3,2],"data_offsets":[0,6]}}   "#;
    let data = [vec![10, 11, 20, 21, 30, 31], i64s(&[2, 0])].concat();
    dir.put("m.safetensors", &safetensors(header, &data));
    dir.ok(
        "gather --params m.safetensors:a.weight --indices m.safetensors:ids --out o.npy \
         --backend cpu",
    );
    assert_eq!(split_npy(&dir.get("o.npy")).1, [30, 31, 10, 11]);
}

#[test]
fn a_name_may_hold_a_colon() {
    let dir = Dir::new();
    let header = r#"{"a:b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    dir.put("m.safetensors", &safetensors(header, &[7, 9]))
        .put("i.npy", &npy("<i4", "()", &i32s(&[1])));
    dir.ok("gather --params m.safetensors:a:b --indices i.npy --out o.npy --backend cpu");
    let (dict, data) = split_npy(&dir.get("o.npy"));
    assert_eq!(
        dict,
        "{'descr': '|u1', 'fortran_order': False, 'shape': (), }"
    );
    assert_eq!(data, [9]);
}

/// `.npy` has no name for bf16: what the command writes comes back as raw bytes.
#[test]
fn raw_updates_and_weights_have_the_type_of_params() {
    let dir = Dir::new();
    // 1, 2, 4 and -1.
    let values = hex("803f 0040 8040 80bf");
    dir.put("p.safetensors", &one_tensor("BF16", "[4]", &values))
        .put("rows.safetensors", &one_tensor("BF16", "[2,2]", &values))
        .put("wide.npy", &npy("<V4", "(2,)", &[0; 8]))
        .put("last.npy", &npy("|u1", "(2,)", &[2, 3]))
        .put("first.npy", &npy("|u1", "(2,)", &[0, 1]))
        .put("all.npy", &npy("|u1", "(4,)", &[0, 1, 2, 3]))
        .put("f.npy", &npy("<i4", "(1,)", &i32s(&[0])));
    for (ids, out) in [
        ("last.npy", "u.npy"),
        ("last.npy", "u.safetensors"),
        ("all.npy", "p.npy"),
    ] {
        let line = format!("--params p.safetensors:t --indices {ids} --out {out}");
        dir.ok(&format!("gather {line} --backend cpu"));
    }
    assert!(split_npy(&dir.get("u.npy")).0.contains("V2"));
    let scatter = "scatter --reduce add --indices first.npy --out o.npy --backend cpu";
    for files in [
        "--params p.safetensors:t --updates u.npy",
        "--params p.npy --dtype bf16 --updates u.npy",
        "--params p.npy --dtype bf16 --updates u.safetensors:output",
    ] {
        dir.ok(&format!("{scatter} {files}"));
        let sums = split_npy(&dir.get("o.npy")).1;
        assert_eq!(sums, hex("a040 803f 8040 80bf"), "{files}");
    }
    let bag = "embedding-bag --params rows.safetensors:t --indices first.npy --offsets f.npy \
               --out o.npy --backend cpu --weights";
    // 4 [1, 2] - [4, -1].
    dir.ok(&format!("{bag} u.npy"));
    assert_eq!(split_npy(&dir.get("o.npy")).1, hex("0000 1041"));
    for (line, role) in [
        (format!("{bag} wide.npy"), "weights"),
        (
            format!("{scatter} --params p.safetensors:t --updates wide.npy"),
            "updates",
        ),
    ] {
        let ran = dir.run(&line);
        let expected = format!(
            "error: {role} wide.npy: raw elements of 4 bytes, but params has bf16, of 2; they must \
             be equal\n"
        );
        assert_eq!((ran.code, ran.stderr), (1, expected));
    }
}

#[test]
fn headers_of_every_version_and_key_order() {
    let dir = Dir::new();
    let dict = "{\"shape\": (2,), 'fortran_order': False, 'descr': '<i2'}";
    for version in [2u8, 3] {
        let mut file = b"\x93NUMPY".to_vec();
        file.extend([version, 0]);
        file.extend((dict.len() as u32).to_le_bytes());
        file.extend(dict.bytes());
        file.extend([5, 0, 6, 0]);
        dir.put("p.npy", &file)
            .put("i.npy", &npy("|i1", "(1,)", &[1]));
        dir.ok("gather --params p.npy --indices i.npy --out o.npy --backend cpu");
        assert_eq!(split_npy(&dir.get("o.npy")).1, [6, 0]);
    }
    dir.put("p.npy", &npy_dict(dict, &[5, 0, 6, 0]));
    dir.ok("gather --params p.npy --indices i.npy --out o.npy --backend cpu");
}

#[test]
fn what_follows_the_array_is_left_alone() {
    let dir = Dir::new();
    let twice = [npy("|u1", "(2,)", &[3, 4]), npy("|u1", "(1,)", &[5])].concat();
    dir.put("p.npy", &twice)
        .put("i.npy", &npy("|i1", "(1,)", &[1]));
    dir.ok("gather --params p.npy --indices i.npy --out o.npy --backend cpu");
    assert_eq!(split_npy(&dir.get("o.npy")).1, [4]);
}

#[test]
fn empty_tensors() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("<f4", "(0, 3)", &[]))
        .put("p.safetensors", &one_tensor("F32", "[0,3]", &[]))
        .put("i.npy", &npy("<i4", "(2, 0)", &[]))
        .put("bad.npy", &npy("<i4", "(2,)", &i32s(&[0, 1])));
    for params in ["p.npy", "p.safetensors:t"] {
        for out in ["o.npy", "o.safetensors"] {
            dir.ok(&format!(
                "gather --params {params} --indices i.npy --out {out} --backend cpu"
            ));
        }
    }
    assert_eq!(
        split_npy(&dir.get("o.npy")).0,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0, 3), }"
    );
    dir.ok("gather --params p.npy --indices bad.npy --out o.npy --backend cpu");
    assert_eq!(split_npy(&dir.get("o.npy")).1, [0; 24]);
}

#[test]
fn an_existing_output_is_replaced() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("|u1", "(2,)", &[3, 4]))
        .put("i.npy", &npy("|i1", "(1,)", &[1]))
        .put("o.npy", &[0; 5000]);
    dir.ok("gather --params p.npy --indices i.npy --out o.npy --backend cpu");
    assert_eq!(split_npy(&dir.get("o.npy")).1, [4]);
    let names: Vec<String> = dir.files().into_keys().collect();
    assert_eq!(names, ["i.npy", "o.npy", "p.npy"]);
}

#[cfg(unix)]
#[test]
fn outputs_are_as_readable_as_other_files() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    dir.put("p.npy", &npy("|u1", "(2,)", &[3, 4]))
        .put("i.npy", &npy("|i1", "(1,)", &[1]));
    let mode = |name: &str| {
        let file = std::fs::metadata(dir.path().join(name)).unwrap();
        file.permissions().mode() & 0o777
    };
    let run = || dir.ok("gather --params p.npy --indices i.npy --out o.npy --backend cpu");
    run();
    assert_eq!(mode("o.npy"), mode("p.npy"));
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(dir.path().join("o.npy"), private).unwrap();
    run();
    assert_eq!(mode("o.npy"), 0o600);
}

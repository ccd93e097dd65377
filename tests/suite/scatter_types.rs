//! Scatters whose tensors are of types that do not fit, on devices and on every executor.

use wgpu_gather::{
    DType, ElementType, Executor, IndexType, Indices, Layout, Op, Params, Reduce, Rules,
};

use crate::common::{engines, executors};

#[test]
fn types_that_do_not_fit_are_named() {
    let bytes = [0; 12];
    let of = |element: ElementType| {
        Params::new(
            &bytes[..3 * element.bytes()],
            element,
            Layout::contiguous(&[3]),
        )
        .unwrap()
    };
    let (halves, shorts) = (of(DType::F16.into()), of(DType::U16.into()));
    let (opaque, places) = (of(2.into()), of(DType::U32.into()));
    let numbers = of(DType::F32.into());
    let op = Op::gather_elements(0);
    let numbers_are = "elements of updates are 2 bytes, which is no type of numbers (allowed: ";
    let base_is = "elements of params are u16, expected f16";
    let bytes_are = "elements of params are 2 bytes, expected f16";
    for engine in engines() {
        let up = |params: &Params<'_>| engine.upload(params).wait().unwrap();
        let (places, numbers) = (up(&places), up(&numbers));
        for (base, updates, text) in [
            (&shorts, &halves, base_is),
            (&opaque, &halves, bytes_are),
            (&opaque, &opaque, numbers_are),
        ] {
            let (base, updates) = (up(base), up(updates));
            let scatter = |indices, reduce| {
                let rules = Rules::default();
                let made = engine.scatter(op, reduce, &rules, &base, indices, &updates);
                let mut same = base.clone();
                let into = engine.scatter_into(op, reduce, &rules, &mut same, indices, &updates);
                let error = made.unwrap_err();
                assert_eq!(into, Err(error.clone()));
                error.to_string()
            };
            for reduce in [Reduce::None, Reduce::Add] {
                let got = scatter(&places, reduce);
                assert!(
                    got.starts_with(&format!("scatter_elements: {text}")),
                    "{got}"
                );
            }
        }
        let (halves, opaque) = (up(&halves), up(&opaque));
        let rules = Rules::default();
        let made = engine.scatter(op, Reduce::Add, &rules, &halves, &numbers, &halves);
        let got = made.unwrap_err().to_string();
        let expected = "scatter_elements: elements of indices are f32, which is no type of indices";
        assert!(got.starts_with(expected), "{got}");
        let made = engine.gather_gradient(op, &rules, &[4], &places, &opaque);
        let got = made.unwrap_err().to_string();
        assert!(
            got.starts_with(&format!("scatter_elements: {numbers_are}")),
            "{got}"
        );
    }
    // As on the host, on every executor.
    let mut all = executors();
    all.push(Executor::Reference);
    let places = Indices::new(&bytes[..], IndexType::U32, Layout::contiguous(&[3])).unwrap();
    for executor in all {
        for (base, updates, text) in [
            (&shorts, &halves, base_is),
            (&opaque, &halves, bytes_are),
            (&opaque, &opaque, numbers_are),
        ] {
            let rules = Rules::default();
            let made = executor.scatter(op, Reduce::Add, &rules, base, &places, updates);
            let got = made.wait().unwrap_err().to_string();
            let expected = format!("scatter_elements: {text}");
            assert!(got.starts_with(&expected), "{}: {got}", executor.describe());
        }
    }
}

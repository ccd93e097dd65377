//! Device tensors whose element is known at run time: they gather as typed ones do, and a type or a
//! width that does not fit is refused.

use gather_conformance::{Call, Outcome, builtin, compare};
use wgpu_gather::gpu::{AnyDeviceTensor, DeviceTensor, Engine};
use wgpu_gather::{
    DType, ElementType, Error, IndexType, Layout, Op, OpKind, Params, Result, Role, Rules, Tensor,
};

use crate::common::{buffer_with, engines, report};

/// Uploads bytes, gathers into a new tensor or into the middle of another one, and downloads bytes.
fn run(engine: &Engine, call: &Call, into: bool) -> Result<Vec<u8>> {
    let width = call.element_bytes;
    let params = engine.upload(&call.params()?).wait()?;
    let (index_type, layout) = (call.index_type, call.indices_layout.clone());
    let indices = Params::new(&call.indices, index_type.dtype(), layout)?;
    let indices = engine.upload(&indices).wait()?;
    let output = match into {
        false => engine.gather(call.op, &call.rules, &params, &indices)?,
        true => {
            let shape = call.plan()?.output_shape().to_vec();
            let count: usize = shape.iter().product();
            let poison = vec![0xa5; (count + 9) * width];
            let all = Params::new(&poison, width, Layout::contiguous(&[count + 9]))?;
            let all = engine.upload(&all).wait()?;
            let mut output = all.slice(0, 5..5 + count)?.reshape(&shape)?;
            engine.gather_into(call.op, &call.rules, &params, &indices, &mut output)?;
            output
        }
    };
    report(engine, &output, &call.rules)?;
    let elements: usize = output.shape().iter().product();
    let mut bytes = vec![0; elements * width];
    engine.download_bytes(&output, &mut bytes).wait()?;
    Ok(bytes)
}

#[test]
fn they_gather_what_the_reference_does() {
    for engine in engines() {
        for call in builtin() {
            for into in [false, true] {
                let outcome = compare(&call, run(engine, &call, into));
                assert!(
                    !matches!(outcome, Outcome::Failed(_)),
                    "{outcome:?} {call:?}"
                );
            }
        }
    }
}

#[test]
fn a_typed_tensor_is_one_and_comes_back_if_it_is_as_wide() {
    for engine in engines() {
        let tensor = Tensor::new(&[2, 2], vec![1.5f32, -0.0, f32::NAN, 4.0]).unwrap();
        let typed = engine.upload(&tensor).wait().unwrap();
        let any = AnyDeviceTensor::from(typed);
        assert_eq!((any.element_bytes(), any.shape()), (4, &[2, 2][..]));
        let words = DeviceTensor::<u32>::try_from(any.clone()).unwrap();
        let bits: Vec<u32> = tensor.data().iter().map(|x| x.to_bits()).collect();
        assert_eq!(engine.download(&words).wait().unwrap().data(), bits);

        let wide = DeviceTensor::<f64>::try_from(any).map(|_| ());
        let (expected, got) = (8, 4);
        assert_eq!(wide, Err(Error::TensorWidth { expected, got }));
        assert_eq!(
            wide.unwrap_err().to_string(),
            "a tensor has elements of 4 bytes, its type would have 8"
        );
    }
}

#[test]
fn types_and_widths_that_do_not_fit_are_refused() {
    for engine in engines() {
        let buffer = buffer_with(engine, &[0; 64]);
        let output = buffer_with(engine, &[0; 64]);
        let wrap_as = |start: u64, element: ElementType, count| {
            let layout = Layout::contiguous(&[count]);
            AnyDeviceTensor::wrap(buffer.slice(start..), element, layout)
        };
        let wrap = |start, width: usize, count| wrap_as(start, width.into(), count);
        let misaligned = |offset, alignment| Error::Misaligned {
            op: None,
            role: Role::Tensor,
            offset,
            alignment,
        };
        assert_eq!(wrap(4, 8, 1).unwrap_err(), misaligned(4, 8));
        assert_eq!(wrap(2, 12, 1).unwrap_err(), misaligned(2, 4));
        let role = Role::Params;
        assert_eq!(wrap(0, 0, 1).unwrap_err(), Error::ZeroSizedElement { role });
        assert!(matches!(
            wrap(56, 8, 2),
            Err(Error::TensorBeyondBuffer { .. })
        ));

        let params = wrap(0, 2, 8).unwrap();
        let gather = |indices: &AnyDeviceTensor, output_width: usize| {
            let layout = Layout::contiguous(&[indices.shape()[0]]);
            let mut output = AnyDeviceTensor::wrap(output.slice(..), output_width, layout)?;
            let (op, rules) = (Op::gather(0), Rules::default());
            engine.gather_into(op, &rules, &params, indices, &mut output)
        };
        let ids = |dtype: DType| wrap_as(0, dtype.into(), 3).unwrap();
        let op = OpKind::Gather;
        assert_eq!(gather(&ids(DType::U32), 2), Ok(()));
        let wide = gather(&ids(DType::I32), 4);
        let (role, expected, got) = (Role::Output, 2, 4);
        let refused = Error::ElementWidth {
            op,
            role,
            expected,
            got,
        };
        assert_eq!(wide, Err(refused));
        assert_eq!(
            wide.unwrap_err().to_string(),
            "gather: elements of output have 4 bytes, expected 2"
        );
        // As wide as an index, but none.
        for (indices, text) in [
            (ids(DType::F32), "f32"),
            (ids(DType::I16), "i16"),
            (wrap(0, 4, 3).unwrap(), "4 bytes"),
        ] {
            let refused = gather(&indices, 2).unwrap_err();
            let allowed = IndexType::ALL.map(IndexType::name).join(", ");
            let expected = format!(
                "gather: elements of indices are {text}, which is no type of indices (allowed: {allowed})"
            );
            assert_eq!(refused.to_string(), expected);
        }
        // As wide as an index, but between two of them.
        let bytes = DeviceTensor::<[u8; 8]>::wrap(buffer.slice(12..), Layout::contiguous(&[2]));
        let between = DeviceTensor::<u64>::try_from(AnyDeviceTensor::from(bytes.unwrap()));
        let refused = gather(between.unwrap().as_ref(), 2);
        let misaligned = Error::Misaligned {
            op: Some(op),
            role: Role::Indices,
            offset: 12,
            alignment: 8,
        };
        assert_eq!(refused, Err(misaligned));
    }
}

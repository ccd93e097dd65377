//! Buffers of the caller that cannot be tensors, and tensors that cannot be outputs.

use wgpu_gather::gpu::{DeviceTensor, Engine};
use wgpu_gather::{Error, Layout, Op, Result, Role, Rules, Tensor, wgpu};

use crate::common::engines;

#[test]
fn what_cannot_be_wrapped_or_written_is_named() {
    for engine in engines() {
        let make = |size, usage| {
            engine.device().create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let storage = make(
            18,
            wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        );
        let copied = make(64, wgpu::BufferUsages::COPY_DST);
        let layout = |shape: &[usize]| Layout::contiguous(shape);
        let f32s = |slice, shape: &[usize]| DeviceTensor::<f32>::wrap(slice, layout(shape));
        let text = |result: Result<DeviceTensor<f32>>| result.unwrap_err().to_string();
        assert_eq!(
            text(f32s(copied.slice(..), &[4])),
            "the buffer of a device tensor lacks the usage STORAGE"
        );
        assert_eq!(
            text(f32s(storage.slice(2..), &[2])),
            "a device tensor starts at byte 2 of its buffer, which is not a multiple of 4"
        );
        assert_eq!(
            text(f32s(storage.slice(4..12), &[3])),
            "a device tensor of shape [3] needs 12 bytes of its buffer, got 8 (the buffer ends with a whole word)"
        );
        let beyond = DeviceTensor::<u8>::wrap(storage.slice(..), layout(&[18])).unwrap_err();
        assert_eq!(
            beyond.to_string(),
            "a device tensor of shape [18] needs 20 bytes of its buffer, got 18 (the buffer ends with a whole word)"
        );
        let unreadable = f32s(storage.slice(..), &[4]).unwrap();
        assert_eq!(
            text(
                engine
                    .download(&unreadable)
                    .wait()
                    .map(|_| unreadable.clone())
            ),
            "the buffer of a device tensor lacks the usage COPY_SRC"
        );

        let table = engine
            .upload(&Tensor::new(&[3, 2], vec![0f32; 6]).unwrap())
            .wait()
            .unwrap();
        let ids = engine
            .upload(&Tensor::new(&[2], vec![0u32, 1]).unwrap())
            .wait();
        let ids = ids.unwrap();
        let into = |output: &mut DeviceTensor<f32>| {
            let (op, rules) = (Op::gather(0), Rules::default());
            engine
                .gather_into(op, &rules, &table, &ids, output)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            into(&mut table.slice(0, 0..1).unwrap()),
            "gather: the output has shape [2, 2], got a tensor of shape [1, 2]"
        );
        let square = unreadable.reshape(&[2, 2]).unwrap();
        assert_eq!(
            into(&mut square.permute(&[1, 0]).unwrap()),
            "gather: the output must be contiguous, got a tensor of shape [2, 2] and strides [1, 2]"
        );
        assert_eq!(
            into(&mut table.slice(0, 0..2).unwrap()),
            "gather: params and output lie in the same buffer; a dispatch cannot read and write one buffer"
        );
    }
}

#[test]
fn a_tensor_of_another_engine_is_refused() {
    for engine in engines() {
        let other = Engine::headless(Some(&engine.adapter().label()))
            .wait()
            .unwrap();
        let table = Tensor::new(&[2], vec![1.5f32, 2.5]).unwrap();
        let ids = Tensor::new(&[1], vec![1u32]).unwrap();
        let (here, there) = (
            engine.upload(&table).wait().unwrap(),
            other.upload(&table).wait().unwrap(),
        );
        let ids_here = engine.upload(&ids).wait().unwrap();
        let ids_there = other.upload(&ids).wait().unwrap();
        let gather = |params, indices| {
            let made = engine.gather(Op::gather(0), &Rules::default(), params, indices);
            made.map(|_| ())
        };
        let refused = |role| Err(Error::OtherEngine { role });
        assert_eq!(gather(&here, &ids_here), Ok(()));
        assert_eq!(gather(&there, &ids_here), refused(Role::Params));
        assert_eq!(gather(&here, &ids_there), refused(Role::Indices));
        assert_eq!(
            engine.download(&there).wait().unwrap_err().to_string(),
            "params: the tensor was made by another engine"
        );
    }
}

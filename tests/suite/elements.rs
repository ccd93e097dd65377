//! Element types: every number type, bool, and structs of any size.

use half::{bf16, f16};
use num_complex::Complex;
use wgpu_gather::{Element, Executor, Fill, Op, OutOfBounds, Rules, Tensor};

use crate::common::executors;

fn bits<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// Gathers elements 2, 0, (bad), 1 and rows 1, (bad) of two, on every executor.
fn moves_bits<T: Element>(values: [T; 4]) {
    let zero = T::zeroed();
    let mut all = executors();
    all.push(Executor::Reference);
    for executor in all {
        let run = |op, shape: &[usize], indices: &[i64]| {
            let params = Tensor::new(shape, values.to_vec()).unwrap();
            let indices = Tensor::new(&[indices.len()], indices.to_vec()).unwrap();
            let rules = Rules::TENSORFLOW_GPU;
            let output = executor.gather(op, &rules, &params, &indices).wait();
            output.unwrap().into_data()
        };
        let [a, b, c, d] = values;
        let elements = run(Op::gather(0), &[4], &[2, 0, 4, 1]);
        assert_eq!(bits(&elements), bits(&[c, a, zero, b]));
        let rows = run(Op::gather(0), &[2, 2], &[1, -1]);
        assert_eq!(bits(&rows), bits(&[c, d, zero, zero]));
    }
}

#[test]
fn every_number_type_keeps_its_bits() {
    moves_bits([1u8, 2, 3, 255]);
    moves_bits([1i8, -2, 3, -128]);
    moves_bits([1u16, 2, 3, 65535]);
    moves_bits([1i16, -2, 3, -32768]);
    moves_bits([1u32, 2, 3, u32::MAX]);
    moves_bits([1i32, -2, 3, i32::MIN]);
    moves_bits([1u64, 2, 3, u64::MAX]);
    moves_bits([1i64, -2, 3, i64::MIN]);
    moves_bits([true, false, true, true]);
}

#[test]
fn floats_keep_nan_payloads_signs_and_subnormals() {
    // A signalling NaN, a negative zero, a subnormal and a quiet NaN with a payload.
    moves_bits([0x7d01u16, 0x8000, 0x0001, 0xfe02].map(f16::from_bits));
    moves_bits([0x7f81u16, 0x8000, 0x0001, 0xffc2].map(bf16::from_bits));
    moves_bits([0x7f80_0001u32, 0x8000_0000, 1, 0xffc0_1234].map(f32::from_bits));
    moves_bits([0x7ff0_0000_0000_0001u64, 1 << 63, 1, 0xfff8_0000_dead_beef].map(f64::from_bits));
    let single = [0x7f80_0001u32, 0x8000_0000, 1, 0xffc0_1234].map(f32::from_bits);
    moves_bits(single.map(|x| Complex::new(x, -0.0)));
    moves_bits(single.map(|x| Complex::new(-0.0, f64::from(x))));
}

/// 20 bytes of mixed fields.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Particle {
    position: [f32; 3],
    id: u32,
    kind: u16,
    flags: [u8; 2],
}

fn particle(n: u8) -> Particle {
    Particle {
        position: [f32::from(n), f32::NAN, -0.0],
        id: u32::from(n) << 24 | 7,
        kind: u16::from(n) * 257,
        flags: [n, !n],
    }
}

/// `SIZE` bytes that differ from their neighbours and from those of other elements.
fn blob<const SIZE: usize>(n: u8) -> [u8; SIZE] {
    std::array::from_fn(|at| (at as u8).wrapping_mul(31).wrapping_add(n))
}

fn moves_blobs<const SIZE: usize>()
where
    [u8; SIZE]: Element,
{
    moves_bits([1, 2, 3, 4].map(blob::<SIZE>));
}

#[test]
fn structs_of_any_size() {
    moves_bits([1, 2, 3, 4].map(particle));
    moves_bits([
        [1.0f32, 2.0, 3.0],
        [4.0, 5.0, 6.0],
        [7.0, 8.0, 9.0],
        [f32::NAN, 0.0, -0.0],
    ]);
    moves_bits([[1u64; 9], [2; 9], [3; 9], [4; 9]]);
    moves_blobs::<3>();
    moves_blobs::<5>();
    moves_blobs::<6>();
    moves_blobs::<7>();
    moves_blobs::<12>();
    moves_blobs::<17>();
    moves_blobs::<31>();
    moves_blobs::<255>();
    moves_blobs::<256>();
    moves_blobs::<1000>();
}

#[test]
fn a_fill_value_of_any_width_is_kept_bit_for_bit() {
    fn fills<T: Element>(values: [T; 2], fill: T) {
        for executor in executors() {
            let params = Tensor::new(&[2], values.to_vec()).unwrap();
            let indices = Tensor::new(&[3], vec![1u32, 2, 0]).unwrap();
            let rules = Rules::default().with_out_of_bounds(OutOfBounds::Fill(Fill::new(fill)));
            let got = executor
                .gather(Op::gather(0), &rules, &params, &indices)
                .wait();
            let expected = [values[1], fill, values[0]];
            assert_eq!(bits(got.unwrap().data()), bits(&expected));
        }
    }
    fills([1.0f32, 2.0], f32::from_bits(0x7f80_4321));
    fills([f16::ONE, f16::ZERO], f16::from_bits(0x7c01));
    fills([false, true], true);
    fills([1u8, 2], 0xee);
    fills([1u64, 2], 0x0123_4567_89ab_cdef);
    fills([particle(1), particle(2)], particle(9));
    fills([[1u8; 3], [2; 3]], [7, 8, 9]);
    fills([blob::<256>(1), blob(2)], blob::<256>(9));
}

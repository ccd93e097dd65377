use super::half::{BF16, F16};
use super::number::Ordered;
use super::*;
use crate::element::DType;
use crate::error::OpKind;

#[test]
fn halves_are_those_of_the_crate_half() {
    for bits in 0..=u16::MAX {
        let f16 = ::half::f16::from_bits(bits);
        let bf16 = ::half::bf16::from_bits(bits);
        let same = |ours: f32, theirs: f32| {
            ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan())
        };
        assert!(same(F16(bits).to_f32(), f16.to_f32()), "{bits:#x}");
        assert!(same(BF16(bits).to_f32(), bf16.to_f32()), "{bits:#x}");
    }
    // Around every value of either type, and halfway to the next.
    for high in 0..=u16::MAX {
        for low in [
            0, 1, 0xfff, 0x1000, 0x1001, 0x2000, 0x7fff, 0x8000, 0x8001, 0xffff,
        ] {
            let value = f32::from_bits(u32::from(high) << 16 | low);
            if value.is_nan() {
                assert_eq!(F16::from_f32(value), F16(0x7e00));
                assert_eq!(BF16::from_f32(value), BF16(0x7fc0));
                continue;
            }
            let (f16, bf16) = (::half::f16::from_f32(value), ::half::bf16::from_f32(value));
            assert_eq!(F16::from_f32(value).0, f16.to_bits(), "{value:e}");
            assert_eq!(BF16::from_f32(value).0, bf16.to_bits(), "{value:e}");
        }
    }
}

#[test]
fn a_half_is_rounded_once() {
    // 2048 + 1 is 2048 in f16, which has 11 bits: rounded each time, the ones would be lost.
    let one = F16(0x3c00).widen();
    let mut sum = F16(0x6800).widen();
    for _ in 0..4 {
        sum = <F16 as Fold>::add(sum, one);
    }
    assert_eq!(F16::narrow(sum), F16(0x6802)); // 2052
}

#[test]
fn min_and_max_know_nan_and_the_sign_of_zero() {
    let nan = f32::from_bits(0xffc1_2345);
    let max = |a: f32, b: f32| f32::narrow(<f32 as Ordered>::max(a, b)).to_bits();
    let min = |a: f32, b: f32| f32::narrow(<f32 as Ordered>::min(a, b)).to_bits();
    for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
        assert_eq!(max(a, b), 0.0f32.to_bits());
        assert_eq!(min(a, b), (-0.0f32).to_bits());
    }
    for (a, b) in [(nan, 1.0), (1.0, nan), (nan, nan)] {
        assert_eq!([max(a, b), min(a, b)], [0x7fc0_0000; 2]);
    }
    assert_eq!(max(f32::NEG_INFINITY, -1.0), (-1.0f32).to_bits());
    assert_eq!(min(f32::INFINITY, 1.0), 1.0f32.to_bits());
    let sum = <f32 as Fold>::add(f32::INFINITY, f32::NEG_INFINITY);
    assert_eq!(f32::narrow(sum).to_bits(), 0x7fc0_0000);
}

#[test]
fn integers_wrap_and_complex_numbers_multiply() {
    assert_eq!(<u8 as Fold>::add(250, 10), 4);
    assert_eq!(<i64 as Fold>::mul(i64::MAX, 2), -2);
    assert_eq!(<i8 as Ordered>::max(-1, 1), 1);
    let product = <super::complex::C64 as Fold>::mul([1.0, 2.0], [3.0, 4.0]);
    assert_eq!(product, [-5.0, 10.0]);
}

#[test]
fn a_type_refuses_what_it_does_not_have() {
    let text = |reduce, dtype| check(OpKind::Scatter, reduce, dtype).map_err(|e| e.to_string());
    assert_eq!(
        text(Reduce::Add, DType::Bool),
        Err("scatter: reduce = add is not defined for bool (allowed: none)".to_owned())
    );
    assert_eq!(
        text(Reduce::Max, DType::C64),
        Err("scatter: reduce = max is not defined for c64 (allowed: none, add, mul)".to_owned())
    );
    for dtype in DType::ALL {
        assert_eq!(text(Reduce::None, dtype), Ok(()));
    }
}

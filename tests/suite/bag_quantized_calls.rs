//! Pooled lookups from quantised tables by hand: on the device, of halves, and calls that do not fit.

use wgpu_gather::quantized::{BlockFormat, FloatType, QuantizedTable};
use wgpu_gather::{
    BagMode, Bags, DType, Error, Indices, Layout, OutOfBounds, Params, Rules, Tensor, TensorView,
};

use crate::bag_quantized::{all, two_rows};
use crate::common::engines;

/// Tables and weights stay on the device; a bad index is reported when the output is read.
#[test]
fn tables_stay_on_the_device() {
    let bytes = two_rows();
    let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes).unwrap();
    for engine in engines() {
        let table = engine.upload(&table).wait().unwrap();
        let ids = Tensor::new(&[4], vec![1u32, 0, 0, 2]).unwrap();
        let ids = engine.upload(&ids).wait().unwrap();
        let weights = Tensor::new(&[4], vec![0.5f32, 2.0, 4.0, 1.0]).unwrap();
        let weights = engine.upload(&weights).wait().unwrap();
        let bags = Bags::offsets_with_last(BagMode::Sum, &[0, 2, 3]);
        let rules = &Rules::TORCH;
        let pool = |bags, weights| {
            let made = engine.embedding_bag(bags, rules, &table.to::<f32>(), &ids, weights);
            engine.download(&made.unwrap()).wait()
        };
        let row = |a: f32, b: f32| [[a; 32], [b; 32]].concat();
        assert_eq!(pool(bags, None).unwrap().data(), row(-12.5, 1.5));
        assert_eq!(pool(bags, Some(&weights)).unwrap().data(), row(-4.0, 6.0));
        let padded = bags.with_padding_index(0);
        assert_eq!(pool(padded, None).unwrap().data(), row(-14.0, 0.0));
        // The index behind the last offset is looked at by no bag.
        let all = Bags::offsets(BagMode::Sum, &[0]);
        assert_eq!(
            pool(all, None).unwrap_err().to_string(),
            "embedding_bag: indices[3] = 2 is out of bounds for params axis 0 of extent 2"
        );
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let bytes = two_rows();
    let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes).unwrap();
    let ids = Tensor::new(&[3], vec![0i64, 1, -1]).unwrap();
    let two = Tensor::new(&[1, 3], vec![0i64, 1, 1]).unwrap();
    let weights = Tensor::new(&[2], vec![1.0f32, 2.0]).unwrap();
    let said = |bags: Bags<'_>, ids: &Tensor<i64>, weights: Option<&TensorView<'_, f32>>| {
        let mut texts = all().map(|executor| {
            let decoded = table.to::<f32>();
            let call = executor.embedding_bag(bags, &Rules::ONNX, &decoded, ids);
            let made = match weights {
                Some(weights) => call.weights(weights).wait(),
                None => call.wait(),
            };
            made.map(Tensor::into_data)
                .map_err(|error| error.to_string())
        });
        let first = texts.next().unwrap();
        assert!(texts.all(|text| text == first), "{first:?}");
        first.unwrap_err()
    };
    let (sum, mean) = (BagMode::Sum, BagMode::Mean);
    let weights = Some(weights.view());
    for (text, expected) in [
        (
            said(Bags::rows(sum), &ids, None),
            "indices has rank 1, but must have 2",
        ),
        (
            said(Bags::offsets(sum, &[0]), &two, None),
            "indices has rank 2, but must have 1",
        ),
        (
            said(Bags::offsets(sum, &[0, 4]), &ids, None),
            "offsets[1] = 4 is out of range (allowed: 0..=3)",
        ),
        (
            said(Bags::offsets(sum, &[]), &ids, None),
            "there is no offset for 3 indices (allowed: at least 1)",
        ),
        (
            said(Bags::offsets(sum, &[0]).with_padding_index(-3), &ids, None),
            "padding index -3 is out of range for params of 2 rows (allowed -2..=1)",
        ),
        (
            said(Bags::offsets(sum, &[0]), &ids, weights.as_ref()),
            "weights has shape [2], but indices [3]; they must be equal",
        ),
        (
            said(Bags::offsets(mean, &[0]), &ids, weights.as_ref()),
            "weights with mode = mean of f32 (allowed: mode = sum of floats or complex numbers)",
        ),
    ] {
        assert_eq!(text, format!("embedding_bag: {expected}"));
    }
    // Weights of another type, an output of another length, a fill value of another type.
    let decoded = table.to_type(FloatType::F32);
    let indices = Indices::try_from(&ids.view()).unwrap();
    let halves = Params::new(&[0; 6], DType::F16, Layout::contiguous(&[3])).unwrap();
    let opaque = Params::new(&[0; 12], 4, Layout::contiguous(&[3])).unwrap();
    let fill = |bytes: &[u8]| OutOfBounds::Fill(wgpu_gather::Fill::from_bytes(bytes));
    let wrong_fill = Rules::ONNX.with_out_of_bounds(fill(&[0; 2]));
    for executor in all() {
        let run = |rules: &Rules, weights: Option<&Params<'_>>, length: usize| {
            let mut call =
                executor.embedding_bag(Bags::offsets(sum, &[0]), rules, &decoded, &indices);
            if let Some(weights) = weights {
                call = call.weights(weights);
            }
            call.into(&mut vec![0; length]).wait()
        };
        for (weights, got) in [(&halves, "f16"), (&opaque, "4 bytes")] {
            let other = run(&Rules::ONNX, Some(weights), 128).unwrap_err();
            let text = format!("embedding_bag: elements of weights are {got}, expected f32");
            assert_eq!(other.to_string(), text);
        }
        let short = run(&Rules::ONNX, None, 124).unwrap_err();
        assert!(matches!(
            short,
            Error::OutputLength {
                expected: 128,
                got: 124,
                ..
            }
        ));
        let filled = run(&wrong_fill, None, 128).unwrap_err();
        assert!(matches!(filled, Error::FillWidth { .. }), "{filled:?}");
        assert_eq!(run(&Rules::ONNX, None, 128), Ok(()));
    }
}

/// Rows are folded in f32, so they are decoded to nothing else.
#[test]
fn rows_are_decoded_to_f32_alone() {
    let bytes = two_rows();
    let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes).unwrap();
    let ids = Tensor::new(&[1, 2], vec![0u32, 1]).unwrap();
    let (bags, rules) = (Bags::rows(BagMode::Sum), &Rules::ONNX);
    let text = "embedding_bag: elements of params are decoded to f16, expected decoded to f32";
    for executor in all() {
        let halves = table.to::<half::f16>();
        let made = executor.embedding_bag(bags, rules, &halves, &ids);
        assert_eq!(made.wait().unwrap_err().to_string(), text);
        let to = table.to_type(FloatType::F16);
        let made = executor.embedding_bag(bags, rules, &to, &ids);
        assert_eq!(made.wait().unwrap_err().to_string(), text);
    }
    for engine in engines() {
        let table = engine.upload(&table).wait().unwrap();
        let ids = engine.upload(&ids).wait().unwrap();
        let made = engine.embedding_bag(bags, rules, &table.to::<half::f16>(), &ids, None);
        assert_eq!(made.unwrap_err().to_string(), text);
    }
}

#[test]
fn halves_are_pooled_as_f32() {
    // 2048 + 1 + 1 in f16 stays 2048, in f32 it is 2050.
    let bytes: Vec<u8> = [0x6800u16, 0x3c00]
        .iter()
        .flat_map(|h| h.to_le_bytes())
        .collect();
    let table = QuantizedTable::blocks(BlockFormat::F16, &[2, 1], &bytes).unwrap();
    let ids = Tensor::new(&[1, 3], vec![0u64, 1, 1]).unwrap();
    for executor in all() {
        let bags = Bags::rows(BagMode::Sum);
        let sums = executor
            .embedding_bag(bags, &Rules::TORCH, &table.to::<f32>(), &ids)
            .wait()
            .unwrap();
        assert_eq!(sums, Tensor::new(&[1, 1], vec![2050.0]).unwrap());
    }
}

//! Scatters and pooled lookups beside a gather that waits: they write what it reads, and read what it
//! makes.

use wgpu_gather::gpu::internals::waiting_gathers;
use wgpu_gather::gpu::{DeviceTensor, Engine, Options};
use wgpu_gather::{BagMode, Bags, Op, Reduce, Rules, Tensor};

use super::{Held, N, download, expected, gather, others, reversed, upload, values};
use crate::common::{engine_with, engines};

/// A scatter writes the table that a gather which waits reads.
#[test]
fn a_scatter_into_what_waits_to_be_read_comes_after_it() {
    let (op, rules) = (Op::gather(0), Rules::default());
    for engine in engines() {
        type Write = fn(&Engine, &mut DeviceTensor<u32>, [&DeviceTensor<u32>; 2]);
        let ways: [(&str, Write); 2] = [
            ("a call", |engine, into, [ids, rows]| {
                let (op, rules) = (Op::gather(0), Rules::default());
                engine
                    .scatter_into(op, Reduce::None, &rules, into, ids, rows)
                    .expect("a scatter");
            }),
            ("a batch", |engine, into, [ids, rows]| {
                let (op, rules) = (Op::gather(0), Rules::default());
                engine
                    .batch(|batch| batch.scatter_into(op, Reduce::None, &rules, into, ids, rows))
                    .expect("a batch");
            }),
        ];
        for (way, write) in ways {
            let engine = engine_with(engine, Options::default());
            let places = upload(&engine, (0..N as u32).collect());
            let new = upload(&engine, others());
            let (mut table, mut ids) = (upload(&engine, values()), upload(&engine, reversed()));
            // Its params, then its indices.
            let rows = gather(&engine, &table, &ids);
            assert_eq!(waiting_gathers(&engine), 1);
            write(&engine, &mut table, [&places, &new]);
            assert_eq!(download(&engine, &rows), expected(), "{way}: params");
            assert_eq!(download(&engine, &table), others(), "{way}");

            let table = upload(&engine, values());
            let rows = gather(&engine, &table, &ids);
            assert_eq!(waiting_gathers(&engine), 1);
            write(&engine, &mut ids, [&places, &new]);
            assert_eq!(download(&engine, &rows), expected(), "{way}: indices");
            assert_eq!(download(&engine, &ids), others(), "{way}");

            // Its output, which the gather must not overwrite later.
            let ids = upload(&engine, reversed());
            let mut rows = upload(&engine, others());
            engine
                .gather_into(op, &rules, &table, &ids, &mut rows)
                .expect("a gather");
            assert_eq!(waiting_gathers(&engine), 1);
            let first = [upload(&engine, vec![0]), upload(&engine, vec![5])];
            write(&engine, &mut rows, [&first[0], &first[1]]);
            let after = [&[5], &expected()[1..]].concat();
            assert_eq!(download(&engine, &rows), after, "{way}: output");
        }
    }
}

/// Scatters and pooled lookups read the output of a gather that waits: as each of their operands.
#[test]
fn scatters_and_bags_read_what_a_gather_that_waits_makes() {
    for engine in engines() {
        let places = (0..N as u32).collect::<Vec<_>>();
        let scatter = |engine: &Engine, tensors: [&DeviceTensor<u32>; 3]| {
            let [base, ids, rows] = tensors;
            let (op, rules) = (Op::gather(0), Rules::default());
            let made = engine.scatter(op, Reduce::None, &rules, base, ids, rows);
            download(engine, &made.expect("a scatter"))
        };
        let held = Held::on(engine);
        let (one, seven) = (upload(&held.engine, vec![0]), upload(&held.engine, vec![7]));
        let made = scatter(&held.engine, [&held.rows, &one, &seven]);
        assert_eq!(made, [&[7], &expected()[1..]].concat(), "the base");

        let held = Held::on(engine);
        let [base, all] = [others(), places.clone()].map(|data| upload(&held.engine, data));
        let made = scatter(&held.engine, [&base, &all, &held.rows]);
        assert_eq!(made, expected(), "updates");

        // The gather makes places: it reverses 63, 62, …, 0.
        let engine = engine_with(engine, Options::default());
        let [ids, base, rows] = [reversed(), others(), values()].map(|data| upload(&engine, data));
        let made = gather(&engine, &ids, &ids);
        assert_eq!(waiting_gathers(&engine), 1);
        assert_eq!(scatter(&engine, [&base, &made, &rows]), values(), "indices");

        let table: Vec<f32> = (0..N).map(|n| n as f32 / 2.0).collect();
        let table = Tensor::new(&[N, 1], table).expect("a table");
        let table = engine.upload(&table).wait().expect("memory");
        let made = gather(&engine, &ids, &ids);
        assert_eq!(waiting_gathers(&engine), 1);
        let bags = Bags::offsets(BagMode::Sum, &[0, 62]);
        let sums = engine.embedding_bag(bags, &Rules::default(), &table, &made, None);
        let sums = engine.download(&sums.expect("a pooled lookup")).wait();
        // Halves of 0 + 1 + … + 61, and of 62 + 63.
        assert_eq!(sums.expect("a download").data(), [945.5, 62.5]);
    }
}

/// Scatters, gradients and pooled lookups wait as gathers do, and are read by what waits behind them.
#[test]
fn scatters_and_bags_wait_as_gathers_do() {
    let (op, rules) = (Op::gather(0), Rules::default());
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let all = upload(&engine, (0..N as u32).collect());
        let (mut table, ids) = (upload(&engine, values()), upload(&engine, reversed()));
        let (first, five) = (upload(&engine, vec![0]), upload(&engine, vec![5]));
        engine
            .scatter_into(op, Reduce::Add, &rules, &mut table, &first, &five)
            .expect("a scatter");
        assert_eq!(waiting_gathers(&engine), 1);
        let rows = gather(&engine, &table, &ids);
        assert_eq!(waiting_gathers(&engine), 2);
        // Over what the gather made, and over what is read.
        let sums = engine.scatter(op, Reduce::Add, &rules, &rows, &all, &rows);
        let sums = sums.expect("a scatter");
        assert_eq!(waiting_gathers(&engine), 3);
        let back = gather(&engine, &sums, &ids);
        engine
            .scatter_into(op, Reduce::None, &rules, &mut table, &all, &all)
            .expect("a scatter");
        let gradient = engine.gather_gradient(op, &rules, &[N], &ids, &all);
        let gradient = gradient.expect("a gradient");
        let bags = Bags::offsets(BagMode::Max, &[0, 62]);
        let most = engine.embedding_bag(bags, &rules, &gradient, &all, None);
        let most = most.expect("a pooled lookup");
        assert_eq!(waiting_gathers(&engine), 7);

        let with_five: Vec<u32> = values()
            .iter()
            .map(|&n| n + 5 * u32::from(n == 1000))
            .collect();
        let reversed_five: Vec<u32> = with_five.iter().rev().copied().collect();
        assert_eq!(download(&engine, &rows), reversed_five);
        assert_eq!(waiting_gathers(&engine), 0);
        let doubled: Vec<u32> = with_five.iter().map(|n| 2 * n).collect();
        assert_eq!(download(&engine, &back), doubled);
        assert_eq!(download(&engine, &table), (0..N as u32).collect::<Vec<_>>());
        assert_eq!(download(&engine, &gradient), reversed());
        assert_eq!(download(&engine, &most), [63, 1]);
    }
}

/// A scatter that waits writes to nothing that was handed out meanwhile, and reports late.
#[test]
fn a_scatter_that_waits_is_done_when_it_is_looked_at() {
    let op = Op::gather(0);
    for engine in engines() {
        let engine = engine_with(engine, Options::default());
        let mut table = upload(&engine, others());
        let (wrong, two) = (upload(&engine, vec![1, 99]), upload(&engine, vec![8, 9]));
        engine
            .scatter_into(op, Reduce::None, &Rules::ONNX, &mut table, &wrong, &two)
            .expect("a scatter");
        drop([wrong, two]);
        assert_eq!(waiting_gathers(&engine), 1);
        // The memory of its indices and updates, which serves others now.
        let other = [upload(&engine, vec![3]), upload(&engine, vec![4])];
        let bytes = crate::common::bytes_of(&engine, table.share_buffer());
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        assert_eq!(words[..3], [7, 8, 7]);
        let bad = engine.check(&table).wait().expect("a check");
        assert_eq!(bad.map(|bad| (bad.value, bad.count)), Some((99, 1)));
        // Its buffer is the program's now: nothing that uses it waits.
        let (at, row) = (&other[0], &other[1]);
        engine
            .scatter_into(op, Reduce::None, &Rules::ONNX, &mut table, at, row)
            .expect("a scatter");
        assert_eq!(waiting_gathers(&engine), 0);
        assert_eq!(download(&engine, &table)[3], 4);
    }
}

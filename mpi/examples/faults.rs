//! Plants faults in collectives: each must be the same error on every rank, naming the rank and what is
//! wrong, and the ranks must go on after it. Run by the tests: `mpirun -n 4 faults`.

use gather_mpi::{Error, Options, ShardedTable, agree};
use mpi::traits::*;
use wgpu_gather::shard::Partition;
use wgpu_gather::{Executor, Indices, Layout, Params, Rules, TensorView};

/// Three rows of two `u16` for each rank, all different.
fn rows(rank: usize) -> Vec<u8> {
    (0..12).map(|n| (rank * 12 + n) as u8).collect()
}

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    assert!(ranks > 1, "run by mpirun with 2 or more ranks");
    let last = ranks - 1;
    let bytes = rows(rank);
    let of = |width: usize, shape: &[usize]| {
        Params::new(&bytes, width, Layout::contiguous(shape)).expect("rows")
    };
    let good = of(2, &[3, 2]);
    let mut checks = 0;
    let mut expect = |what: &str, got: Option<Error>, expected: String| {
        let got = got.map(|error| error.to_string());
        assert_eq!(got, Some(expected), "rank {rank}: {what}");
        checks += 1;
    };
    // `bad` on the last rank, `good` on the others.
    let table = |rows: &Params<'static>, options| {
        ShardedTable::from_rows(&world, &Executor::Cpu, rows, options)
    };
    let leaked = |params: &Params<'_>| {
        let bytes: &'static [u8] = params.bytes().to_vec().leak();
        Params::new(bytes, params.element_bytes(), params.layout().clone()).expect("rows")
    };
    let on_last = |bad: Params<'_>| leaked(if rank == last { &bad } else { &good });

    let other_rows = table(&on_last(of(2, &[2, 3])), Options::default());
    let expected = format!(
        "rank {last}: it has rows of shape [3] with 2-byte elements, but rank 0 has rows of shape [2] \
         with 2-byte elements"
    );
    expect("rows of another shape", other_rows.err(), expected);

    let other_width = table(&on_last(of(1, &[6, 2])), Options::default());
    let expected = format!(
        "rank {last}: it has rows of shape [2] with 1-byte elements, but rank 0 has rows of shape [2] \
         with 2-byte elements"
    );
    expect("elements of another width", other_width.err(), expected);

    let options = Options {
        message_bytes: 0,
        ..Options::default()
    };
    let expected = "rank 0: message_bytes is 0 (allowed: 1 to 2147483647)".to_owned();
    expect(
        "no bytes in a message",
        table(&leaked(&good), options).err(),
        expected,
    );

    let partition = Partition::even_blocks(3 * ranks + 5, ranks).expect("a partition");
    let held =
        ShardedTable::from_shards(&world, &Executor::Cpu, partition, &good, Options::default());
    let text = held
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(
        text.starts_with("rank 0: it has rows of shape [3, 2], but the partition gives it"),
        "{text}"
    );

    let partition = Partition::even_blocks(3, ranks + 1).expect("a partition");
    let held =
        ShardedTable::from_shards(&world, &Executor::Cpu, partition, &good, Options::default());
    let more = ranks + 1;
    let expected =
        format!("rank 0: the partition is over {more} shards, but there are {ranks} ranks");
    expect("a partition over more ranks", held.err(), expected);

    let opened = match rank == last {
        true => Err("no such file"),
        false => Ok(()),
    };
    expect(
        "a file",
        agree(&world, opened).err(),
        format!("rank {last}: no such file"),
    );

    // A table that is right, and calls that are not.
    let right = table(&leaked(&good), Options::default()).expect("a table");
    let ids = |ids: [i64; 2]| TensorView::new(&[2], ids.to_vec().leak()).expect("ids");
    let gather = |view: &TensorView<'_, i64>, rules: &Rules, bytes: usize| {
        let mut output = vec![0; bytes];
        let indices = Indices::try_from(view).expect("ids");
        right.gather(rules, &indices, &mut output).map(|_| output)
    };
    let short = gather(&ids([0, 1]), &Rules::ONNX, if rank == last { 7 } else { 8 });
    let expected = format!("rank {last}: gather: the output needs 8 bytes, got a buffer of 7");
    expect("an output that is too short", short.err(), expected);

    let bad = if rank == 0 {
        [0, 1]
    } else {
        [1, 1000 + rank as i64]
    };
    let bad = gather(&ids(bad), &Rules::ONNX, 8);
    let (extent, count) = (3 * ranks, ranks - 1);
    let more = match count {
        1 => String::new(),
        count => format!(" (the first of {count} bad indices)"),
    };
    let expected = format!(
        "rank 1: gather: indices[1] = 1001 is out of bounds for params axis 0 of extent {extent}{more}"
    );
    expect(
        "bad indices on all ranks but the first",
        bad.err(),
        expected,
    );

    // After all that, the ranks still understand each other.
    let next = (rank + 1) % ranks;
    let output = gather(&ids([3 * next as i64 + 2, 0]), &Rules::ONNX, 8).expect("rows");
    assert_eq!(output, [&rows(next)[8..], &rows(0)[..4]].concat());
    if rank == 0 {
        println!(
            "{} faults, each the same error on {ranks} ranks",
            checks + 1
        );
    }
}

//! Beam search keeps a few best beginnings of a text. After each step, the key/value cache of
//! every new beam is that of the beam it continues: a gather along the beams, batch by batch.
//! Two caches take turns as params and output, and nothing waits for the device.
//!
//! ```sh
//! cargo run --release --example beam_search
//! ```

use std::process::ExitCode;

use half::f16;
use wgpu_gather::gpu::{Binding, DeviceTensor, Engine};
use wgpu_gather::{Op, Rules, TensorView};

mod setup;

/// What starts each text of the batch, and what the texts are made of.
const PROMPTS: [u8; 2] = *b"sp";
const CORPUS: &str = "she sells sea shells by the sea shore the shells she sells are surely sea \
                      shells peter piper picked a peck of pickled peppers ";
const BATCH: usize = PROMPTS.len();
const BEAMS: usize = 4;
/// Letters of a finished text.
const LENGTH: usize = 48;
/// Numbers that the cache holds of one token.
const WIDTH: usize = 64;
/// Keys or values, for all positions.
const CACHE: [usize; 4] = [BATCH, BEAMS, LENGTH, WIDTH];

/// The beginning of a text, and the logarithm of its probability.
#[derive(Clone)]
struct Beam {
    text: Vec<u8>,
    score: f32,
}

/// Keys and values.
type Cache = [DeviceTensor<f16>; 2];

fn main() -> ExitCode {
    setup::exit(run())
}

fn run() -> setup::Result<()> {
    let (device, queue) = setup::device()?;
    let engine = Engine::new(device.clone(), queue.clone()).wait()?;

    let (mut even, mut odd) = (cache(&engine)?, cache(&engine)?);
    let mut parents = engine.zeros::<i32>(&[BATCH, BEAMS])?;
    // Bound once for the steps that write to the odd cache, once for those that write to the even one.
    let turns = [
        reorder(&engine, &even, &parents, &mut odd)?,
        reorder(&engine, &odd, &parents, &mut even)?,
    ];
    let caches = [even, odd];

    let mut beams: Vec<Vec<Beam>> = PROMPTS.map(beginnings).to_vec();
    append(&engine, &caches[0], 0, &beams)?;
    let mut moved = 0;
    for step in 1..LENGTH {
        let (chosen, next): (Vec<_>, Vec<_>) = beams.iter().map(|b| continued(b)).unzip();
        beams = next;
        let stays = |(n, parent): (usize, &i32)| n % BEAMS == *parent as usize;
        moved += usize::from(!chosen.as_flattened().iter().enumerate().all(stays));
        // Lands before what is submitted next: the gathers see this step's parents.
        let chosen = TensorView::new(&[BATCH, BEAMS], chosen.as_flattened())?;
        engine.write(&mut parents, &chosen).wait()?;
        let mut encoder = device.create_command_encoder(&Default::default());
        turns[(step - 1) % 2].encode(&mut encoder);
        queue.submit([encoder.finish()]);
        append(&engine, &caches[step % 2], step, &beams)?;
    }

    let steps = LENGTH - 1;
    println!("{BATCH} texts, {BEAMS} beams; beams changed places in {moved} of {steps} steps");
    println!("the best beam of each text:");
    for beams in &beams {
        let text = String::from_utf8_lossy(&beams[0].text);
        println!("  {:6.1}  {text}", beams[0].score);
    }
    // A cache tells the story of its beam, if all reorderings were right.
    for (what, entry, tensor) in [
        ("keys", key as fn(_, _) -> _, &caches[(LENGTH - 1) % 2][0]),
        ("values", value, &caches[(LENGTH - 1) % 2][1]),
    ] {
        let mut expected = Vec::new();
        for beam in beams.iter().flatten() {
            let tokens = beam.text.iter().enumerate();
            expected.extend(tokens.flat_map(|(position, &token)| entry(token, position)));
        }
        setup::check(what, engine.download(tensor).wait()?.data(), &expected)?;
    }
    Ok(())
}

fn cache(engine: &Engine) -> setup::Result<Cache> {
    Ok([engine.zeros(&CACHE)?, engine.zeros(&CACHE)?])
}

/// `to[b, k] = from[b, parents[b, k]]`, for keys and for values.
fn reorder(
    engine: &Engine,
    from: &Cache,
    parents: &DeviceTensor<i32>,
    to: &mut Cache,
) -> setup::Result<Binding> {
    let op = Op::Gather {
        axis: Some(1),
        batch_dims: 1,
    };
    let rules = Rules::default();
    Ok(engine.bind(|r| {
        let mut both = from.iter().zip(to);
        both.try_for_each(|(from, to)| r.gather_into(op, &rules, from, parents, to))
    })?)
}

/// Writes what the model would compute for the newest token of each beam.
fn append(
    engine: &Engine,
    cache: &Cache,
    position: usize,
    beams: &[Vec<Beam>],
) -> setup::Result<()> {
    for (tensor, entry) in cache.iter().zip([key as fn(_, _) -> _, value]) {
        let tokens = beams.iter().flatten().map(|beam| beam.text[position]);
        let entries: Vec<[f16; WIDTH]> = tokens.map(|token| entry(token, position)).collect();
        let entries = TensorView::new(&[BATCH, BEAMS, 1, WIDTH], entries.as_flattened())?;
        let mut newest = tensor.slice(2, position..position + 1)?;
        engine.write(&mut newest, &entries).wait()?;
    }
    Ok(())
}

/// Stand-ins for what attention would keep: numbers that tell the token and its position.
fn key(token: u8, position: usize) -> [f16; WIDTH] {
    let number = |n| usize::from(token) * 5 + position * 11 + n;
    std::array::from_fn(|n| f16::from_f32(number(n) as f32))
}

fn value(token: u8, position: usize) -> [f16; WIDTH] {
    key(token, position).map(|number| -number)
}

/// All beams start alike; only the first may be continued at first.
fn beginnings(prompt: u8) -> Vec<Beam> {
    let beam = |n| Beam {
        text: vec![prompt],
        score: if n == 0 { 0.0 } else { f32::NEG_INFINITY },
    };
    (0..BEAMS).map(beam).collect()
}

/// The best continuations of the beams by one letter, and which beam each continues.
fn continued(beams: &[Beam]) -> ([i32; BEAMS], Vec<Beam>) {
    let mut candidates = Vec::new();
    for (parent, beam) in beams.iter().enumerate() {
        for letter in b"abcdefghijklmnopqrstuvwxyz ".iter().copied() {
            let score = beam.score + log_probability(&beam.text, letter);
            candidates.push((score, parent, letter));
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let next = candidates[..BEAMS]
        .iter()
        .map(|&(score, parent, letter)| Beam {
            text: [&beams[parent].text[..], &[letter]].concat(),
            score,
        });
    (
        std::array::from_fn(|n| candidates[n].1 as i32),
        next.collect(),
    )
}

/// The model: how often a letter follows the last three of a text in the corpus.
fn log_probability(text: &[u8], letter: u8) -> f32 {
    let context = &text[text.len().saturating_sub(3)..];
    let corpus = CORPUS.as_bytes();
    let follows = |n: &usize| corpus[*n..].starts_with(context);
    let places: Vec<usize> = (0..corpus.len() - context.len()).filter(follows).collect();
    let hits = places
        .iter()
        .filter(|&&n| corpus[n + context.len()] == letter);
    ((hits.count() as f32 + 1e-3) / (places.len() as f32 + 1e-3 * 27.0)).ln()
}

//! The table in `docs/levels.md`: what each verb supports at each level, found out by doing it.
//!
//! `GATHER_RENEW=1` writes it anew. A cell is a tick where the call gave the definition's bits, or the error
//! that the library gave in its place, with a number below the table.

mod cells;
mod device;
mod host;

use std::fmt::Write;

use cells::cells;
use host::Host;
use wgpu_gather::gpu::Engine;
use wgpu_gather::{Op, Rules};

use crate::common::engines;
use crate::documents::{path, read};

const DOCUMENT: &str = "docs/levels.md";
const ROWS: usize = 6;
const WIDTH: usize = 32;
const SHAPE: &[usize] = &[ROWS, WIDTH];
const OP: Op = Op::gather(0);
const RULES: &Rules = &Rules::TORCH;
const OFFSETS: &[usize] = &[0, 2];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Gather,
    Scatter,
    Gradient,
    Bag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Typed,
    AtRunTime,
    Quantized,
}

const ROWS_OF_TABLE: [(&str, Verb, Kind); 12] = [
    ("`gather`", Verb::Gather, Kind::Typed),
    ("`gather`, type at run time", Verb::Gather, Kind::AtRunTime),
    ("`gather`, quantized", Verb::Gather, Kind::Quantized),
    ("`scatter`", Verb::Scatter, Kind::Typed),
    (
        "`scatter`, type at run time",
        Verb::Scatter,
        Kind::AtRunTime,
    ),
    ("`scatter`, quantized", Verb::Scatter, Kind::Quantized),
    ("`gather_gradient`", Verb::Gradient, Kind::Typed),
    (
        "`gather_gradient`, type at run time",
        Verb::Gradient,
        Kind::AtRunTime,
    ),
    (
        "`gather_gradient`, quantized",
        Verb::Gradient,
        Kind::Quantized,
    ),
    ("`embedding_bag`", Verb::Bag, Kind::Typed),
    (
        "`embedding_bag`, type at run time",
        Verb::Bag,
        Kind::AtRunTime,
    ),
    ("`embedding_bag`, quantized", Verb::Bag, Kind::Quantized),
];

/// What a cell says: yes, an error of the library, or a reason that no call can give.
type Cell = std::result::Result<(), String>;

fn no(reason: &str) -> Cell {
    Err(reason.to_owned())
}

const COLUMNS: [&str; 11] = [
    "host",
    "host, into the caller's memory",
    "host, in chunks",
    "device",
    "device, `_into`",
    "held back for more",
    "`batch`",
    "`record`",
    "`bind`",
    "`bind`, in a pass",
    "as many as a count on the device",
];

/// The table, with the reasons of its holes.
fn table(engine: &Engine) -> String {
    let host = Host::new();
    let (mut text, mut reasons) = (String::from("| |"), Vec::<String>::new());
    COLUMNS
        .iter()
        .for_each(|column| write!(text, " {column} |").unwrap());
    text.push_str("\n|---|");
    COLUMNS.iter().for_each(|_| text.push_str("---|"));
    for (name, verb, kind) in ROWS_OF_TABLE {
        write!(text, "\n| {name} |").unwrap();
        for cell in cells(engine, &host, verb, kind) {
            match cell {
                Ok(()) => text.push_str(" ✓ |"),
                Err(reason) => {
                    let known = reasons.iter().position(|r| *r == reason);
                    let number = known.unwrap_or_else(|| {
                        reasons.push(reason);
                        reasons.len() - 1
                    });
                    write!(text, " {} |", number + 1).unwrap();
                }
            }
        }
    }
    text.push_str("\n\n");
    for (n, reason) in reasons.iter().enumerate() {
        writeln!(text, "{}. {reason}", n + 1).unwrap();
    }
    text
}

#[test]
fn the_table_of_levels_is_what_calls_do() {
    for engine in engines() {
        let (before, after) = ("<!-- by tests/suite/levels.rs -->\n", "<!-- end -->\n");
        let document = read(DOCUMENT);
        let (head, rest) = document.split_once(before).expect("a place for the table");
        let (there, tail) = rest.split_once(after).expect("an end of the table");
        let found = table(engine);
        if std::env::var_os("GATHER_RENEW").is_some() {
            let text = format!("{head}{before}{found}{after}{tail}");
            std::fs::write(path(DOCUMENT), text).unwrap();
        } else {
            assert_eq!(
                there,
                found,
                "on {}; GATHER_RENEW=1 writes it anew",
                engine.adapter().label()
            );
        }
    }
}

//! The table in `docs/levels.md`: what each verb supports at each level, found out by doing it.
//!
//! `GATHER_RENEW=1` writes it anew. A cell is a tick where the call gave the definition's bits, or the error
//! that the library gave in its place, with a number below the table.

mod cells;
mod device;
mod host;
mod rows;

use std::fmt::Write;

use cells::{COLUMNS, cells};
use host::Host;
use rows::TABLE;
use wgpu_gather::gpu::{Engine, Options};

use crate::common::{engine_with, engines};
use crate::documents::{path, read};

const DOCUMENT: &str = "docs/levels.md";

/// The table, with the reasons of its holes.
fn table(engine: &Engine) -> String {
    let host = Host::new();
    let (mut text, mut reasons) = (String::from("| |"), Vec::<String>::new());
    COLUMNS
        .iter()
        .for_each(|column| write!(text, " {column} |").unwrap());
    text.push_str("\n|---|");
    COLUMNS.iter().for_each(|_| text.push_str("---|"));
    for (name, verb, kind) in TABLE {
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
        // An engine of its own: calls of other tests would submit what is held back here.
        let engine = engine_with(engine, Options::default());
        let found = table(&engine);
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

//! What the shaders touch, and for how long: `tests/sanitizer.sh` runs it.

mod access;
mod bench;
mod calls;
mod chain;
mod checks;
mod coverage;
mod faults;
mod figures;
mod function;
mod kernels;
mod long;
mod memory;
mod rare;
mod recorder;
mod rewrite;
mod rewritten;
mod sectors;
mod site;
mod sliced;
mod trace;

use std::error::Error;
use std::process::ExitCode;

use figures::{Figures, differences};

const USAGE: &str = "usage: wgpu-gather-sanitizer check FILE | renew FILE | print | planted | long";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut report = Report::default();
    match arguments[..] {
        ["check", file] => {
            let kept = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
            report.all_planted()?;
            let figures = report.calls()?;
            report.many(coverage::unreached(&figures));
            let wrong = differences(&kept, &figures.table());
            if !wrong.is_empty() {
                report.many([format!(
                    "{file} differs. If that is meant: tests/sanitizer.sh renew\n{}",
                    wrong.join("\n")
                )]);
            }
        }
        ["renew", file] => {
            let figures = report.calls()?;
            std::fs::write(file, figures.table())?;
        }
        ["planted"] => report.all_planted()?,
        ["long"] => {
            let bench = bench::Bench::new(calls::BINDINGS[0], None)?;
            let mut tally = bench::Tally {
                says_at_once: true,
                ..Default::default()
            };
            long::run(&bench, &mut tally);
            report.tally(tally);
        }
        ["print"] => print!("{}", report.calls()?.table()),
        _ => return Err(USAGE.into()),
    }
    println!(
        "{} passed, {} failed, 0 skipped",
        report.passed, report.failed
    );
    Ok(match report.failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// What passed, and what did not.
#[derive(Debug, Default)]
struct Report {
    passed: usize,
    failed: usize,
}

impl Report {
    /// Planted faults, each with what is not as it should be.
    fn planted(&mut self, what: &str, all: Vec<(String, Option<String>)>) {
        for (name, wrong) in all {
            match wrong {
                None => self.passed += 1,
                Some(why) => self.many([format!("{what} {name}: {why}")]),
            }
        }
    }

    fn all_planted(&mut self) -> Result<(), String> {
        println!("{}", bench::device()?.2);
        self.planted("kernel", kernels::Kernels::new()?.check());
        self.planted("fault", faults::check());
        Ok(())
    }

    fn tally(&mut self, tally: bench::Tally) -> Figures {
        self.passed += tally.passed;
        self.failed += tally.failed.len();
        tally.figures
    }

    fn many(&mut self, failed: impl IntoIterator<Item = String>) {
        for text in failed {
            println!("FAILED: {text}");
            self.failed += 1;
        }
    }

    /// Makes all calls.
    fn calls(&mut self) -> Result<Figures, String> {
        let tallies: Vec<_> = std::thread::scope(|scope| {
            let threads = calls::BINDINGS.map(|binding| scope.spawn(move || calls::run(binding)));
            let join = threads.into_iter().map(|thread| thread.join());
            join.map(|joined| joined.expect("a thread without a panic"))
                .collect()
        });
        let mut figures = Figures::default();
        for tally in tallies {
            figures.merge(self.tally(tally?));
        }
        Ok(figures)
    }
}

//! What the shaders touch, and for how long: `tests/sanitizer.sh` runs it.

mod access;
mod bench;
mod calls;
mod case;
mod chain;
mod checks;
mod coverage;
mod faults;
mod figures;
mod function;
mod gather;
mod kernels;
mod known;
mod long;
mod memory;
mod patterns;
mod rare;
mod recorder;
mod rewrite;
mod rewritten;
mod sectors;
mod shapes;
mod site;
mod sliced;
mod trace;
mod traffic;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use figures::{Figures, differences};

const USAGE: &str =
    "usage: wgpu-gather-sanitizer check FOLDER | renew FOLDER | print | traffic | planted | long";

/// The tables, seen from a folder: the second is in the command, whose `bench` prints its figures.
const SECTORS: &str = "sectors.csv";
const TRAFFIC: &str = "../../cli/src/bench/traffic.csv";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut report = Report::default();
    match arguments[..] {
        ["check", folder] => {
            report.all_planted()?;
            let figures = report.calls()?;
            report.many(coverage::unreached(&figures));
            let traffic = report.traffic()?;
            report.compare(folder, SECTORS, &figures.table())?;
            report.compare(folder, TRAFFIC, &traffic)?;
        }
        ["renew", folder] => {
            let figures = report.calls()?;
            std::fs::write(Path::new(folder).join(SECTORS), figures.table())?;
            std::fs::write(Path::new(folder).join(TRAFFIC), report.traffic()?)?;
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
        ["traffic"] => print!("{}", report.traffic()?),
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
        self.planted("fault", traffic::planted());
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

    /// Makes the calls of the traffic table.
    fn traffic(&mut self) -> Result<String, String> {
        let bench = bench::Bench::new(calls::BINDINGS[0], None)?;
        let mut tally = bench::Tally {
            says_at_once: true,
            ..Default::default()
        };
        let table = traffic::run(&bench, &shapes::cases(), &mut tally);
        self.tally(tally);
        self.many(traffic::complaints(&table));
        Ok(table)
    }

    /// Holds a table against that which is kept.
    fn compare(&mut self, folder: &str, file: &str, now: &str) -> Result<(), String> {
        let path = Path::new(folder).join(file);
        let kept =
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let wrong = differences(&kept, now);
        if !wrong.is_empty() {
            self.many([format!(
                "{} differs. If that is meant: tests/sanitizer.sh renew\n{}",
                path.display(),
                wrong.join("\n")
            )]);
        }
        Ok(())
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

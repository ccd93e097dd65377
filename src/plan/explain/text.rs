//! An explanation as text, in paragraphs with a heading at the left.

use std::fmt::{self, Display, Formatter};

use crate::plan::explain::{Dispatches, Explanation};
use crate::plan::kernels::WORKGROUP;
use crate::plan::{HostCall, LoopDims, Positions};
use crate::rules::{Negative, Rules};

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let plan = &self.plan;
        writeln!(
            f,
            "{}: params {:?} with elements of {}, indices {:?} of {}, output {:?}",
            plan.op(),
            plan.params_layout().shape(),
            size(plan.element_bytes() as u64),
            plan.indices_layout().shape(),
            plan.index_type().name(),
            plan.output_shape(),
        )?;
        line(f, "rules", &rules(plan.rules()))?;
        if plan.is_empty() {
            return line(f, "dispatches", "none: the output is empty");
        }
        self.loops(f)?;
        self.passes(f)?;
        let mut above = None;
        for dispatches in &self.dispatches {
            dispatches.grid(f)?;
            let kernel = dispatches.kernel_text();
            match above {
                Some(same) if same == kernel => line(f, "  kernel", "the same")?,
                _ => write!(f, "{kernel}")?,
            }
            above = Some(kernel);
        }
        self.host(f)
    }
}

impl Explanation {
    fn loops(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let geometry = self.plan.geometry();
        let rows = geometry.row_loops().len();
        for (n, (l, dims)) in self.loops.iter().enumerate() {
            let heading = if n == 0 { "loops" } else { "" };
            let merged = if dims.len() > 1 { ", merged" } else { "" };
            let slice = if n >= rows {
                ": the slice, copied as a row"
            } else {
                ""
            };
            let strides = format!(
                "{} times, strides {} in params and {} in indices",
                l.extent, l.params_stride, l.indices_stride
            );
            let origin = format!("{}{merged}{slice}", of_dims(dims));
            line(f, heading, &format!("{strides} ({origin})"))?;
        }
        if self.loops.is_empty() {
            line(f, "loops", "none: the output is one element")?;
        }
        if !self.dropped.is_empty() {
            let dropped = of_dims(&self.dropped);
            line(f, "", &format!("none over {dropped}, of extent 1"))?;
        }
        for (k, c) in geometry.coordinates.iter().enumerate() {
            let heading = if k == 0 { "looked up" } else { "" };
            let what = format!(
                "axis {}: extent {}, stride {} in params",
                c.axis, c.extent, c.stride
            );
            line(f, heading, &what)?;
        }
        if geometry.coordinates.is_empty() {
            line(f, "looked up", "nothing: the index depth is 0")?;
        }
        Ok(())
    }

    fn passes(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let limits = &self.limits;
        let count: usize = self.dispatches.iter().map(|d| d.count).sum();
        let boxes = match self.boxes {
            1 => "the output in one box".to_owned(),
            n => {
                let most = size(limits.pass_bytes.min(limits.output_bytes));
                format!("the output in {n} boxes of at most {most}")
            }
        };
        let segments = match self.segments {
            0 => "nothing of params".to_owned(),
            1 => "params in one segment".to_owned(),
            n => format!(
                "params in {n} segments of at most {}, {} in a dispatch",
                size(limits.params_bytes),
                limits.segments
            ),
        };
        line(f, "passes", &format!("{count}: {boxes}, {segments}"))?;
        match self.check_passes {
            0 => Ok(()),
            n => line(f, "", &format!("{n} more to count bad indices")),
        }
    }

    fn host(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let how = match self.host_call {
            HostCall::Device => "the tensors whole in the device's memory",
            HostCall::Cpu => "on the CPU path",
        };
        line(f, "host call", how)?;
        let needed = size(self.plan.host_bytes());
        let most = size(self.max_memory_bytes);
        let why = match self.host_call {
            HostCall::Device if self.max_memory_bytes == u64::MAX => {
                format!("they take {needed}, and there is no bound on memory")
            }
            HostCall::Device => format!("they take {needed} of {most}"),
            HostCall::Cpu => format!("the tensors take {needed}, more than {most}"),
        };
        line(f, "", &why)
    }
}

impl Dispatches {
    fn grid(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.kernel.workgroups;
        let which = match (self.first, self.segments) {
            (true, 0..=1) => String::new(),
            (true, n) => format!(", with {n} segments of params"),
            (false, 1) => ", with one more segment of params".to_owned(),
            (false, n) => format!(", with {n} more segments of params"),
        };
        let count = self.count;
        let grid = format!("{x} x {y} x {z} workgroups of {WORKGROUP} invocations");
        line(f, "dispatches", &format!("{count} of {grid}{which}"))
    }

    /// The kernel, and why it is that.
    fn kernel_text(&self) -> String {
        let kernel = &self.kernel;
        let (kind, nest) = (kernel.kind.name(), kernel.nest);
        let positions = match kernel.positions {
            Positions::Bound => "",
            Positions::Segments => ", in segments",
            Positions::Wide => ", in segments, positions of 64 bits",
        };
        let accesses = size(kernel.access_bytes as u64);
        [
            format!(
                "{:<12}{kind}, {nest}, accesses of {accesses}{positions}\n",
                "  kernel"
            ),
            format!("{:<12}{kind}: {}\n", "", kernel.reason.kind),
            format!("{:<12}{nest}: {}\n", "", kernel.reason.nest),
            format!("{:<12}accesses: {}\n", "", self.accesses()),
        ]
        .concat()
    }

    fn accesses(&self) -> String {
        if self.access_limits.is_empty() {
            return "the widest there are".to_owned();
        }
        let mut limits = self.access_limits();
        limits.dedup();
        let limits = listed(&limits);
        match self.kernel.kind.access_widths() {
            [1] => format!("bytes, as no word divides {limits}"),
            _ => format!("no wider one divides {limits}"),
        }
    }
}

/// A line of a paragraph.
fn line(f: &mut Formatter<'_>, heading: &str, text: &str) -> fmt::Result {
    writeln!(f, "{heading:<12}{text}")
}

fn rules(rules: &Rules) -> String {
    let effect = rules.out_of_bounds.effect();
    let negative = match rules.negative {
        Negative::OutOfBounds => "a negative one is out of bounds",
        Negative::FromEnd => "a negative one counts from the end",
    };
    format!("an index out of bounds {effect}; {negative}")
}

/// `dim 0 of both`, `dims 0 and 1 of indices`.
fn of_dims(dims: &[LoopDims]) -> String {
    let tensor = |d: &LoopDims| match (d.params, d.indices) {
        (Some(_), Some(_)) => "both",
        (Some(_), None) => "params",
        _ => "indices",
    };
    let groups = dims.chunk_by(|a, b| tensor(a) == tensor(b)).map(|group| {
        let number = |d: &LoopDims| d.params.or(d.indices).unwrap_or(0).to_string();
        let numbers: Vec<String> = group.iter().map(number).collect();
        let s = if group.len() > 1 { "s" } else { "" };
        format!("dim{s} {} of {}", listed(&numbers), tensor(&group[0]))
    });
    listed(&groups.collect::<Vec<_>>())
}

/// `a`, `a and b`, `a, b and c`.
fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// `384 bytes`, `1.5 KiB`: in the largest unit of which there is at least one, never rounded up.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = bytes.max(1).ilog2() / 10;
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    let hundredths = (u128::from(bytes) * 100) >> (10 * unit);
    let number = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number} {}", UNITS[unit as usize])
}

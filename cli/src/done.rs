//! What a call on files says when it has succeeded: one line, or one JSON object.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use wgpu_gather::{BadIndices, DType, Rules};
use wgpu_gather_files::Stored;

use crate::answer::Answer;
use crate::backend::Chosen;
use crate::bad::{self, Direction};
use crate::call_args::CallArgs;
use crate::destination::Destination;
use crate::printed::Picture;
use crate::text;

/// A call that succeeded.
pub(crate) struct Done<'a> {
    /// The operator.
    pub(crate) op: &'a str,
    /// What it has besides, as JSON calls it, and its value.
    pub(crate) how: Option<(&'static str, &'static str)>,
    pub(crate) params_shape: &'a [usize],
    /// How params is quantized, if it is.
    pub(crate) format: Option<String>,
    /// Of the output, and of params where it is not quantized.
    pub(crate) dtype: DType,
    pub(crate) indices_shape: &'a [usize],
    /// As the file has them.
    pub(crate) index_type: Stored,
    pub(crate) output_shape: &'a [usize],
    pub(crate) rules: &'a Rules,
    pub(crate) direction: Direction,
    /// The indices that were out of bounds, if any were; not looked for where nothing is said.
    pub(crate) bad: Option<BadIndices>,
    pub(crate) chosen: &'a Chosen,
    /// Of the output.
    pub(crate) bytes: usize,
    /// Of the call itself, with all copies to and from the device; without writing the file.
    pub(crate) time: Duration,
    pub(crate) out: &'a Destination,
    /// The result, if it is to be printed.
    pub(crate) picture: Option<Picture>,
}

impl Done<'_> {
    /// The answer of the command: the result if it is printed, else what was done.
    pub(crate) fn answer(&self, args: &CallArgs) -> Result<Answer> {
        let report = &args.report;
        let said = match (report.json, &self.picture) {
            (true, _) => Answer::json(&self.json(&args.rules.rules), true),
            (false, Some(picture)) => {
                let text = format!("{}\n", picture.text(self.out.precision())?);
                let bad = match &self.bad {
                    Some(_) => format!("note: {}\n", self.bad_text()),
                    None => String::new(),
                };
                return Ok(Answer::good(text).noting(bad));
            }
            (false, None) if report.quiet => Answer::good(String::new()),
            (false, None) => Answer::good(self.line()),
        };
        Ok(match self.out.is_stdout() {
            true => said.on_stderr(),
            false => said,
        })
    }

    fn bad_text(&self) -> String {
        bad::text(self.bad.as_ref(), self.rules, self.direction)
    }

    fn line(&self) -> String {
        let how = self.how.map_or(String::new(), |(_, how)| format!(" {how}"));
        let (params, output) = match &self.format {
            Some(format) => (format.as_str(), format!(" {}", self.dtype)),
            None => (self.dtype.name(), String::new()),
        };
        format!(
            "{}{how}: params {:?} {params}, indices {:?} {} -> output {:?}{output}, {} bytes, {}, {}; {}\n",
            self.op,
            self.params_shape,
            self.indices_shape,
            self.index_type,
            self.output_shape,
            self.bytes,
            self.chosen.describe(),
            text::duration(self.time),
            self.bad_text(),
        )
    }

    fn json(&self, preset: &str) -> Value {
        let adapter = self.chosen.adapter();
        let mut said = json!({
            "op": self.op,
            "params_shape": self.params_shape,
            "format": self.format,
            "dtype": self.dtype.name(),
            "indices_shape": self.indices_shape,
            "index_type": self.index_type.to_string(),
            "output_shape": self.output_shape,
            "rules": {
                "name": preset,
                "negative": self.rules.negative.name(),
                "out_of_bounds": self.rules.out_of_bounds.to_string(),
            },
            "bad_indices": bad::json(self.bad.as_ref(), self.rules, self.direction),
            "executor": self.chosen.name(),
            "reason": self.chosen.reason,
            "adapter": adapter.map(|a| &a.name),
            "api": adapter.map(|a| a.api.to_str()),
            "bytes": self.bytes,
            "seconds": self.time.as_secs_f64(),
            "out": self.out.out(),
        });
        if let Some(picture) = &self.picture {
            said["output"] = picture.json();
        }
        if let Some((name, value)) = self.how {
            said[name] = value.into();
        }
        said
    }
}

//! Parts of the command that a build may lack.

use std::fmt;

/// An option whose cargo feature is off in this build.
#[derive(Debug)]
pub(crate) struct NotBuilt {
    /// What was asked for: `--plot`.
    pub(crate) option: &'static str,
    /// The feature of the crate `wgpu-gather-cli` that it needs.
    pub(crate) feature: &'static str,
}

impl NotBuilt {
    /// The command that builds it.
    pub(crate) fn tip(&self) -> String {
        format!(
            "cargo install --path cli --features {}; cargo run takes the same option",
            self.feature
        )
    }
}

impl fmt::Display for NotBuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotBuilt { option, feature } = self;
        write!(
            f,
            "{option} is not in this build of wgpu-gather: it needs the cargo feature `{feature}`"
        )
    }
}

impl std::error::Error for NotBuilt {}

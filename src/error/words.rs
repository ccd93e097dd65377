//! Parts of messages that several errors have, or that depend on a field.

use std::fmt;

use super::names::{OpKind, Role};

/// `gather: `, where there is an operator.
pub(super) struct Before(pub(super) Option<OpKind>);

impl fmt::Display for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |op| write!(f, "{op}: "))
    }
}

/// A tensor on the device, by its part if it has one.
pub(super) struct OnDevice(pub(super) Role);

impl fmt::Display for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Role::Tensor => f.write_str("a device tensor"),
            role => write!(f, "{role}"),
        }
    }
}

/// The values that are allowed, if there are some.
pub(super) struct Allowed<'a>(pub(super) &'a [&'static str]);

impl fmt::Display for Allowed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("no mode"),
            some => f.write_str(&some.join(", ")),
        }
    }
}

/// The values that name one of `rank` dims, from the back or the front.
pub(super) struct Signed(pub(super) usize);

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "-{}..={}", self.0, self.0.saturating_sub(1))
    }
}

/// `A (gl) lacks compute shaders; B (vulkan) lacks a device: no`.
pub(crate) struct Lacking<'a>(pub(crate) &'a [(String, String)]);

impl fmt::Display for Lacking<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (adapter, what)) in self.0.iter().enumerate() {
            let before = if n == 0 { "" } else { "; " };
            write!(f, "{before}{adapter} lacks {what}")?;
        }
        Ok(())
    }
}

/// Which adapter was wanted, and which there are.
pub(super) struct NoAdapter<'a> {
    pub(super) wanted: &'a Option<String>,
    pub(super) available: &'a [String],
}

impl fmt::Display for NoAdapter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wanted {
            Some(text) => write!(f, "no adapter matches \"{text}\"; ")?,
            None => write!(f, "no GPU adapter; ")?,
        }
        if self.available.is_empty() {
            write!(
                f,
                "this machine has none (Debian/Ubuntu: apt-get install mesa-vulkan-drivers libegl1 libgl1-mesa-dri, for software ones)"
            )
        } else {
            write!(f, "this machine has: {}", self.available.join(", "))
        }
    }
}

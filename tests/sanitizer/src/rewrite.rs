//! A shader that records what it touches: before each load, store and atomic operation on a storage buffer,
//! a call that notes it; at the head of each loop, one that counts.
//!
//! What is called is `trace.wgsl`, in front of the shader. So only calls are added here. Memory of workgroups is
//! not looked at: a barrier that it lacks is for the planted faults to show.

use std::collections::BTreeMap;

use naga::valid::{Capabilities, FunctionInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module};

use crate::function::Rewriter;
use crate::rewritten::Rewritten;
use crate::site::Site;

const TRACE: &str = include_str!("trace.wgsl");

/// A shader that records, and what its records mean.
#[derive(Debug)]
pub(crate) struct Traced {
    pub(crate) text: String,
    pub(crate) sites: Vec<Site>,
    /// The names of the bindings of group 0.
    pub(crate) variables: BTreeMap<u32, String>,
    /// By the names of the entry points.
    pub(crate) workgroups: BTreeMap<String, Workgroup>,
}

/// What a workgroup of an entry point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workgroup {
    pub(crate) invocations: u32,
    /// Bytes of the memory that they share.
    pub(crate) bytes: u32,
}

/// Rewrites a shader.
///
/// # Errors
///
/// What naga says of it, and what the records could not say: see [`crate::chain::Chain::of`].
pub(crate) fn rewrite(source: &str) -> Result<Traced, String> {
    let text = format!("{TRACE}\n{source}");
    let parsed = naga::front::wgsl::parse_str(&text);
    let mut module = parsed.map_err(|error| error.emit_to_string(&text))?;
    let variables = module.global_variables.iter().filter_map(|(_, variable)| {
        let binding = variable.binding.filter(|binding| binding.group == 0)?;
        Some((binding.binding, variable.name.clone()?))
    });
    let variables = variables.collect();
    let mut all = Rewritten::new(&module, &text)?;
    let handles: Vec<_> = module.functions.iter().map(|(handle, _)| handle).collect();
    for handle in handles {
        if all.hooks.values().any(|&hook| hook == handle) {
            continue;
        }
        let mut function = std::mem::take(module.functions.get_mut(handle));
        let name = function.name.clone().unwrap_or_default();
        let touches = Rewriter::new(&module, &mut all, &mut function, name).rewrite(None)?;
        if touches {
            all.touching.insert(handle);
        }
        *module.functions.get_mut(handle) = function;
    }
    for n in 0..module.entry_points.len() {
        let mut function = std::mem::take(&mut module.entry_points[n].function);
        let entry = &module.entry_points[n];
        let size = entry.workgroup_size.iter().product();
        let name = entry.name.clone();
        Rewriter::new(&module, &mut all, &mut function, name).rewrite(Some(size))?;
        module.entry_points[n].function = function;
    }
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(&module);
    let info = info.map_err(|error| format!("{:?}", error.into_inner()))?;
    let workgroups = (0..).zip(&module.entry_points).map(|(n, entry)| {
        let workgroup = Workgroup {
            invocations: entry.workgroup_size.iter().product(),
            bytes: shared_bytes(&module, info.get_entry_point(n)),
        };
        (entry.name.clone(), workgroup)
    });
    let workgroups = workgroups.collect();
    let flags = naga::back::wgsl::WriterFlags::empty();
    let text = naga::back::wgsl::write_string(&module, &info, flags);
    Ok(Traced {
        variables,
        text: text.map_err(|error| error.to_string())?,
        sites: all.sites,
        workgroups,
    })
}

/// Bytes of the variables of workgroups that an entry point uses.
fn shared_bytes(module: &Module, entry: &FunctionInfo) -> u32 {
    let variables = module.global_variables.iter();
    let used = variables.filter(|&(handle, variable)| {
        variable.space == AddressSpace::WorkGroup && !entry[handle].is_empty()
    });
    let bytes = |ty| module.types[ty].inner.size(module.to_ctx());
    used.map(|(_, variable)| bytes(variable.ty)).sum()
}

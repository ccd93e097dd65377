//! A module that is being rewritten: its hooks, and what was found in it.

use std::collections::{BTreeMap, HashSet};

use naga::{Function, Handle, Module, Type};

use crate::site::Site;

/// What is known of a module so far.
pub(crate) struct Rewritten {
    /// The functions of `trace.wgsl`.
    pub(crate) hooks: BTreeMap<&'static str, Handle<Function>>,
    pub(crate) vec3: Handle<Type>,
    pub(crate) u32: Handle<Type>,
    pub(crate) sites: Vec<Site>,
    /// The calls of functions that touch storage.
    pub(crate) places: u32,
    /// Functions that touch storage, themselves or by what they call.
    pub(crate) touching: HashSet<Handle<Function>>,
    pub(crate) text: String,
}

const HOOKS: [&str; 7] = [
    "trace_start",
    "trace_end",
    "trace_access",
    "trace_enter",
    "trace_leave",
    "trace_barrier",
    "trace_step",
];

impl Rewritten {
    pub(crate) fn new(module: &Module, text: &str) -> Result<Self, String> {
        let mut hooks = BTreeMap::new();
        for name in HOOKS {
            let mut functions = module.functions.iter();
            let hook = functions.find(|(_, f)| f.name.as_deref() == Some(name));
            let (handle, _) = hook.ok_or_else(|| format!("trace.wgsl has no {name}"))?;
            hooks.insert(name, handle);
        }
        let start = &module.functions[hooks["trace_start"]];
        Ok(Rewritten {
            vec3: start.arguments[0].ty,
            u32: start.arguments[2].ty,
            hooks,
            sites: Vec::new(),
            places: 0,
            touching: HashSet::new(),
            text: text.to_owned(),
        })
    }
}

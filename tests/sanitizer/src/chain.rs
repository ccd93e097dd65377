//! Where pointers into storage lead.

use naga::{AddressSpace, Arena, Expression, GlobalVariable, Handle, Module, Type, TypeInner};

/// The place that a pointer leads to, in the buffer of a binding.
pub(crate) struct Chain {
    pub(crate) binding: u32,
    /// What is known at run time only.
    pub(crate) index: Option<Handle<Expression>>,
    /// From index to index, in bytes.
    pub(crate) stride: u32,
    /// What comes on top, in bytes.
    pub(crate) offset: u32,
    ty: Handle<Type>,
    /// The bytes of a component of a vector.
    component: Option<u32>,
}

impl Chain {
    /// Where a pointer leads; `None`, if not into storage.
    ///
    /// # Errors
    ///
    /// A record has one index: an array of arrays, or a component that is found at run time, would need
    /// two.
    pub(crate) fn of(
        module: &Module,
        expressions: &Arena<Expression>,
        pointer: Handle<Expression>,
    ) -> Result<Option<Chain>, String> {
        let (base, index, part) = match expressions[pointer] {
            Expression::GlobalVariable(handle) => return Ok(Chain::global(module, handle)),
            Expression::Access { base, index } => (base, Some(index), 0),
            Expression::AccessIndex { base, index } => (base, None, index),
            _ => return Ok(None),
        };
        let Some(chain) = Chain::of(module, expressions, base)? else {
            return Ok(None);
        };
        match index {
            Some(index) => chain.element(module, index).map(Some),
            None => chain.part(module, part).map(Some),
        }
    }

    pub(crate) fn is_atomic(&self, module: &Module) -> bool {
        matches!(module.types[self.ty].inner, TypeInner::Atomic(_))
    }

    /// The bytes of what lies there.
    pub(crate) fn bytes(&self, module: &Module) -> u32 {
        let all = || module.types[self.ty].inner.size(module.to_ctx());
        self.component.unwrap_or_else(all)
    }

    fn global(module: &Module, handle: Handle<GlobalVariable>) -> Option<Chain> {
        let variable = &module.global_variables[handle];
        let is_storage = matches!(variable.space, AddressSpace::Storage { .. });
        let binding = variable.binding.filter(|_| is_storage)?;
        Some(Chain {
            binding: binding.binding,
            ty: variable.ty,
            index: None,
            stride: 0,
            offset: 0,
            component: None,
        })
    }

    /// An element of an array.
    fn element(self, module: &Module, index: Handle<Expression>) -> Result<Chain, String> {
        match (&module.types[self.ty].inner, self.index) {
            (&TypeInner::Array { base, stride, .. }, None) => Ok(Chain {
                ty: base,
                index: Some(index),
                stride,
                ..self
            }),
            _ => Err("an access with two indices".to_owned()),
        }
    }

    /// A part whose number is known.
    fn part(self, module: &Module, index: u32) -> Result<Chain, String> {
        match &module.types[self.ty].inner {
            TypeInner::Struct { members, .. } => {
                let member = &members[index as usize];
                Ok(Chain {
                    ty: member.ty,
                    offset: self.offset + member.offset,
                    ..self
                })
            }
            &TypeInner::Array { base, stride, .. } => Ok(Chain {
                ty: base,
                offset: self.offset + index * stride,
                ..self
            }),
            TypeInner::Vector { scalar, .. } => Ok(Chain {
                offset: self.offset + index * u32::from(scalar.width),
                component: Some(u32::from(scalar.width)),
                ..self
            }),
            other => Err(format!("a part of {other:?}")),
        }
    }
}

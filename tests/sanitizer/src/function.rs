//! Rewriting one function.

use naga::{
    Barrier, Binding, Block, BuiltIn, Expression, Function, FunctionArgument, Handle, Literal,
    Module, Range, Span, Statement, SwitchCase, Type,
};

use crate::chain::Chain;
use crate::rewritten::Rewritten;
use crate::site::{Kind, Site};

/// Rewrites one function.
pub(crate) struct Rewriter<'a> {
    module: &'a Module,
    all: &'a mut Rewritten,
    function: &'a mut Function,
    name: String,
    is_entry: bool,
    touches: bool,
}

impl<'a> Rewriter<'a> {
    pub(crate) fn new(
        module: &'a Module,
        all: &'a mut Rewritten,
        function: &'a mut Function,
        name: String,
    ) -> Self {
        Rewriter {
            module,
            all,
            function,
            name,
            is_entry: false,
            touches: false,
        }
    }

    /// Rewrites it, as an entry point if a workgroup has so many invocations. Says whether it touches
    /// storage.
    pub(crate) fn rewrite(mut self, workgroup: Option<u32>) -> Result<bool, String> {
        self.is_entry = workgroup.is_some();
        let body = std::mem::take(&mut self.function.body);
        let body = self.block(body)?;
        let mut whole = Block::new();
        if let Some(size) = workgroup {
            let arguments = [
                self.argument(BuiltIn::WorkGroupId, self.all.vec3),
                self.argument(BuiltIn::NumWorkGroups, self.all.vec3),
                self.argument(BuiltIn::LocalInvocationIndex, self.all.u32),
                self.literal(size),
            ];
            self.call(&mut whole, "trace_start", arguments.to_vec());
        }
        whole.extend_block(body);
        self.function.body = whole;
        Ok(self.touches)
    }

    /// The argument of an entry point with this builtin, which it gets if it has none.
    fn argument(&mut self, builtin: BuiltIn, ty: Handle<Type>) -> Handle<Expression> {
        let binding = Some(Binding::BuiltIn(builtin));
        let arguments = &mut self.function.arguments;
        let known = arguments.iter().position(|a| a.binding == binding);
        let number = known.unwrap_or_else(|| {
            arguments.push(FunctionArgument {
                name: None,
                ty,
                binding,
            });
            arguments.len() - 1
        });
        let argument = Expression::FunctionArgument(number as u32);
        let expressions = &mut self.function.expressions;
        expressions.fetch_or_append(argument, Span::UNDEFINED)
    }

    fn literal(&mut self, value: u32) -> Handle<Expression> {
        let literal = Expression::Literal(Literal::U32(value));
        self.function.expressions.append(literal, Span::UNDEFINED)
    }

    fn call(&self, block: &mut Block, hook: &str, arguments: Vec<Handle<Expression>>) {
        let call = Statement::Call {
            function: self.all.hooks[hook],
            arguments,
            result: None,
        };
        block.push(call, Span::UNDEFINED);
    }

    fn block(&mut self, block: Block) -> Result<Block, String> {
        let mut out = Block::new();
        for (statement, span) in block.span_into_iter() {
            self.statement(statement, span, &mut out)?;
        }
        Ok(out)
    }

    fn statement(
        &mut self,
        statement: Statement,
        span: Span,
        out: &mut Block,
    ) -> Result<(), String> {
        let rewritten = match statement {
            Statement::Emit(range) => return self.emit(range, out),
            Statement::Store { pointer, .. } => {
                self.access(pointer, Kind::Write, out)?;
                statement
            }
            Statement::Atomic { pointer, .. } => {
                self.access(pointer, Kind::Both, out)?;
                statement
            }
            Statement::Call { function, .. } if self.all.touching.contains(&function) => {
                return self.enter(statement, span, out);
            }
            Statement::Return { .. } if self.is_entry => {
                self.call(out, "trace_end", Vec::new());
                statement
            }
            Statement::ControlBarrier(barrier) => {
                out.push(statement, span);
                let storage = self.literal(u32::from(barrier.contains(Barrier::STORAGE)));
                self.call(out, "trace_barrier", vec![storage]);
                return Ok(());
            }
            nested => self.nested(nested)?,
        };
        out.push(rewritten, span);
        Ok(())
    }

    /// Rewrites the blocks of a statement that has some.
    fn nested(&mut self, statement: Statement) -> Result<Statement, String> {
        Ok(match statement {
            Statement::Block(block) => Statement::Block(self.block(block)?),
            Statement::If {
                condition,
                accept,
                reject,
            } => Statement::If {
                condition,
                accept: self.block(accept)?,
                reject: self.block(reject)?,
            },
            Statement::Switch { selector, cases } => {
                let rewrite = |case: SwitchCase| {
                    let body = self.block(case.body)?;
                    Ok(SwitchCase { body, ..case })
                };
                let cases = cases.into_iter().map(rewrite);
                let cases = cases.collect::<Result<_, String>>()?;
                Statement::Switch { selector, cases }
            }
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => {
                let mut counted = Block::new();
                self.call(&mut counted, "trace_step", Vec::new());
                counted.extend_block(self.block(body)?);
                Statement::Loop {
                    body: counted,
                    continuing: self.block(continuing)?,
                    break_if,
                }
            }
            other => other,
        })
    }

    /// Emits expressions; before each load from storage, notes it.
    fn emit(&mut self, range: Range<Expression>, out: &mut Block) -> Result<(), String> {
        let mut from = None;
        let mut last = None;
        for handle in range {
            if let Expression::Load { pointer } = self.function.expressions[handle] {
                let mut noted = Block::new();
                self.access(pointer, Kind::Read, &mut noted)?;
                if !noted.is_empty() {
                    emit_range(from.take(), last, out);
                    out.extend_block(noted);
                }
            }
            from = from.or(Some(handle));
            last = Some(handle);
        }
        emit_range(from, last, out);
        Ok(())
    }

    /// Notes an access, if the pointer leads into storage.
    fn access(
        &mut self,
        pointer: Handle<Expression>,
        kind: Kind,
        out: &mut Block,
    ) -> Result<(), String> {
        let expressions = &self.function.expressions;
        let chain = Chain::of(self.module, expressions, pointer);
        let Some(chain) = chain.map_err(|why| format!("{}: {why}", self.name))? else {
            return Ok(());
        };
        self.touches = true;
        let number = self.all.sites.len() as u32;
        let place = expressions.get_span(pointer).to_range();
        let place = place.and_then(|range| self.all.text.get(range));
        self.all.sites.push(Site {
            binding: chain.binding,
            kind,
            is_atomic: chain.is_atomic(self.module),
            stride: chain.stride,
            offset: chain.offset,
            bytes: chain.bytes(self.module),
            function: self.name.clone(),
            place: place.unwrap_or_default().to_owned(),
        });
        let site = self.literal(number);
        let index = match chain.index {
            Some(index) => index,
            None => self.literal(0),
        };
        self.call(out, "trace_access", vec![site, index]);
        Ok(())
    }

    /// A call of a function that touches storage.
    fn enter(&mut self, call: Statement, span: Span, out: &mut Block) -> Result<(), String> {
        self.touches = true;
        self.all.places += 1;
        let place = self.literal(self.all.places);
        self.call(out, "trace_enter", vec![place]);
        out.push(call, span);
        self.call(out, "trace_leave", vec![place]);
        Ok(())
    }
}

fn emit_range(from: Option<Handle<Expression>>, last: Option<Handle<Expression>>, out: &mut Block) {
    if let (Some(from), Some(last)) = (from, last) {
        let range = Range::new_from_bounds(from, last);
        out.push(Statement::Emit(range), Span::UNDEFINED);
    }
}

//! A program in AMD's assembly, and the way of a wave through it.

use std::collections::{HashMap, HashSet};

use crate::instruction::{Class, Instruction};

/// Its instructions in the order of the text.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    instructions: Vec<Instruction<'a>>,
    labels: HashMap<&'a str, usize>,
}

impl<'a> Program<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let mut program = Program {
            instructions: Vec::new(),
            labels: HashMap::new(),
        };
        for line in text.lines() {
            let code = line.split(';').next().unwrap_or("").trim();
            if let Some(label) = code.strip_suffix(':') {
                program.labels.insert(label, program.instructions.len());
            } else if !code.is_empty() {
                let (name, operands) = code.split_once(' ').unwrap_or((code, ""));
                let operands = operands.trim();
                program.instructions.push(Instruction { name, operands });
            }
        }
        program
    }

    /// What a wave executes whose lanes agree: of every branch the first side, but the second where
    /// that alone loads. Each loop once, and the test at its head a second time. Branches on a bit are
    /// those on rules, none of which is set, and no flag is raised.
    pub(crate) fn path(&self) -> Vec<&Instruction<'a>> {
        let mut path = Vec::new();
        let mut at = 0;
        let mut leaving: Option<usize> = None; // the end of the loop whose head is tested again
        let mut repeated = HashSet::new(); // the ends of the loops that were gone back in
        let mut second = None; // where the second side starts of what was left out
        while let Some(instruction) = self.instructions.get(at) {
            path.push(instruction);
            at += 1;
            if instruction.name == "s_endpgm" {
                break;
            }
            let Some(&target) = self.labels.get(instruction.operands) else {
                continue;
            };
            if let Some(taken) = self.by_rule(at - 1, target) {
                if taken {
                    at = target;
                }
            } else if target < at {
                if leaving.is_none() && repeated.insert(at) {
                    leaving = Some(at);
                    at = target;
                } else {
                    leaving = None;
                }
            } else if !instruction.is_conditional() {
                at = target;
            } else if let Some(end) = leaving {
                if target >= end {
                    leaving = None;
                    at = target;
                }
            } else if self.loads_second(at, target) {
                second = Some(target);
                at = target;
            } else if let Some(start) = self.second_side(at - 1)
                && second != Some(start)
            {
                at = target;
            }
        }
        path
    }

    /// Whether a branch on a rule is taken if nothing asks for that; `None` for others.
    fn by_rule(&self, branch: usize, target: usize) -> Option<bool> {
        let before = &self.instructions[..branch];
        let condition = before.iter().rposition(Instruction::sets_condition)?;
        let on_bit = is_bit(&before[..=condition]);
        let side = self.instructions.get(branch..target).unwrap_or_default();
        match self.instructions[branch].name {
            "s_cbranch_scc0" if on_bit => Some(true),
            "s_cbranch_scc1" if on_bit => Some(false),
            "s_cbranch_execz" if side.iter().take(8).any(raises_flag) => Some(true),
            _ => None,
        }
    }

    /// Whether of a branch, whose sides start here, the second loads and the first does nothing to
    /// memory.
    fn loads_second(&self, first: usize, second: usize) -> bool {
        let mut rest = second..self.instructions.len();
        let Some(branch) = rest.find(|&at| self.instructions[at].is_conditional()) else {
            return false;
        };
        let end = self.labels.get(self.instructions[branch].operands);
        let (Some(start), Some(&end)) = (self.second_side(branch), end) else {
            return false;
        };
        let memory = |from: usize, to: usize| {
            let side = self.instructions[from..to.max(from)].iter();
            side.map(Instruction::class)
                .find(|class| matches!(class, Class::Load(_) | Class::Store(_)))
        };
        start == second
            && matches!(memory(branch, end), Some(Class::Load(_)))
            && memory(first, second).is_none()
    }

    /// Where the block starts that a branch ends, if it leads past the second side of another: there,
    /// the lanes are taken that were not in the first.
    fn second_side(&self, branch: usize) -> Option<usize> {
        if self.instructions[branch].name != "s_cbranch_execz" {
            return None;
        }
        let before = &self.instructions[..branch];
        let at = before.iter().rposition(|i| !idle(i))?;
        let complement = &before[at];
        let complements = [
            "s_and_not1_b32",
            "s_and_not1_b64",
            "s_andn2_b32",
            "s_andn2_b64",
        ];
        let mut operands = complement.operands.split(',').map(str::trim);
        let of_exec =
            operands.next()?.starts_with("exec") && operands.next_back()?.starts_with("exec");
        let start = before[..at]
            .iter()
            .rposition(|i| !idle(i))
            .map_or(0, |i| i + 1);
        (complements.contains(&complement.name) && of_exec).then_some(start)
    }
}

/// Whether the condition that the last of these instructions sets is a bit of a word. Older compilers mask
/// the word, keep the condition in a register, and compare that with 0.
fn is_bit(instructions: &[Instruction<'_>]) -> bool {
    let Some((last, before)) = instructions.split_last() else {
        return false;
    };
    let mut operands = last.operands.split(',').map(str::trim);
    let (first, second) = (operands.next(), operands.next());
    match last.name {
        "s_bitcmp1_b32" => true,
        "s_and_b32" => ["8", "16", "32"].map(Some).contains(&operands.next()),
        "s_cmp_lg_i32" | "s_cmp_lg_u32" if second == Some("0") => {
            // Of the condition itself, or of a register that has it or whose value set it.
            let writes = |i: &Instruction<'_>| i.operands.split(',').next() == first;
            let (to, kept) = match before.iter().rposition(writes) {
                _ if first == Some("src_scc") => (before.len(), true),
                Some(at) => (at + 1, before[at].operands.ends_with("src_scc")),
                None => return false,
            };
            let condition = before[..to].iter().rposition(Instruction::sets_condition);
            condition.is_some_and(|at| (kept || at + 1 == to) && is_bit(&before[..=at]))
        }
        _ => false,
    }
}

/// Whether an instruction has the value that `shaders/geometry.wgsl` raises the flag with.
fn raises_flag(instruction: &Instruction<'_>) -> bool {
    instruction.operands.ends_with("0x7261697d")
}

/// Whether an instruction only passes time.
fn idle(instruction: &Instruction<'_>) -> bool {
    ["s_delay_alu", "s_waitcnt_depctr", "s_nop"].contains(&instruction.name)
}

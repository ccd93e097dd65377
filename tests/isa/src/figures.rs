//! What a wave does on its way, and when it waits.

use std::collections::VecDeque;

use crate::instruction::{Class, Generation, Instruction};
use crate::program::Program;

/// What one wave does, if no loop is repeated. Bytes are those of a lane.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    pub(crate) valu: u32,
    /// Of these, multiplications of 32 bits, which take four times as long.
    pub(crate) quarter: u32,
    /// Of these, parts of divisions.
    pub(crate) divisions: u32,
    pub(crate) salu: u32,
    pub(crate) smem: u32,
    /// The bytes of each load and each store of lanes.
    pub(crate) loads: Vec<u32>,
    pub(crate) stores: Vec<u32>,
    /// Cycles that a SIMD issues vector arithmetic for.
    pub(crate) valu_cycles: u32,
    /// Bytes that are under way at once, at most.
    pub(crate) in_flight: u32,
    /// How often it waits for memory in turn: for loads of lanes, and of scalars.
    pub(crate) rounds: u32,
    pub(crate) scalar_rounds: u32,
}

impl Figures {
    pub(crate) fn new(assembly: &str, generation: Generation, lanes: u32) -> Self {
        let program = Program::read(assembly);
        let path = program.path();
        let mut figures = Figures::default();
        for instruction in &path {
            match instruction.class() {
                Class::Vector => {
                    figures.valu += 1;
                    figures.quarter += u32::from(instruction.is_quarter());
                    figures.divisions += u32::from(instruction.is_division());
                    figures.valu_cycles += instruction.cycles(generation, lanes);
                }
                Class::Scalar => figures.salu += 1,
                Class::ScalarLoad => figures.smem += 1,
                Class::Load(bytes) => figures.loads.push(bytes),
                Class::Store(bytes) => figures.stores.push(bytes),
                Class::Control => {}
            }
        }
        figures.wait(&path, generation);
        figures
    }

    /// Goes along the path with loads that all take equally long, and arithmetic that takes no time.
    fn wait(&mut self, path: &[&Instruction<'_>], generation: Generation) {
        // Of each access under way: when it arrives, and its bytes.
        let mut under_way: VecDeque<(u32, u32)> = VecDeque::new();
        let mut scalar: VecDeque<u32> = VecDeque::new();
        for instruction in path {
            match instruction.class() {
                Class::Load(bytes) => {
                    under_way.push_back((self.rounds + 1, bytes));
                    let late = under_way.iter().filter(|(at, _)| *at > self.rounds);
                    let bytes = late.map(|(_, bytes)| bytes).sum();
                    self.in_flight = self.in_flight.max(bytes);
                }
                // Up to GCN, stores are among what is counted.
                Class::Store(_) if generation == Generation::Gcn => {
                    under_way.push_back((self.rounds + 1, 0));
                }
                Class::ScalarLoad => scalar.push_back(self.scalar_rounds + 1),
                Class::Control if instruction.name == "s_waitcnt" => {
                    let left = counter(instruction.operands, "vmcnt(");
                    while left.is_some_and(|left| under_way.len() > left) {
                        let (arrival, _) = under_way.pop_front().unwrap_or_default();
                        self.rounds = self.rounds.max(arrival);
                    }
                    let left = counter(instruction.operands, "lgkmcnt(");
                    while left.is_some_and(|left| scalar.len() > left) {
                        let arrival = scalar.pop_front().unwrap_or_default();
                        self.scalar_rounds = self.scalar_rounds.max(arrival);
                    }
                }
                _ => {}
            }
        }
    }

    /// How many of some accesses are of so many bytes.
    pub(crate) fn of_width(accesses: &[u32], bytes: u32) -> usize {
        accesses.iter().filter(|&&b| b == bytes).count()
    }

    /// Bytes that a lane stores.
    pub(crate) fn stored(&self) -> u32 {
        self.stores.iter().sum()
    }
}

fn counter(operands: &str, name: &str) -> Option<usize> {
    let (_, rest) = operands.split_once(name)?;
    rest.split(')').next()?.parse().ok()
}

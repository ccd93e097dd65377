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
    pub(crate) waits: u32,
    pub(crate) scalar_waits: u32,
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
                    under_way.push_back((self.waits + 1, bytes));
                    let late = under_way.iter().filter(|(at, _)| *at > self.waits);
                    let bytes = late.map(|(_, bytes)| bytes).sum();
                    self.in_flight = self.in_flight.max(bytes);
                }
                // Up to GCN, stores are among what is counted.
                Class::Store(_) if generation == Generation::Gcn => {
                    under_way.push_back((self.waits + 1, 0));
                }
                Class::ScalarLoad => scalar.push_back(self.scalar_waits + 1),
                Class::Control if instruction.name == "s_waitcnt" => {
                    let left = counter(instruction.operands, "vmcnt(");
                    while left.is_some_and(|left| under_way.len() > left) {
                        let (arrival, _) = under_way.pop_front().unwrap_or_default();
                        self.waits = self.waits.max(arrival);
                    }
                    let left = counter(instruction.operands, "lgkmcnt(");
                    while left.is_some_and(|left| scalar.len() > left) {
                        let arrival = scalar.pop_front().unwrap_or_default();
                        self.scalar_waits = self.scalar_waits.max(arrival);
                    }
                }
                _ => {}
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(text: &str, generation: Generation) -> Figures {
        Figures::new(text, generation, 64)
    }

    #[test]
    fn instructions_are_counted_by_class() {
        let text = "BB0:
            s_load_dwordx4 s[0:3], s[2:3], 0x0 ; f4080001 fa000000
            s_waitcnt lgkmcnt(0)
            v_mul_lo_u32 v0, v0, s0
            v_add_nc_u32 v0, v0, s1
            v_rcp_iflag_f32 v1, v0
            s_add_u32 s0, s0, s1
            buffer_load_dwordx4 v[4:7], v0, s[0:3], 0 offen
            s_waitcnt vmcnt(0)
            buffer_store_dwordx4 v[4:7], v0, s[0:3], 0 offen
            s_endpgm";
        let f = figures(text, Generation::Rdna2);
        assert_eq!((f.valu, f.quarter, f.divisions), (3, 1, 1));
        assert_eq!((f.salu, f.smem), (1, 1));
        assert_eq!((&f.loads[..], &f.stores[..]), (&[16][..], &[16][..]));
        assert_eq!(f.valu_cycles, 2 * (4 + 1 + 4));
        assert_eq!((f.waits, f.scalar_waits, f.in_flight), (1, 1, 16));
    }

    #[test]
    fn loads_that_wait_in_turn_are_told_from_those_under_way_together() {
        let load = "buffer_load_dword v0, v0, s[0:3], 0 offen\n";
        let wait = "s_waitcnt vmcnt(0)\n";
        let waits = |text: &str| figures(text, Generation::Rdna2).waits;
        assert_eq!(waits(&format!("{load}{load}{wait}")), 1);
        assert_eq!(waits(&format!("{load}{wait}{load}{wait}")), 2);
        assert_eq!(
            waits(&format!("{load}{load}s_waitcnt vmcnt(1)\n{load}{wait}")),
            2
        );
    }

    #[test]
    fn a_loop_is_taken_once_and_its_test_twice() {
        let text = "BB0:
            BB1:
            s_cmp_lt_u32 s0, s1
            s_cbranch_scc0 BB3
            BB2:
            v_mov_b32 v0, v1
            s_branch BB1
            BB3:
            s_endpgm";
        let f = figures(text, Generation::Rdna2);
        assert_eq!((f.valu, f.salu), (1, 2));
    }

    #[test]
    fn what_only_a_rule_asks_for_is_passed_by() {
        let after = |test: &str, name: &str| {
            figures(
                &format!(
                    "BB0:
                    {test}
                    {name} BB2
                    BB1:
                    v_mov_b32 v0, v1
                    s_branch BB1
                    BB2:
                    s_endpgm"
                ),
                Generation::Rdna2,
            )
        };
        let masked = "s_and_b32 s1, s0, 8
            v_mov_b32 v0, v1
            s_cmp_lg_i32 s1, 0";
        assert_eq!(after("s_bitcmp1_b32 s0, 3", "s_cbranch_scc0").valu, 0);
        assert_eq!(after("s_bitcmp1_b32 s0, 3", "s_cbranch_scc1").valu, 2);
        assert_eq!(after(masked, "s_cbranch_scc0").valu, 1);
        let kept = "s_and_b32 s1, s0, 8
            s_mov_b32 s1, src_scc
            s_add_u32 s2, s3, s4
            s_cmp_lg_i32 s1, 0";
        assert_eq!(after(kept, "s_cbranch_scc0").valu, 0);
        assert_eq!(after("s_cmp_lg_i32 s1, 0", "s_cbranch_scc0").valu, 2);
    }

    #[test]
    fn of_a_branch_of_lanes_one_side_is_taken() {
        let text = "BB0:
            s_and_saveexec_b64 s[0:1], vcc
            s_cbranch_execz BB2
            BB1:
            v_mov_b32 v0, v1
            BB2:
            s_andn2_b64 exec, s[0:1], exec
            s_cbranch_execz BB4
            BB3:
            v_mul_lo_u32 v0, v0, v1
            BB4:
            s_endpgm";
        let f = figures(text, Generation::Rdna2);
        assert_eq!((f.valu, f.quarter), (1, 0));
    }
}

//! An instruction of AMD's GPUs: what it is, and how long it takes to issue.

/// Which rules an instruction is costed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    /// 16 lanes a cycle.
    Gcn,
    /// 32 lanes a cycle.
    Rdna2,
    /// As `Rdna2`; some instructions take both halves of a wave of 64 at once.
    Rdna3,
}

#[derive(Debug)]
pub(crate) struct Instruction<'a> {
    pub(crate) name: &'a str,
    pub(crate) operands: &'a str,
}

/// What an instruction does. Bytes are those of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Vector,
    Scalar,
    ScalarLoad,
    Load(u32),
    Store(u32),
    /// Branches, waits and the like.
    Control,
}

impl Instruction<'_> {
    /// Whether it sets the condition that scalar branches go by.
    pub(crate) fn sets_condition(&self) -> bool {
        let others = ["s_mov", "s_brev", "s_cselect", "s_mul", "s_pack", "s_bfm"];
        self.class() == Class::Scalar && !self.is(&others)
    }

    pub(crate) fn class(&self) -> Class {
        let name = self.name;
        let control = [
            "s_barrier",
            "s_branch",
            "s_cbranch",
            "s_clause",
            "s_code_end",
            "s_delay",
            "s_endpgm",
            "s_inst_prefetch",
            "s_nop",
            "s_sendmsg",
            "s_waitcnt",
        ];
        if name.starts_with("v_") {
            Class::Vector
        } else if self.is(&["s_load", "s_buffer_load"]) {
            Class::ScalarLoad
        } else if let Some(memory) = memory(name) {
            memory
        } else if name.starts_with("s_") && !self.is(&control) {
            Class::Scalar
        } else {
            Class::Control
        }
    }

    pub(crate) fn is_conditional(&self) -> bool {
        self.name.starts_with("s_cbranch")
    }

    /// A multiplication of 32 bits, which takes four times as long as others.
    pub(crate) fn is_quarter(&self) -> bool {
        self.is(&[
            "v_mul_lo_u32",
            "v_mul_lo_i32",
            "v_mul_hi_u32",
            "v_mul_hi_i32",
        ])
    }

    /// Part of a division of integers, for which there is no instruction.
    pub(crate) fn is_division(&self) -> bool {
        self.is(&["v_rcp"])
    }

    /// The cycles that it takes a SIMD, for a wave of so many lanes. As ACO has it (`get_perf_info`
    /// in Mesa's src/amd/compiler/aco_statistics.cpp).
    pub(crate) fn cycles(&self, generation: Generation, lanes: u32) -> u32 {
        let half = self.is(&[
            "v_mad_u64_u32",
            "v_mad_i64_i32",
            "v_lshlrev_b64",
            "v_lshrrev_b64",
            "v_ashrrev_i64",
        ]);
        let transcendental = self.is(&["v_rcp", "v_rsq", "v_sqrt", "v_exp", "v_log"]);
        let convert = self.is(&["v_cvt_f32", "v_cvt_u32_f32", "v_cvt_i32_f32"]);
        let rate = match generation {
            _ if self.is_quarter() => 4,
            Generation::Gcn if transcendental || convert => 4,
            _ if half => 2,
            Generation::Rdna2 | Generation::Rdna3 if transcendental => 4,
            _ => 1,
        };
        match generation {
            Generation::Gcn => 4 * rate,
            Generation::Rdna3 if lanes == 64 && self.takes_both_halves() => rate,
            Generation::Rdna2 | Generation::Rdna3 => rate * lanes / 32,
        }
    }

    /// Of the instructions in our programs, those in ACO's `is_dual_issue_capable`.
    fn takes_both_halves(&self) -> bool {
        self.is(&[
            "v_mov_b32",
            "v_cndmask_b32",
            "v_fma_f32",
            "v_fmac_f32",
            "v_fmaak_f32",
            "v_fmamk_f32",
            "v_mul_f32",
            "v_add_f32",
            "v_sub_f32",
            "v_subrev_f32",
            "v_max_f32",
            "v_min_f32",
        ])
    }

    fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.name.starts_with(name))
    }
}

fn memory(name: &str) -> Option<Class> {
    let prefixes = ["buffer_", "global_", "flat_", "scratch_"];
    let rest = prefixes.iter().find_map(|p| name.strip_prefix(p))?;
    let (what, width) = rest.split_once('_')?;
    let bytes = match width {
        "dwordx4" | "b128" => 16,
        "dwordx3" | "b96" => 12,
        "dwordx2" | "b64" => 8,
        _ => 4,
    };
    match what {
        "load" => Some(Class::Load(bytes)),
        "store" => Some(Class::Store(bytes)),
        "atomic" => Some(Class::Load(4)),
        _ => None,
    }
}

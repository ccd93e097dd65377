//! The AMD cards that the figures are for.

use crate::figures::Figures;
use crate::instruction::Generation;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Card {
    /// As the driver has it in the name of the device.
    family: &'static str,
    pub(crate) generation: Generation,
    compute_units: f64,
    /// Of a compute unit.
    simds: f64,
    clock: f64,
    /// Bytes per second.
    bandwidth: f64,
    /// Vector registers of 64 lanes that a SIMD has, and of what they are given out multiples.
    registers: f64,
    granule: f64,
    /// Waves that a SIMD holds.
    waves: f64,
}

const CARDS: [Card; 3] = [
    // RX 7900 XTX
    Card {
        family: "NAVI31",
        generation: Generation::Rdna3,
        compute_units: 96.0,
        simds: 2.0,
        clock: 2.5e9,
        bandwidth: 960e9,
        registers: 768.0,
        granule: 12.0,
        waves: 16.0,
    },
    // RX 6900 XT
    Card {
        family: "NAVI21",
        generation: Generation::Rdna2,
        compute_units: 80.0,
        simds: 2.0,
        clock: 2.25e9,
        bandwidth: 512e9,
        registers: 512.0,
        granule: 8.0,
        waves: 16.0,
    },
    // Ryzen 4000
    Card {
        family: "RENOIR",
        generation: Generation::Gcn,
        compute_units: 8.0,
        simds: 4.0,
        clock: 2.1e9,
        bandwidth: 51e9,
        registers: 256.0,
        granule: 4.0,
        waves: 10.0,
    },
];

impl Card {
    /// By the name of the device.
    pub(crate) fn of(name: &str) -> Option<Card> {
        CARDS.into_iter().find(|card| name.contains(card.family))
    }

    /// Waves of a SIMD, with so many lanes and so many registers each.
    pub(crate) fn occupancy(&self, lanes: u32, registers: f64) -> f64 {
        let narrower = 64.0 / f64::from(lanes);
        let granule = self.granule * narrower;
        let taken = (registers.max(1.0) / granule).ceil() * granule;
        (self.registers * narrower / taken).floor().min(self.waves)
    }

    /// Cycles in which memory moves so many bytes for each lane of a wave, at its SIMD's share of
    /// the bandwidth.
    pub(crate) fn memory_cycles(&self, bytes: f64, lanes: u32) -> f64 {
        let per_cycle = self.bandwidth / (self.compute_units * self.simds * self.clock);
        bytes * f64::from(lanes) / per_cycle
    }

    /// KiB under way in a compute unit, if all its waves are where they have most under way.
    pub(crate) fn in_flight(&self, figures: &Figures, lanes: u32, waves: f64) -> f64 {
        waves * self.simds * f64::from(figures.in_flight * lanes) / 1024.0
    }
}

//! Order: a thousand steps in one program, burn's operators and ours, with burn's results.

use crate::kit::{number, places};
use crate::steps::Chain;

#[test]
fn a_thousand_steps_agree_with_the_host() {
    let (steps, chains) = (1000, number("WGPU_GATHER_BURN_CHAINS", 2));
    // Mostly nothing is read for long, so that queues and fusion have their way. 1 finds the step.
    let every = number("WGPU_GATHER_BURN_EVERY", 250) as usize;
    for place in places() {
        for seed in 1..=chains {
            let mut chain = Chain::new(place, place.gathers(), seed);
            for step in 1..=steps {
                chain.step();
                if step % every == 0 {
                    chain.check(step);
                }
            }
            println!(
                "{}: {steps} steps agree, {} of them ours",
                place.api, chain.ours
            );
        }
    }
}

/// Planted: the comparison reports a tensor that is another.
#[test]
fn a_wrong_element_is_seen() {
    let place = &places()[0];
    let mut chain = Chain::new(place, place.gathers(), 1);
    assert!(chain.floats[0].agree());
    let wrong = chain.floats[0].device.clone();
    chain.floats[0].device = wrong.slice_fill([3..4, 4..5], 12345.0);
    assert!(!chain.floats[0].agree());
}

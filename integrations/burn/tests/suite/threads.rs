//! Several threads on one device, each with a stream of burn's own; tensors go between them.

use std::sync::mpsc::channel;

use crate::kit::{number, places};
use crate::pairs::Pair;
use crate::steps::Chain;

#[test]
fn threads_have_chains_of_their_own() {
    let threads = number("WGPU_GATHER_BURN_THREADS", 4);
    for place in places() {
        // One engine for all of them.
        let gathers = place.gathers();
        std::thread::scope(|scope| {
            for seed in 0..threads {
                let gathers = gathers.clone();
                scope.spawn(move || {
                    let mut chain = Chain::new(place, gathers, 100 + seed);
                    (0..250).for_each(|_| chain.step());
                    chain.check(250);
                });
            }
        });
    }
}

/// A thread makes tensors, the next goes on with them at once: what is queued for the first is made
/// before the second reads it.
#[test]
fn tensors_go_from_thread_to_thread() {
    for place in places() {
        let gathers = place.gathers();
        let (send, receive) = channel::<Vec<Pair<burn::tensor::Float>>>();
        let maker = gathers.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut chain = Chain::new(place, maker, 7);
                for _ in 0..40 {
                    (0..5).for_each(|_| chain.step());
                    send.send(chain.floats.clone())
                        .expect("the other thread goes on");
                }
            });
            scope.spawn(move || {
                let mut chain = Chain::new(place, gathers, 8);
                for floats in receive {
                    chain.floats = floats;
                    (0..5).for_each(|_| chain.step());
                    chain.check(0);
                }
            });
        });
    }
}

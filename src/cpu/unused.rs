//! Memory of large outputs that were dropped, for outputs to come.
//!
//! Allocators give large memory back to the system, and the system clears what it hands out page by
//! page, which takes as long as a gather into it. So the outputs of
//! [`Executor::Cpu`](crate::Executor::Cpu) leave their memory here, as those on a GPU leave their
//! buffers to their engine. Outputs of 64 and 128 MiB, each dropped before the next, took 1.4 to 2.2
//! times as long without (x86-64, glibc, whose allocator keeps up to 32 MiB itself, and 2 cores).
//!
//! Telling the system that it may take the memory (`MADV_FREE`) cost more than it is worth: 1.2 to
//! 1.4 times as long for outputs of 4 to 16 MiB.

use std::any::{Any, TypeId};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::element::Element;

/// Smaller memory is left to the allocator, which has it at hand.
const FROM_BYTES: usize = 4 << 20;

/// The most that is kept unless the program says otherwise. 32 bits of addresses are too few to keep
/// any; in WebAssembly, memory never goes back to the system anyway.
const USUAL_MOST_BYTES: usize = if usize::BITS < 64 { 0 } else { 512 << 20 };

static UNUSED: Mutex<Unused> = Mutex::new(Unused::new(USUAL_MOST_BYTES));

fn lock() -> MutexGuard<'static, Unused> {
    UNUSED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of memory that dropped outputs of the CPU path left for later ones.
pub fn unused_bytes() -> usize {
    lock().bytes
}

/// Frees the memory that dropped outputs of the CPU path left; says how many bytes it had.
pub fn free_unused() -> usize {
    // Freed when nobody has to wait for the lock any more.
    let blocks = lock().shrink_to(0);
    blocks.iter().map(|block| block.bytes).sum()
}

/// Keeps at most `most_bytes` of the memory of dropped outputs from now on, for the whole process;
/// without this call, 512 MiB, and nothing where addresses have 32 bits. What is too much is freed,
/// the oldest first. 0 keeps nothing: each output then comes from the allocator and goes back to it.
pub fn keep_unused(most_bytes: usize) {
    let too_much = {
        let mut unused = lock();
        unused.most = most_bytes;
        unused.shrink_to(most_bytes)
    };
    drop(too_much);
}

/// Empty memory for `len` values, or up to an eighth more.
pub(super) fn take<T: 'static>(len: usize) -> Option<Vec<T>> {
    if len.saturating_mul(size_of::<T>()) < FROM_BYTES {
        return None;
    }
    lock().take(len)
}

/// Keeps the memory of an output that nobody needs any more.
pub(crate) fn give<T: Element>(mut values: Vec<T>) {
    let bytes = values.capacity() * size_of::<T>();
    // Outputs are made as bits: what has bits of another type serves none.
    if bytes < FROM_BYTES || TypeId::of::<T>() != TypeId::of::<T::Bits>() {
        return;
    }
    values.clear();
    let too_much = lock().give(values, bytes);
    drop(too_much);
}

struct Unused {
    /// The oldest first.
    blocks: VecDeque<Block>,
    bytes: usize,
    most: usize,
}

struct Block {
    bytes: usize,
    /// An empty `Vec`.
    memory: Box<dyn Any + Send>,
}

impl Unused {
    const fn new(most: usize) -> Self {
        Unused {
            blocks: VecDeque::new(),
            bytes: 0,
            most,
        }
    }

    fn take<T: 'static>(&mut self, len: usize) -> Option<Vec<T>> {
        let fits = |block: &Block| {
            let memory = block.memory.downcast_ref::<Vec<T>>();
            memory.is_some_and(|m| (len..=len.saturating_add(len / 8)).contains(&m.capacity()))
        };
        // The last one is the likeliest to be in a cache.
        let at = self.blocks.iter().rposition(fits)?;
        let block = self.blocks.remove(at)?;
        self.bytes -= block.bytes;
        block.memory.downcast().ok().map(|memory| *memory)
    }

    /// What is too much then, for the caller to free.
    fn give<T: Send + 'static>(&mut self, memory: Vec<T>, bytes: usize) -> Vec<Block> {
        self.bytes += bytes;
        self.blocks.push_back(Block {
            bytes,
            memory: Box::new(memory),
        });
        self.shrink_to(self.most)
    }

    fn shrink_to(&mut self, most: usize) -> Vec<Block> {
        let mut too_much = Vec::new();
        while self.bytes > most
            && let Some(block) = self.blocks.pop_front()
        {
            self.bytes -= block.bytes;
            too_much.push(block);
        }
        too_much
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Executor, Op, Rules, Tensor};

    fn memory<T>(capacity: usize) -> Vec<T> {
        Vec::with_capacity(capacity)
    }

    #[test]
    fn memory_serves_outputs_of_its_type_and_nearly_its_size() {
        let mut unused = Unused::new(1000);
        let given = memory::<u32>(90);
        let address = given.as_ptr();
        assert!(unused.give(given, 360).is_empty());
        assert!(unused.take::<u32>(79).is_none());
        assert!(unused.take::<u32>(91).is_none());
        assert!(unused.take::<i32>(90).is_none());
        assert!(unused.take::<u32>(usize::MAX).is_none());
        assert_eq!(unused.bytes, 360);
        let taken = unused.take::<u32>(80).unwrap();
        assert_eq!((taken.as_ptr(), taken.len()), (address, 0));
        assert_eq!(unused.bytes, 0);
        assert!(unused.take::<u32>(80).is_none());
    }

    #[test]
    fn the_last_given_is_the_first_taken_and_the_last_freed() {
        let mut unused = Unused::new(1000);
        let addresses = [400, 401, 402].map(|bytes| {
            let given = memory::<u8>(bytes);
            let address = given.as_ptr();
            let freed = unused.give(given, bytes);
            assert_eq!(freed.len(), usize::from(bytes == 402));
            address
        });
        assert_eq!(unused.bytes, 803);
        let taken = [(); 2].map(|()| unused.take::<u8>(390).unwrap());
        assert_eq!(taken[0].as_ptr(), addresses[2]);
        assert_eq!(taken[1].as_ptr(), addresses[1]);
        assert_eq!(unused.bytes, 0);
    }

    #[test]
    fn what_is_larger_than_the_limit_is_not_kept() {
        let mut unused = Unused::new(1000);
        assert_eq!(unused.give(memory::<u8>(1001), 1001).len(), 1);
        assert_eq!(unused.bytes, 0);
        assert!(unused.give(memory::<u8>(1000), 1000).is_empty());
        assert_eq!(unused.shrink_to(0).len(), 1);
        assert_eq!(unused.bytes, 0);
    }
    #[test]
    #[cfg_attr(miri, ignore = "5 MiB take minutes")]
    #[cfg(target_pointer_width = "64")]
    fn an_output_is_made_where_one_was_dropped() {
        // A type of its own, which no other test gathers.
        type Element = [u8; 5];
        let rows = 1 << 20;
        let table: Vec<Element> = (0..200).map(|n| [n, 1, 2, 3, 4]).collect();
        let table = Tensor::new(&[200], table).unwrap();
        let gather = |ids: Vec<u32>| {
            let ids = Tensor::new(&[rows], ids).unwrap();
            let (op, rules) = (Op::gather(0), Rules::TENSORFLOW_GPU);
            let made = Executor::Cpu.run_blocking(op, &rules, &table.view(), &ids.view());
            made.unwrap()
        };
        let first = gather(vec![7; rows]);
        let address = first.data().as_ptr();
        drop(first);
        assert!(unused_bytes() >= 5 * rows);
        let second = gather((0..rows as u32).map(|n| n % 256).collect());
        assert_eq!(second.data().as_ptr(), address);
        for (n, got) in second.data().iter().enumerate() {
            let id = (n % 256) as u8;
            assert_eq!(*got, if id < 200 { [id, 1, 2, 3, 4] } else { [0; 5] });
        }
        // What the caller takes is the caller's.
        let data = second.into_data();
        let third = gather(vec![8; rows]);
        assert_ne!(third.data().as_ptr(), address);
        assert_eq!(data[1], [1, 1, 2, 3, 4]);
        keep_unused(0);
        assert_eq!((unused_bytes(), free_unused()), (0, 0));
        drop(gather(vec![9; rows]));
        assert_eq!(unused_bytes(), 0);
        keep_unused(USUAL_MOST_BYTES);
    }
}

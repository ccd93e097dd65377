//! The values that were made last, kept to be used again.
//!
//! Used for the plans of an engine and for the launches of a plan.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;

/// At most so many values, the oldest first.
#[derive(Debug)]
pub(super) struct Recent<V> {
    capacity: usize,
    values: Mutex<VecDeque<V>>,
}

impl<V: Clone> Recent<V> {
    pub(super) fn new(capacity: usize) -> Self {
        Recent {
            capacity,
            values: Mutex::default(),
        }
    }

    /// The value that is wanted, made if it is not there.
    pub(super) fn get(
        &self,
        is_wanted: impl Fn(&V) -> bool,
        make: impl FnOnce() -> Result<V>,
    ) -> Result<V> {
        if let Some(found) = self.lock().iter().find(|&value| is_wanted(value)) {
            return Ok(found.clone());
        }
        // Made outside the lock: two threads may do so at once.
        let made = make()?;
        let mut values = self.lock();
        if values.len() == self.capacity {
            values.pop_front();
        }
        values.push_back(made.clone());
        Ok(made)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<V>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! A status: how many lookups are bad, and the first of them, counted on the device.
//!
//! Counting costs no synchronisation until the status is read. A tensor that is written to has statuses
//! of its own (`reports`), a recording of the caller has the one that it is given. `report` reads the
//! words.

mod report;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{BadIndices, Error, Result};
use crate::gpu::context::Context;
use crate::gpu::device::commands::Command;
use crate::gpu::device::pool::Owned;
use crate::gpu::device::turns::NUMBERS;
use crate::plan::Plan;
use crate::waiting::{PollMode, Waiting};
use report::{PLAN_WORD, bad_indices, bytes};

/// Counts the bad indices of recorded calls, under any rules: an index is bad if it lies outside its
/// axis, whatever the rules then make of it.
#[derive(Clone)]
pub struct Status(Arc<Inner>);

struct Inner {
    context: Arc<Context>,
    owned: Arc<Owned>,
    state: Mutex<State>,
}

/// What the host knows of a status.
#[derive(Debug, Default)]
struct State {
    /// The plans that count here, by the number that the device has for each.
    plans: Vec<Plan>,
    /// The most lookups that can have been bad.
    most: u64,
    /// Calls that were recorded, those of them that were submitted or given up, and how many of those a
    /// reading has found good.
    recorded: u64,
    settled: u64,
    read: u64,
    /// Whether any of them was submitted. Before that, what the buffer holds is not defined.
    is_begun: bool,
    /// Whether calls that the caller submits count in it, at any time.
    is_left: bool,
    /// Read from the device, and not told yet.
    found: Option<BadIndices>,
}

/// Where a call counts bad indices.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Counting {
    pub(in crate::gpu) status: Status,
    /// What the device calls the plan of the call.
    number: u32,
    /// Whether it counts on from earlier calls.
    goes_on: bool,
}

impl Status {
    /// A status for calls of `plan`. What its buffer holds is not defined.
    pub(in crate::gpu) fn new(context: &Arc<Context>, plan: &Plan) -> Result<Status> {
        Ok(Status(Arc::new(Inner {
            context: Arc::clone(context),
            owned: context.acquire("status", bytes(plan) as u64)?,
            state: Mutex::new(State {
                plans: vec![plan.clone()],
                ..State::default()
            }),
        })))
    }

    /// A status that the caller records with. It may be submitted when the status is gone, so its buffer
    /// serves no other.
    pub(in crate::gpu) fn shared(context: &Arc<Context>, plan: &Plan) -> Result<Status> {
        let status = Status::new(context, plan)?;
        status.owned().share();
        status.clear()?;
        Ok(status)
    }

    /// Counts calls of its first plan from zero.
    pub(in crate::gpu) fn afresh(&self) -> Counting {
        Counting {
            status: self.clone(),
            number: 0,
            goes_on: false,
        }
    }

    /// Counts on with a call of `plan`, if there is room for that.
    pub(in crate::gpu) fn going_on(&self, plan: &Plan) -> Option<Counting> {
        let mut state = self.lock();
        let known = state.plans.iter().position(|known| known == plan);
        let number = known.unwrap_or(state.plans.len());
        if number >= NUMBERS as usize || bytes(plan) as u64 > self.buffer().size() {
            return None;
        }
        if known.is_none() {
            state.plans.push(plan.clone());
        }
        Some(Counting {
            status: self.clone(),
            number: number as u32,
            goes_on: true,
        })
    }

    /// Refuses a recording of another plan.
    pub(in crate::gpu) fn check_plan(&self, plan: &Plan) -> Result<()> {
        match self.lock().plans[0] == *plan {
            true => Ok(()),
            false => Err(Error::OtherStatus { op: plan.op() }),
        }
    }

    /// To be called for each recording of its plan that the caller makes.
    pub(in crate::gpu) fn note_recording(&self) {
        self.afresh().note_recording();
    }

    /// A recording was submitted.
    pub(in crate::gpu) fn note_submitted(&self) {
        let mut state = self.lock();
        state.settled += 1;
        state.is_begun = true;
    }

    /// A recording never will be submitted.
    pub(in crate::gpu) fn note_given_up(&self) {
        self.lock().settled += 1;
    }

    /// Whether a recording was submitted.
    pub(in crate::gpu) fn is_begun(&self) -> bool {
        self.lock().is_begun
    }

    /// Whether the device may have counted since it was read.
    pub(in crate::gpu) fn has_news(&self) -> bool {
        let state = self.lock();
        state.is_left || (state.is_begun && state.settled > state.read)
    }

    /// Counts from zero again. Takes effect before what is submitted next.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    pub fn clear(&self) -> Result<()> {
        // Plans of more coordinates may count in it later.
        let zeros = vec![0; self.buffer().size() as usize];
        let context = &self.0.context;
        context.scoped("a status", || {
            context.queue.write_buffer(self.buffer(), 0, &zeros);
        })
    }

    /// Whether it need not be read again.
    pub(in crate::gpu) fn is_clean(&self) -> bool {
        let state = self.lock();
        state.found.is_none() && state.read == state.recorded && !state.is_left
    }

    pub(in crate::gpu) fn buffer(&self) -> &wgpu::Buffer {
        self.owned().buffer()
    }

    pub(in crate::gpu) fn owned(&self) -> &Arc<Owned> {
        &self.0.owned
    }

    /// The bytes that are read.
    pub(in crate::gpu) fn bytes(&self) -> usize {
        let state = self.lock();
        state.plans.iter().map(bytes).max().unwrap_or(0)
    }

    /// Waits for what was submitted, and reads how many indices were bad and which was the first, in
    /// row-major order of the indices; `None`, if all were good. It goes on counting:
    /// [`Status::clear`] starts anew, as `encode` of a binding does.
    ///
    /// # Errors
    ///
    /// [`Error::StatusUnused`] if nothing was recorded with it. [`Error::ImpossibleReport`] if the
    /// device says what these calls cannot have counted; else the errors of the device.
    pub fn read(&self) -> Waiting<'_, Result<Option<BadIndices>>> {
        Waiting::new(|poll_mode| self.read_driven(poll_mode))
    }

    pub(in crate::gpu) async fn read_driven(
        &self,
        poll_mode: PollMode,
    ) -> Result<Option<BadIndices>> {
        if self.lock().recorded == 0 {
            return Err(Error::StatusUnused);
        }
        let words = self.words(poll_mode).await?;
        self.counted(&words)
    }

    /// Keeps what its words say, which were read after so many recordings had been settled; if indices
    /// were bad, it counts from zero from then on. [`Status::tell`] tells of it: a future may be dropped
    /// at any await, a report may not.
    pub(in crate::gpu) async fn look(
        &self,
        words: &[u32],
        settled: u64,
        poll_mode: PollMode,
    ) -> Result<()> {
        if let Some(bad) = self.counted(words)? {
            self.lock().found = Some(bad);
            let words = self.moved(poll_mode).await?;
            if let Some(bad) = self.counted(&words)? {
                self.lock().found = Some(bad);
            }
        }
        let mut state = self.lock();
        state.read = state.read.max(settled);
        Ok(())
    }

    /// What was found, once.
    pub(in crate::gpu) fn tell(&self) -> Option<BadIndices> {
        self.lock().found.take()
    }

    /// How many recordings were settled so far.
    pub(in crate::gpu) fn settled(&self) -> u64 {
        self.lock().settled
    }

    /// Reads its words and clears them, in one submission: nothing is counted in between.
    async fn moved(&self, poll_mode: PollMode) -> Result<Vec<u32>> {
        let context = &self.0.context;
        let bytes = self.bytes() as u64;
        let copy = context.acquire("report", bytes)?;
        let moved = self.copy_to(copy.buffer(), 0);
        context.submit_all("a status", &[moved, Command::Clear(self.buffer().clone())])?;
        self.words_in(copy.buffer(), poll_mode).await
    }

    /// Its words.
    pub(in crate::gpu) async fn words(&self, poll_mode: PollMode) -> Result<Vec<u32>> {
        self.words_in(self.buffer(), poll_mode).await
    }

    /// Copies its words to a place in a buffer.
    pub(in crate::gpu) fn copy_to(&self, to: &wgpu::Buffer, to_offset: u64) -> Command {
        Command::Copy {
            from: self.buffer().clone(),
            offset: 0,
            to: to.clone(),
            to_offset,
            bytes: self.bytes() as u64,
        }
    }

    async fn words_in(&self, buffer: &wgpu::Buffer, poll_mode: PollMode) -> Result<Vec<u32>> {
        let mut words = vec![0u32; self.bytes() / 4];
        let context = &self.0.context;
        context.read_words(buffer, &mut words, poll_mode).await?;
        Ok(words)
    }

    /// What these words say.
    fn counted(&self, words: &[u32]) -> Result<Option<BadIndices>> {
        let state = self.lock();
        bad_indices(&state.plans, state.most, words)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Status {
    /// Leaves it to calls that the caller submits, at any time, or never. One that is new begins now.
    pub(in crate::gpu) fn leave(&self, is_new: bool) -> Result<()> {
        self.owned().share();
        if is_new {
            self.clear()?;
        }
        let mut state = self.lock();
        (state.is_left, state.is_begun) = (true, true);
        Ok(())
    }
}

impl Counting {
    /// What precedes the call: the status starts from zero, or is told which plan goes on.
    pub(in crate::gpu) fn begin(&self) -> Command {
        match self.goes_on {
            false => Command::Clear(self.status.buffer().clone()),
            true => self.resume(),
        }
    }

    /// What is recorded before a call that counts on.
    pub(in crate::gpu) fn resume(&self) -> Command {
        Command::Copy {
            from: self.status.0.context.numbers.clone(),
            offset: 4 * u64::from(self.number),
            to: self.status.buffer().clone(),
            to_offset: 4 * PLAN_WORD as u64,
            bytes: 4,
        }
    }

    /// To be called once the call is recorded.
    pub(in crate::gpu) fn note_recording(&self) {
        let mut state = self.status.lock();
        let lookups = state.plans[self.number as usize].lookups().elements();
        state.recorded += 1;
        state.most = state.most.saturating_add(lookups as u64);
    }

    /// Whether the status is new with this call.
    pub(in crate::gpu) fn is_new(&self) -> bool {
        !self.goes_on
    }
}

impl PartialEq for Status {
    /// Whether it is the same status.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        let mut shown = f.debug_struct("Status");
        shown.field("recorded", &state.recorded);
        shown.field("found", &state.found).finish()
    }
}

//! Choices that make a random call.

/// Elements of a tensor, about: what a comparison takes a moment for.
pub(crate) const MAX_ELEMENTS: usize = 3000;

/// Choices still to be made; 0 for ever when they run out.
pub(crate) struct Choices<'a> {
    pub(crate) rest: &'a [u32],
}

impl<'a> Choices<'a> {
    pub(crate) fn new(rest: &'a [u32]) -> Self {
        Choices { rest }
    }

    pub(crate) fn next(&mut self) -> u32 {
        match self.rest.split_first() {
            Some((&first, rest)) => {
                self.rest = rest;
                first
            }
            None => 0,
        }
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n.max(1)
    }

    pub(crate) fn of<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())].clone()
    }

    /// True once in `n` times.
    pub(crate) fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// Dims whose product stays below about [`MAX_ELEMENTS`] together with `used`.
    pub(crate) fn dims(&mut self, rank: usize, used: usize) -> Vec<usize> {
        let mut used = used.max(1);
        let mut dim = |_| {
            let d = self.of(&[1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 100, 0, 1000]);
            let d = if used * d > MAX_ELEMENTS { 1 } else { d };
            used *= d.max(1);
            d
        };
        (0..rank).map(&mut dim).collect()
    }
}

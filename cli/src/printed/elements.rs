//! Bytes that come in pieces, as whole elements.

/// What is left of an element whose end has not come yet.
pub(crate) struct Elements {
    width: usize,
    begun: Vec<u8>,
}

impl Elements {
    /// Of so many bytes each, at least one.
    pub(crate) fn new(width: usize) -> Self {
        Elements {
            width,
            begun: Vec::with_capacity(width),
        }
    }

    /// Takes the next bytes, and calls `whole` with those of whole elements, in order.
    pub(crate) fn take<E>(
        &mut self,
        mut bytes: &[u8],
        mut whole: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.begun.is_empty() {
            let lacking = (self.width - self.begun.len()).min(bytes.len());
            let (rest, others) = bytes.split_at(lacking);
            self.begun.extend_from_slice(rest);
            bytes = others;
            if self.begun.len() < self.width {
                return Ok(());
            }
            whole(&self.begun)?;
            self.begun.clear();
        }
        let (wholes, begun) = bytes.split_at(bytes.len() / self.width * self.width);
        self.begun.extend_from_slice(begun);
        match wholes.is_empty() {
            true => Ok(()),
            false => whole(wholes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_whole_however_bytes_are_cut() {
        let all: Vec<u8> = (0..30).collect();
        for size in 1..=30 {
            let (mut elements, mut got) = (Elements::new(3), Vec::new());
            for piece in all.chunks(size) {
                let taken = elements.take(piece, |whole| {
                    got.extend_from_slice(whole);
                    match whole.len() % 3 {
                        0 => Ok(()),
                        _ => Err(whole.len()),
                    }
                });
                assert_eq!(taken, Ok(()), "{size}");
            }
            assert_eq!(got, all, "{size}");
        }
    }
}

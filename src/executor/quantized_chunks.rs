//! Gathers from quantized tables whose output is never whole in memory.

use crate::cpu;
use crate::element::zeroed_bits;
use crate::error::{Error, Role};
use crate::executor::Executor;
use crate::quantized::QuantizedCall;

impl Executor {
    /// As [`Executor::gather_quantized_bytes`], and calls `chunk` with the elements, row-major: in
    /// order, at most `most_bytes` at a time (0 is taken for 1). The first error that `chunk` returns
    /// ends the call.
    ///
    /// The CPU path makes chunk after chunk in one buffer, and reports a bad index under
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error) before the first one. The reference and the GPU
    /// path have the output whole in memory.
    ///
    /// ```
    /// # use wgpu_gather::quantized::{BlockFormat, FloatType, QuantizedCall, QuantizedTable};
    /// # use wgpu_gather::{Error, Executor, Indices, Op, Rules, Tensor};
    /// let halves = [0x3c00u16, 0x4000, 0x4200].map(u16::to_le_bytes).concat(); // 1, 2, 3
    /// let table = QuantizedTable::blocks(BlockFormat::F16, &[3, 1], &halves)?;
    /// let ids = Tensor::new(&[2], vec![2i64, 0])?;
    /// let ids = Indices::try_from(&ids.view())?;
    /// let rules = Rules::default();
    /// let call = QuantizedCall::new(Op::gather(0), &rules, &table, &ids, FloatType::F32);
    ///
    /// let mut file = Vec::new();
    /// Executor::Cpu.gather_quantized_chunks_blocking(call, 1 << 20, |chunk| {
    ///     file.extend_from_slice(chunk);
    ///     Ok::<(), Error>(())
    /// })?;
    /// assert_eq!(file, [3.0f32, 1.0].map(f32::to_ne_bytes).concat());
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What `chunk` returns; as [`Executor::gather_quantized_bytes`], and
    /// [`Error::HostOutOfMemory`] for a chunk.
    pub async fn gather_quantized_chunks<E: From<Error>>(
        &self,
        call: QuantizedCall<'_>,
        most_bytes: usize,
        mut chunk: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let planned = call.planned()?;
        let most_bytes = most_bytes.max(1);
        if let Executor::Cpu = self {
            return cpu::quantized_chunks(&planned, most_bytes, &mut chunk);
        }
        let mut output = zeroed_bits::<u8>(Role::Output, planned.plan.output_bytes())?;
        self.gather_quantized_bytes(call, &mut output).await?;
        output.chunks(most_bytes).try_for_each(chunk)
    }

    /// [`Executor::gather_quantized_chunks`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::gather_quantized_chunks`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gather_quantized_chunks_blocking<E: From<Error>>(
        &self,
        call: QuantizedCall<'_>,
        most_bytes: usize,
        chunk: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        pollster::block_on(self.gather_quantized_chunks(call, most_bytes, chunk))
    }
}

#[cfg(test)]
mod tests {
    use crate::quantized::{BlockFormat, FloatType, QuantizedCall, QuantizedTable};
    use crate::{Error, Executor, Indices, Op, Rules, Tensor};

    /// The chunks of rows 2, 0 and `last` of three rows of one block each.
    fn chunks(executor: &Executor, last: u32, most: usize) -> (Result<(), Error>, Vec<Vec<u8>>) {
        let bytes: Vec<u8> = (0..3 * 34).map(|n| n as u8 % 60).collect();
        let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[3, 32], &bytes).unwrap();
        let ids = Tensor::new(&[3], vec![2, 0, last]).unwrap();
        let ids = Indices::try_from(&ids.view()).unwrap();
        let call = QuantizedCall::new(Op::gather(0), &Rules::ONNX, &table, &ids, FloatType::F16);
        let mut got = Vec::new();
        let made = executor.gather_quantized_chunks_blocking(call, most, |chunk| {
            got.push(chunk.to_vec());
            Ok(())
        });
        (made, got)
    }

    #[test]
    fn chunks_of_any_size_make_the_output() {
        let (made, whole) = chunks(&Executor::Reference, 1, usize::MAX);
        assert!(made.is_ok() && whole.len() == 1 && whole[0].len() == 3 * 32 * 2);
        for most in if cfg!(miri) { 6..7 } else { 0..200 } {
            let (made, got) = chunks(&Executor::Cpu, 1, most);
            assert!(made.is_ok());
            assert!(got.iter().all(|c| (1..=most.max(1)).contains(&c.len())));
            assert_eq!(got.concat(), whole[0], "{most} bytes at most");
        }
    }

    #[test]
    fn a_bad_index_is_reported_before_the_first_chunk() {
        for executor in [Executor::Reference, Executor::Cpu] {
            let (made, got) = chunks(&executor, 3, 10);
            assert!(matches!(made, Err(Error::IndexOutOfBounds(_))), "{made:?}");
            assert_eq!(got.len(), 0);
        }
    }
}

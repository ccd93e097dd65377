//! Memory of burn for outputs.
//!
//! burn carves most tensors from large pages, each one buffer of wgpu. A buffer cannot be read and
//! written in one dispatch by pipelines that declare what they only read, so an output needs a buffer
//! that holds no input. burn's persistent pool gives each tensor one, and gives it to the next tensor of
//! the same size when the first is gone; sizes are rounded up, so that a program with outputs of many
//! shapes settles on few of them.

use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::server::Handle;

/// Where memory comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Memory {
    /// burn's persistent pool, unless burn is configured to have none.
    Reused,
    /// A buffer of its own, which burn frees with the tensor.
    Own,
}

/// Memory for so many bytes.
pub(crate) fn allocate(client: &Client, bytes: usize, memory: Memory) -> Handle {
    let size = rounded(bytes);
    let handle = match memory {
        Memory::Reused => client.memory_persistent_allocation((), |()| client.empty(size)),
        Memory::Own => client.memory_dedicated_allocation((), |()| client.empty(size)),
    };
    handle.offset_end((size - bytes) as u64)
}

/// The size that is allocated: at most an eighth more, and 256 bytes at least.
fn rounded(bytes: usize) -> usize {
    let step = (bytes.next_power_of_two() / 16).max(256);
    bytes.next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn sizes_are_few_and_waste_little() {
        let table = [
            (1, 256),
            (256, 256),
            (257, 512),
            (4096, 4096),
            (4097, 4608),
            (100_000, 106_496),
        ];
        for (bytes, size) in table {
            assert_eq!(rounded(bytes), size, "{bytes}");
        }
        for bytes in 2048..100_000 {
            assert!(
                (bytes..=bytes + bytes / 8 + 1).contains(&rounded(bytes)),
                "{bytes}"
            );
        }
    }
}

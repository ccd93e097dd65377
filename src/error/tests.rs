//! The texts of errors.

use super::*;

/// The texts of the errors that need a device, or that no public call gives.
#[test]
fn errors_of_devices_and_buffers_say_what_was_got_and_what_is_allowed() {
    let op = OpKind::GatherNd;
    let role = Role::Output;
    let adapter = "A (vulkan)".to_owned();
    let table = [
        (
            Error::InvalidBits { role },
            "output: the bytes are not valid values of the element type",
        ),
        (
            Error::TensorTooLarge {
                op,
                role,
                bytes: 20,
                limit: 16,
            },
            "gather_nd: output needs 20 bytes, more than one binding of this device holds (16); the CPU path has no such limit",
        ),
        (
            Error::BufferTooSmall {
                op,
                role,
                needed: 8,
                size: 4,
            },
            "gather_nd: output needs a buffer of 8 bytes, got one of 4",
        ),
        (
            Error::MissingUsage {
                op: Some(op),
                role,
                usage: "STORAGE",
            },
            "gather_nd: the buffer of output lacks the usage STORAGE",
        ),
        (
            Error::MissingUsage {
                op: None,
                role: Role::Tensor,
                usage: "COPY_SRC",
            },
            "the buffer of a device tensor lacks the usage COPY_SRC",
        ),
        (
            Error::Misaligned {
                op: Some(op),
                role,
                offset: 2,
                alignment: 4,
            },
            "gather_nd: output starts at byte 2 of its buffer, which is not a multiple of 4",
        ),
        (
            Error::Misaligned {
                op: None,
                role: Role::Tensor,
                offset: 2,
                alignment: 4,
            },
            "a device tensor starts at byte 2 of its buffer, which is not a multiple of 4",
        ),
        (
            Error::CopyInPass {
                op: OpKind::EmbeddingBag,
                role: Role::Weights,
            },
            "embedding_bag: cannot be recorded into a compute pass: it copies its weights first; allowed: an \
             encoder",
        ),
        (
            Error::SameBuffer {
                op,
                role: Role::Params,
            },
            "gather_nd: params and output lie in the same buffer; a dispatch cannot read and write one buffer",
        ),
        (
            Error::TooMany {
                op,
                what: "the number of lookups",
                got: 9,
                limit: 8,
            },
            "gather_nd: the number of lookups is 9, more than the GPU path counts (8); the CPU path has no such limit",
        ),
        (
            Error::NoAdapter {
                wanted: Some("b".to_owned()),
                available: vec![adapter.clone(), "C (gl)".to_owned()],
            },
            "no adapter matches \"b\"; this machine has: A (vulkan), C (gl)",
        ),
        (
            Error::NoAdapter {
                wanted: None,
                available: vec![],
            },
            "no GPU adapter; this machine has none (Debian/Ubuntu: apt-get install mesa-vulkan-drivers libegl1 libgl1-mesa-dri, for software ones)",
        ),
        (
            Error::AdapterLacks {
                adapter: adapter.clone(),
                what: "compute shaders".to_owned(),
            },
            "adapter A (vulkan) cannot run gathers: it lacks compute shaders",
        ),
        (
            Error::NoUsableAdapter {
                lacking: vec![
                    (adapter.clone(), "a device: no".to_owned()),
                    ("C (gl)".to_owned(), "compute shaders".to_owned()),
                ],
            },
            "no adapter of this machine can run gathers: A (vulkan) lacks a device: no; C (gl) lacks compute shaders",
        ),
        (
            Error::RequestDevice {
                adapter,
                reason: "no".to_owned(),
            },
            "adapter A (vulkan): no device: no",
        ),
        (
            Error::GpuOutOfMemory {
                what: "output of 16 bytes".to_owned(),
            },
            "the GPU is out of memory: output of 16 bytes",
        ),
        (
            Error::Gpu {
                what: "a shader",
                reason: "no".to_owned(),
            },
            "wgpu refused a shader: no",
        ),
        (
            Error::ImpossibleReport {
                op,
                what: "the first bad index",
                got: "9".to_owned(),
                allowed: "less than 8".to_owned(),
            },
            "gather_nd: the device reports the first bad index as 9 (allowed: less than 8); its driver is at fault",
        ),
        (
            Error::DeviceLost {
                reason: "gone".to_owned(),
            },
            "the GPU device is lost: gone",
        ),
    ];
    for (error, text) in table {
        assert_eq!(error.to_string(), text);
    }
}

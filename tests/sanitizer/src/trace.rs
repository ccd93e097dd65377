//! The buffer that shaders write records to, as `trace.wgsl` has it.

use wgpu_gather::wgpu;

/// The most dispatches that are recorded at a time.
pub(crate) const MOST_DISPATCHES: usize = 4096;
/// The most records of all of them.
const MOST_RECORDS: u64 = 3_000_000;
/// Before the records: the cursor, and the steps and the barriers of each dispatch.
const HEAD: u64 = 4 + 2 * 4 * MOST_DISPATCHES as u64;
const RECORD_WORDS: usize = 5;
/// Where the number of the next dispatch lies.
const NUMBER_STEP: u64 = 256;

/// An access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    number: u32,
    pub(crate) path: u32,
    pub(crate) invocation: u32,
    pub(crate) index: u32,
    pub(crate) epoch: u32,
}

/// What the invocations of a dispatch did at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Most {
    /// Steps of loops.
    pub(crate) steps: u32,
    /// Barriers, of any memory.
    pub(crate) barriers: u32,
}

impl Record {
    pub(crate) fn site(&self) -> usize {
        (self.number & 0xffff) as usize
    }

    pub(crate) fn dispatch(&self) -> usize {
        (self.number >> 16) as usize
    }
}

/// The buffer, and the bind groups for it.
#[derive(Debug)]
pub(crate) struct Trace {
    device: wgpu::Device,
    queue: wgpu::Queue,
    layout: wgpu::BindGroupLayout,
    trace: wgpu::Buffer,
    numbers: wgpu::Buffer,
}

impl Trace {
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let copied = wgpu::BufferUsages::COPY_DST;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | copied;
        let bytes = HEAD + MOST_RECORDS * 4 * RECORD_WORDS as u64;
        let trace = buffer(device, bytes, usage);
        let numbers = buffer(
            device,
            NUMBER_STEP * MOST_DISPATCHES as u64,
            wgpu::BufferUsages::UNIFORM | copied,
        );
        let made = Trace {
            layout: layout(device),
            device: device.clone(),
            queue: queue.clone(),
            trace,
            numbers,
        };
        made.record_accesses(true);
        made
    }

    /// Has what is submitted from now on record accesses, or steps only.
    pub(crate) fn record_accesses(&self, records: bool) {
        let mut bytes = vec![0; self.numbers.size() as usize];
        let places = bytes.chunks_mut(NUMBER_STEP as usize);
        for (n, place) in (0u32..).zip(places) {
            place[..4].copy_from_slice(&n.to_le_bytes());
            place[4] = u8::from(records);
        }
        self.queue.write_buffer(&self.numbers, 0, &bytes);
    }

    pub(crate) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// The bind group of a dispatch.
    pub(crate) fn bind(&self, number: u32) -> wgpu::BindGroup {
        let number = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.numbers,
            offset: NUMBER_STEP * u64::from(number),
            size: wgpu::BufferSize::new(16),
        });
        let resources = [self.trace.as_entire_binding(), number];
        let entries = (0..).zip(resources);
        let entries = entries.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource });
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("trace"),
            layout: &self.layout,
            entries: &entries.collect::<Vec<_>>(),
        })
    }

    /// Waits for what was submitted. Gives of each dispatch what an invocation did at most (`None`, if it had
    /// none), and the records of all; then starts anew.
    pub(crate) fn take(
        &self,
        dispatches: usize,
    ) -> Result<(Vec<Option<Most>>, Vec<Record>), String> {
        let head = self.read(0, HEAD);
        let count = u64::from(head[0]);
        if count > MOST_RECORDS {
            return Err(format!("{count} records: {MOST_RECORDS} have room"));
        }
        let bytes = count * 4 * RECORD_WORDS as u64;
        let words = match count {
            0 => Vec::new(),
            _ => self.read(HEAD, bytes),
        };
        self.queue
            .write_buffer(&self.trace, 0, &vec![0; HEAD as usize]);
        let (steps, barriers) = head[1..].split_at(MOST_DISPATCHES);
        let most = steps.iter().zip(barriers).take(dispatches);
        let most = most.map(|(steps, &barriers)| {
            let steps = steps.checked_sub(1)?;
            Some(Most { steps, barriers })
        });
        let most = most.collect();
        let records = words.chunks_exact(RECORD_WORDS);
        let records = records.map(|words| Record {
            number: words[0],
            path: words[1],
            invocation: words[2],
            index: words[3],
            epoch: words[4],
        });
        Ok((most, records.collect()))
    }

    fn read(&self, offset: u64, bytes: u64) -> Vec<u32> {
        read(&self.device, &self.queue, &self.trace, offset, bytes)
    }
}

/// The words of a part of a buffer, once all that was submitted is done.
pub(crate) fn read(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    from: &wgpu::Buffer,
    offset: u64,
    bytes: u64,
) -> Vec<u32> {
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let staging = buffer(device, bytes, usage);
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(from, offset, &staging, 0, bytes);
    queue.submit([encoder.finish()]);
    staging.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    let waited = device.poll(wgpu::PollType::wait_indefinitely());
    waited.expect("the device answers");
    let view = staging.get_mapped_range(..).expect("mapped");
    let words = view.as_chunks().0.iter();
    words.map(|&word| u32::from_le_bytes(word)).collect()
}

pub(crate) fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("sanitizer"),
        size,
        usage,
        mapped_at_creation: false,
    })
}

fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let storage = wgpu::BufferBindingType::Storage { read_only: false };
    let entries = [(0, storage), (1, wgpu::BufferBindingType::Uniform)];
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("trace"),
        entries: &entries.map(|(binding, ty)| entry(binding, ty)),
    })
}

pub(crate) fn entry(binding: u32, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

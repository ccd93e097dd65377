//! Every error of the crate, and the only place where their messages are worded.
//!
//! A message names the operator, the role of the tensor, what was got and what is allowed. The file is
//! long because the errors are one enum, and each field of each has its documentation.

mod names;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use names::listed;
pub use names::{BadIndices, OpKind, Role};
pub(crate) use words::Lacking;

use words::{Allowed, Before, NoAdapter, OnDevice, Signed};

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, with the facts in fields.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `axis` does not name a dimension of params.
    #[error("{op}: axis {axis} is out of range for params of rank {rank} (allowed {})", Signed(*rank))]
    AxisOutOfRange {
        /// The operator.
        op: OpKind,
        /// The axis as given.
        axis: isize,
        /// The rank of params; at least 1.
        rank: usize,
    },

    /// A tensor has fewer dimensions than the operator needs.
    #[error("{op}: {role} has rank {rank}, but needs at least {min}")]
    RankTooSmall {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// Its rank.
        rank: usize,
        /// The least rank allowed.
        min: usize,
    },

    /// `batch_dims` is not within what indices (and for `gather_nd` params) allow.
    #[error(
        "{op}: batch_dims {batch_dims} is out of range for indices of rank {indices_rank} and params of rank {params_rank} (allowed {min}..={max})"
    )]
    BatchDimsOutOfRange {
        /// The operator.
        op: OpKind,
        /// The value as given.
        batch_dims: isize,
        /// The rank of indices.
        indices_rank: usize,
        /// The rank of params.
        params_rank: usize,
        /// The least value allowed.
        min: isize,
        /// The greatest value allowed.
        max: isize,
    },

    /// The axis of a `gather` lies among its batch dims.
    #[error(
        "{op}: axis {axis} is less than batch_dims = {batch_dims}; the axis must follow the batch dims"
    )]
    AxisBeforeBatchDims {
        /// The operator.
        op: OpKind,
        /// The axis, counted from the front.
        axis: usize,
        /// The number of batch dims.
        batch_dims: usize,
    },

    /// Params and indices differ in a batch dim.
    #[error(
        "{op}: params dim {dim} is {params}, but indices dim {dim} is {indices}; the first batch_dims = {batch_dims} dims must be equal"
    )]
    BatchShapeMismatch {
        /// The operator.
        op: OpKind,
        /// The first dim that differs.
        dim: usize,
        /// Its extent in params.
        params: usize,
        /// Its extent in indices.
        indices: usize,
        /// The number of batch dims.
        batch_dims: usize,
    },

    /// The index tuples of a `gather_nd` are longer than params has dims.
    #[error(
        "{op}: indices dim -1 is {depth}, but params has {available} dims after batch_dims = {batch_dims}"
    )]
    IndexDepthTooLarge {
        /// The operator.
        op: OpKind,
        /// The index depth, `indices.shape[-1]`.
        depth: usize,
        /// How many dims of params follow the batch dims.
        available: usize,
        /// The number of batch dims.
        batch_dims: usize,
    },

    /// Params and indices of a `gather_elements` differ in rank.
    #[error(
        "{op}: indices has rank {indices}, but params has rank {params}; the ranks must be equal"
    )]
    RankMismatch {
        /// The operator.
        op: OpKind,
        /// The rank of params.
        params: usize,
        /// The rank of indices.
        indices: usize,
    },

    /// Indices of a `gather_elements` are larger than params off the axis.
    #[error(
        "{op}: indices dim {dim} is {indices}, larger than params dim {dim} = {params}; only the axis ({axis}) may be larger"
    )]
    IndicesDimTooLarge {
        /// The operator.
        op: OpKind,
        /// The first dim that is too large.
        dim: usize,
        /// Its extent in indices.
        indices: usize,
        /// Its extent in params.
        params: usize,
        /// The axis, counted from the front.
        axis: usize,
    },

    /// An index is out of bounds and the rules ask for an error.
    #[error("{0}")]
    IndexOutOfBounds(Box<BadIndices>),

    /// The rules move a bad index to a valid one, but the axis has none.
    #[error(
        "{op}: params axis {axis} has extent 0, so out_of_bounds = {rule} has no element to read"
    )]
    NothingToRead {
        /// The operator.
        op: OpKind,
        /// The dimension of params.
        axis: usize,
        /// `clip` or `wrap`.
        rule: &'static str,
    },

    /// A fill value is not of the element type of params.
    #[error("{op}: the fill value has {got} bytes, but an element of params has {expected}")]
    FillWidth {
        /// The operator.
        op: OpKind,
        /// Bytes of the fill value.
        got: usize,
        /// Bytes of one element of params.
        expected: usize,
    },

    /// An element type does not have a way to reduce.
    #[error("{op}: reduce = {reduce} is not defined for {dtype} (allowed: {})", allowed.join(", "))]
    ReduceType {
        /// The operator.
        op: OpKind,
        /// The way to reduce.
        reduce: &'static str,
        /// The element type.
        dtype: &'static str,
        /// The ways that it has.
        allowed: Vec<&'static str>,
    },

    /// The GPU path does not have the arithmetic of an element type.
    #[error("{op}: the GPU path has no arithmetic for {dtype} (allowed: {}); the CPU path has it", allowed.join(", "))]
    CpuOnly {
        /// The operator.
        op: OpKind,
        /// The element type.
        dtype: &'static str,
        /// What the GPU path has.
        allowed: Vec<&'static str>,
    },

    /// Two elements of a destination may lie in one place.
    #[error(
        "{op}: params of shape {shape:?} and strides {strides:?} may have several elements in one place; a destination must not"
    )]
    OverlappingDestination {
        /// The operator.
        op: OpKind,
        /// The shape of the destination.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },

    /// The updates of a scatter do not have the shape of the gather's output.
    #[error("{op}: updates has shape {got:?}, but params and indices need {expected:?}")]
    UpdatesShape {
        /// The operator.
        op: OpKind,
        /// The shape needed.
        expected: Vec<usize>,
        /// The shape given.
        got: Vec<usize>,
    },

    /// Text that names none of the values there are, such as that of a [`DType`](crate::DType) or of a
    /// preset of [`Rules`](crate::Rules).
    #[error("unknown {what} \"{name}\" (allowed: {})", allowed.join(", "))]
    UnknownName {
        /// What was to be named: `element type`, `reduce`, ….
        what: &'static str,
        /// The name as given.
        name: String,
        /// The names there are.
        allowed: Vec<&'static str>,
    },

    /// A size does not fit the machine's address arithmetic.
    #[error(
        "{role}: shape {shape:?} with {element_bytes}-byte elements needs more bytes than can be addressed"
    )]
    SizeOverflow {
        /// Which tensor.
        role: Role,
        /// Its shape.
        shape: Vec<usize>,
        /// Bytes of one element.
        element_bytes: usize,
    },

    /// Elements of no bytes cannot be gathered.
    #[error("{role}: elements of 0 bytes cannot be gathered (allowed: 1 byte or more)")]
    ZeroSizedElement {
        /// Which tensor.
        role: Role,
    },

    /// Data and shape do not agree.
    #[error("{role}: shape {shape:?} needs {expected} elements, got {got}")]
    DataLength {
        /// Which tensor.
        role: Role,
        /// The shape.
        shape: Vec<usize>,
        /// Elements that the shape needs.
        expected: usize,
        /// Elements given.
        got: usize,
    },

    /// Memory for the elements of a tensor as bytes has another length.
    #[error("{role}: shape {shape:?} needs {expected} bytes, got {got}")]
    ByteLength {
        /// Which tensor.
        role: Role,
        /// The shape.
        shape: Vec<usize>,
        /// Bytes that the shape needs.
        expected: usize,
        /// Bytes given.
        got: usize,
    },

    /// The byte length of a buffer does not fit its element type.
    #[error("{role}: {bytes} bytes are not a whole number of {element_bytes}-byte elements")]
    PartialElement {
        /// Which tensor.
        role: Role,
        /// Bytes given.
        bytes: usize,
        /// Bytes of one element.
        element_bytes: usize,
    },

    /// Shape and strides of a view differ in length.
    #[error("a view has {dims} dims, but {strides} strides; there must be one for each")]
    StridesLength {
        /// Number of dims.
        dims: usize,
        /// Number of strides.
        strides: usize,
    },

    /// A view reaches outside its data.
    #[error(
        "{role}: a view of shape {shape:?}, strides {strides:?} and offset {offset} reaches outside its {len} elements"
    )]
    ViewOutOfRange {
        /// Which tensor.
        role: Role,
        /// The shape of the view.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
        /// Its offset, in elements.
        offset: usize,
        /// Elements of the data.
        len: usize,
    },

    /// An array of ndarray leaves out elements between those that it has, or has some in several
    /// places.
    #[error(
        "an array of shape {shape:?} and strides {strides:?} has gaps, which may be borrowed elsewhere; allowed: it together with the array that it is a part of (TensorView::part_of), or a copy (interop::without_gaps)"
    )]
    ViewHasGaps {
        /// The shape of the array.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },

    /// An array of ndarray is no part of the one that it is said to be a part of.
    #[error(
        "an array of shape {shape:?} and strides {strides:?} has elements that the array that it is to be a part of has not"
    )]
    NotAPart {
        /// The shape of the array.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },

    /// A tensor is to be reshaped to another number of elements.
    #[error(
        "a tensor of shape {from:?} cannot be reshaped to {to:?}: the numbers of elements differ"
    )]
    ReshapeElements {
        /// The shape of the tensor.
        from: Vec<usize>,
        /// The shape asked for.
        to: Vec<usize>,
    },

    /// No strides give the shape that is asked for.
    #[error(
        "a view of shape {from:?} and strides {strides:?} cannot be reshaped to {to:?} without a copy"
    )]
    ReshapeCopies {
        /// The shape of the view.
        from: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
        /// The shape asked for.
        to: Vec<usize>,
    },

    /// The axes of a permutation do not name each dim once.
    #[error("axes {axes:?} are no permutation of the {rank} dims of a view")]
    NoPermutation {
        /// The axes as given.
        axes: Vec<usize>,
        /// The rank of the view.
        rank: usize,
    },

    /// A slice leaves the view.
    #[error("slice {start}..{end} of dim {axis} lies outside a view of shape {shape:?}")]
    SliceOutOfRange {
        /// The dim.
        axis: usize,
        /// Where the slice starts.
        start: usize,
        /// Where it ends.
        end: usize,
        /// The shape of the view.
        shape: Vec<usize>,
    },

    /// A shape does not follow from another by repetition.
    #[error("a view of shape {from:?} cannot be broadcast to {to:?}")]
    NoBroadcast {
        /// The shape of the view.
        from: Vec<usize>,
        /// The shape asked for.
        to: Vec<usize>,
    },

    /// A plan is executed with other tensors than it was made for.
    #[error(
        "{op}: the plan is for {role} of shape {expected:?}, got shape {got:?} (strides and offset must agree, too)"
    )]
    OtherPlan {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// The shape that the plan is for.
        expected: Vec<usize>,
        /// The shape given.
        got: Vec<usize>,
    },

    /// A plan is executed with indices of another type than it was made for.
    #[error("{op}: the plan is for indices of {expected}, got {got}")]
    OtherIndices {
        /// The operator.
        op: OpKind,
        /// The name of the type that the plan is for.
        expected: &'static str,
        /// The name of the type given.
        got: &'static str,
    },

    /// The slice that is to receive the output has another length.
    #[error("{op}: the output needs {expected} bytes, got a buffer of {got}")]
    OutputLength {
        /// The operator.
        op: OpKind,
        /// Bytes needed.
        expected: usize,
        /// Bytes given.
        got: usize,
    },

    /// A byte pattern in the result is not a valid value of the element type.
    #[error("{role}: the bytes are not valid values of the element type")]
    InvalidBits {
        /// Which tensor.
        role: Role,
    },

    /// The host has no memory for a tensor.
    #[error("{role}: the host could not allocate {bytes} bytes")]
    HostOutOfMemory {
        /// Which tensor.
        role: Role,
        /// Bytes asked for.
        bytes: usize,
    },

    /// A tensor does not have the number of dims that the operator takes.
    #[error("{op}: {role} has rank {rank}, but must have {expected}")]
    RankExpected {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// Its rank.
        rank: usize,
        /// The rank allowed.
        expected: usize,
    },

    /// An offset of bags is less than the one before, or lies beyond the indices.
    #[error("{op}: offsets[{position}] = {value} is out of range (allowed: {least}..={greatest})")]
    OffsetOutOfRange {
        /// The operator.
        op: OpKind,
        /// Which of the offsets.
        position: usize,
        /// The offset.
        value: i128,
        /// The least value allowed: the offset before.
        least: usize,
        /// The greatest value allowed: the number of indices; for the first, 0.
        greatest: usize,
    },

    /// There are no offsets, but indices, or an end of the last bag is asked for.
    #[error("{op}: there is no offset for {indices} indices (allowed: at least 1)")]
    NoOffsets {
        /// The operator.
        op: OpKind,
        /// How many indices there are.
        indices: usize,
    },

    /// An element type does not have a way to pool.
    #[error(
        "{op}: mode = {mode} is not defined for {dtype} (allowed: {})",
        Allowed(allowed)
    )]
    BagModeType {
        /// The operator.
        op: OpKind,
        /// The mode.
        mode: &'static str,
        /// The element type.
        dtype: &'static str,
        /// The modes that it has.
        allowed: Vec<&'static str>,
    },

    /// Weights are given where there is nothing to weigh.
    #[error(
        "{op}: weights with mode = {mode} of {dtype} (allowed: mode = sum of floats or complex numbers)"
    )]
    WeightsWithout {
        /// The operator.
        op: OpKind,
        /// The mode.
        mode: &'static str,
        /// The element type.
        dtype: &'static str,
    },

    /// The weights do not have the shape of the indices.
    #[error("{op}: weights has shape {got:?}, but indices {expected:?}; they must be equal")]
    WeightsShape {
        /// The operator.
        op: OpKind,
        /// The shape of the indices.
        expected: Vec<usize>,
        /// The shape given.
        got: Vec<usize>,
    },

    /// The padding index names no row of the table.
    #[error(
        "{op}: padding index {index} is out of range for params of {rows} rows (allowed {})",
        Signed(*rows)
    )]
    PaddingOutOfRange {
        /// The operator.
        op: OpKind,
        /// The padding index as given.
        index: isize,
        /// The extent of dim 0 of params.
        rows: usize,
    },

    /// A table is to lie on no shard.
    #[error("a sharded table needs at least one shard, got none")]
    NoShards,

    /// The shards of a table have more rows than can be counted.
    #[error("the {shards} shards have more rows in all than can be addressed")]
    TooManyRows {
        /// How many shards there are.
        shards: usize,
    },

    /// A table, or a shard of it, is not one of a partition.
    #[error(
        "a partition of {rows} rows over {shards} shards has no shard {shard} of a table of shape {shape:?} (allowed: shards 0..{shards} of tables with {rows} rows)"
    )]
    ShardTable {
        /// The shape of the table.
        shape: Vec<usize>,
        /// The shard asked for.
        shard: usize,
        /// The rows of the partition.
        rows: usize,
        /// Its shards.
        shards: usize,
    },

    /// The executors are not as many as the shards that are to lie on them.
    #[error("a partition over {shards} shards needs as many executors, got {executors}")]
    ShardExecutors {
        /// The shards of the partition.
        shards: usize,
        /// The executors given.
        executors: usize,
    },

    /// A quantized table, or a tensor of it, has not as many bytes as its shape takes.
    #[error("{role}: a table of shape {shape:?} in {format} takes {expected} bytes, got {got}")]
    QuantizedLength {
        /// Which tensor of the table.
        role: Role,
        /// The format.
        format: String,
        /// The shape of the table, in elements.
        shape: Vec<usize>,
        /// Bytes that it takes.
        expected: usize,
        /// Bytes given.
        got: usize,
    },

    /// A quantized table without dims.
    #[error("codes: a table in {format} has rank 0 (allowed: 1 or more)")]
    QuantizedScalar {
        /// The format.
        format: String,
    },

    /// The rows of a table are not whole blocks.
    #[error(
        "codes: a table of shape {shape:?} has no rows of whole blocks of {format} (allowed: a last dim that is a multiple of {block})"
    )]
    PartialBlock {
        /// The format.
        format: &'static str,
        /// The shape of the table, in elements.
        shape: Vec<usize>,
        /// Elements of a block.
        block: usize,
    },

    /// The axis of the blocks does not name a dim of the table.
    #[error("scales: quantize axis {axis} is out of range for a table of rank {rank} (allowed {})", Signed(*rank))]
    QuantizeAxis {
        /// The axis as given.
        axis: isize,
        /// The rank of the table.
        rank: usize,
    },

    /// Blocks of no elements.
    #[error("scales: the block size is 0 (allowed: 1 or more)")]
    BlockSize,

    /// Scales that codes of this type cannot have.
    #[error(
        "scales: {codes} codes cannot have {scales} scales (allowed: e8m0 for e4m3; f32, f16 or bf16 for integers)"
    )]
    ScalesOfCodes {
        /// The type of the codes.
        codes: &'static str,
        /// The type of the scales.
        scales: &'static str,
    },

    /// Zero points that codes of this type cannot have.
    #[error(
        "zero points: {codes} codes cannot have zero points {zero_points} (allowed: Zero for all, Middle for unsigned, Packed and PackedRows for integers)"
    )]
    ZeroPointsOfCodes {
        /// The type of the codes.
        codes: &'static str,
        /// The kind of the zero points.
        zero_points: String,
    },

    /// Elements are to be decoded that a table has not.
    #[error("a table of {elements} elements has no {count} elements from element {first} on")]
    DecodeRange {
        /// The first element asked for.
        first: usize,
        /// How many are asked for.
        count: usize,
        /// How many there are.
        elements: usize,
    },

    /// A tensor does not fit one binding of the device.
    #[error(
        "{op}: {role} needs {bytes} bytes, more than one binding of this device holds ({limit}); the CPU path has no such limit"
    )]
    TensorTooLarge {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// Bytes needed.
        bytes: u64,
        /// Bytes that one binding holds.
        limit: u64,
    },

    /// A buffer of the caller ends before the tensor that it is to hold.
    #[error("{op}: {role} needs a buffer of {needed} bytes, got one of {size}")]
    BufferTooSmall {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// Bytes needed, from the start of the buffer.
        needed: u64,
        /// Bytes of the buffer.
        size: u64,
    },

    /// A buffer of the caller lacks a usage.
    #[error("{}the buffer of {} lacks the usage {usage}", Before(*op), OnDevice(*role))]
    MissingUsage {
        /// The operator, if one is asked for already.
        op: Option<OpKind>,
        /// Which tensor.
        role: Role,
        /// The usage it needs.
        usage: &'static str,
    },

    /// A tensor starts between two elements of its buffer.
    #[error(
        "{}{} starts at byte {offset} of its buffer, which is not a multiple of {alignment}",
        Before(*op),
        OnDevice(*role)
    )]
    Misaligned {
        /// The operator, if one is asked for already.
        op: Option<OpKind>,
        /// Which tensor.
        role: Role,
        /// Its byte offset.
        offset: u64,
        /// What the offset must be a multiple of.
        alignment: usize,
    },

    /// The output shares a buffer with what is read.
    #[error(
        "{op}: {role} and output lie in the same buffer; a dispatch cannot read and write one buffer"
    )]
    SameBuffer {
        /// The operator.
        op: OpKind,
        /// Which tensor besides the output.
        role: Role,
    },

    /// A count on the device is to limit a gather from a quantized table.
    #[error(
        "{op}: a count on the device limits gathers from plain tensors only; this table is quantized"
    )]
    CountOfQuantized {
        /// The operator.
        op: OpKind,
    },

    /// A recorded call copies or clears a buffer, which a compute pass cannot do.
    #[error(
        "{op}: cannot be recorded into a compute pass: it copies its {role} first; allowed: an encoder"
    )]
    CopyInPass {
        /// The operator.
        op: OpKind,
        /// What is copied.
        role: Role,
    },

    /// The elements of a device tensor are not as wide as those of params, or as the type of the
    /// indices.
    #[error("{op}: elements of {role} have {got} bytes, expected {expected}")]
    ElementWidth {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// Bytes expected.
        expected: usize,
        /// Bytes of an element.
        got: usize,
    },

    /// Elements have a width only where the call needs their type: for arithmetic, or as indices.
    #[error("{op}: elements of {role} are {got}, which is {why} (allowed: {})", allowed.join(", "))]
    ElementsWithout {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// Their type, or their width.
        got: String,
        /// What they lack.
        why: &'static str,
        /// The types that have it.
        allowed: Vec<&'static str>,
    },

    /// Two tensors of one call have elements of different types.
    #[error("{op}: elements of {role} are {got}, expected {expected}")]
    OtherElements {
        /// The operator.
        op: OpKind,
        /// Which tensor.
        role: Role,
        /// The type that they are to have.
        expected: String,
        /// Their type.
        got: String,
    },

    /// The elements of a tensor are not as wide as the type that it is to have.
    #[error("a tensor has elements of {got} bytes, its type would have {expected}")]
    TensorWidth {
        /// Bytes of the type.
        expected: usize,
        /// Bytes of an element.
        got: usize,
    },

    /// A slice of a buffer ends before the tensor that it is to hold.
    #[error(
        "a device tensor of shape {shape:?} needs {needed} bytes of its buffer, got {got} (the buffer ends with a whole word)"
    )]
    TensorBeyondBuffer {
        /// The shape of the tensor.
        shape: Vec<usize>,
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        got: u64,
    },

    /// The tensor that is to receive the output has another shape.
    #[error("{op}: the output has shape {expected:?}, got a tensor of shape {got:?}")]
    OutputShape {
        /// The operator.
        op: OpKind,
        /// The shape of the output.
        expected: Vec<usize>,
        /// The shape of the tensor given.
        got: Vec<usize>,
    },

    /// The tensor that is to receive the output is a view with gaps or another order.
    #[error(
        "{op}: the output must be contiguous, got a tensor of shape {shape:?} and strides {strides:?}"
    )]
    OutputStrided {
        /// The operator.
        op: OpKind,
        /// The shape of the tensor given.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },

    /// A count of indices on the device cannot cut the output short where its first dim is not
    /// that of indices.
    #[error(
        "{op}: a count on the device needs the first dim of indices to be the first of the output (gather: axis 0 or batch dims)"
    )]
    CountElsewhere {
        /// The operator.
        op: OpKind,
    },

    /// A count on the device does not lie at a whole word of a buffer that can be read.
    #[error(
        "{op}: the count must be 4 bytes at a multiple of 4 in a buffer with the usage STORAGE, got byte {offset} of {size}"
    )]
    CountPlace {
        /// The operator.
        op: OpKind,
        /// The byte offset given.
        offset: u64,
        /// Bytes of the buffer.
        size: u64,
    },

    /// A tensor is used with another engine than the one that made it. (A buffer on the same device
    /// can be wrapped: [`DeviceTensor::wrap`](crate::gpu::DeviceTensor::wrap).)
    #[error("{role}: the tensor was made by another engine")]
    OtherEngine {
        /// Which tensor.
        role: Role,
    },

    /// The device was requested with less than the engine needs.
    #[error("the device has {limit} = {got}, but at least {needed} is needed")]
    MissingLimit {
        /// The field of `wgpu::Limits`.
        limit: String,
        /// The least value.
        needed: u64,
        /// The value of the device.
        got: u64,
    },

    /// A view or an index tuple has more dimensions than the shaders carry.
    #[error(
        "{op}: the GPU path carries {limit} {what}, this call needs {got}; the CPU path has no such limit"
    )]
    TooComplex {
        /// The operator.
        op: OpKind,
        /// `loops`, `coordinates` or `bytes of fill value`.
        what: &'static str,
        /// How many this call needs.
        got: usize,
        /// How many there may be.
        limit: usize,
    },

    /// A count or extent is beyond the 32-bit arithmetic of the shaders.
    #[error(
        "{op}: {what} is {got}, more than the GPU path counts ({limit}); the CPU path has no such limit"
    )]
    TooMany {
        /// The operator.
        op: OpKind,
        /// What is counted.
        what: &'static str,
        /// The count.
        got: u64,
        /// The greatest count allowed.
        limit: u64,
    },

    /// No adapter matches, or there is none.
    #[error("{}", NoAdapter { wanted, available })]
    NoAdapter {
        /// The text that was to match, if any.
        wanted: Option<String>,
        /// The adapters there are, as `name (API)`.
        available: Vec<String>,
    },

    /// The adapter gave no device.
    #[error("adapter {adapter}: no device: {reason}")]
    RequestDevice {
        /// The adapter.
        adapter: String,
        /// What wgpu said.
        reason: String,
    },

    /// The adapter cannot run a gather, or gives wrong results.
    #[error("adapter {adapter} cannot run gathers: it lacks {what}")]
    AdapterLacks {
        /// The adapter.
        adapter: String,
        /// What it lacks, in one line.
        what: String,
    },

    /// No adapter of the machine can run a gather.
    #[error("no adapter of this machine can run gathers: {}", Lacking(lacking))]
    NoUsableAdapter {
        /// The adapters, as `name (API)`, and what each lacks.
        lacking: Vec<(String, String)>,
    },

    /// The GPU has no memory for a buffer or a call.
    #[error("the GPU is out of memory: {what}")]
    GpuOutOfMemory {
        /// What was being done.
        what: String,
    },

    /// wgpu refused a call that passed our own checks.
    #[error("wgpu refused {what}: {reason}")]
    Gpu {
        /// What was being done.
        what: &'static str,
        /// What wgpu said.
        reason: String,
    },

    /// A status is read that nothing was recorded with, so it says nothing.
    #[error("nothing was recorded with this status, so it has counted no indices")]
    StatusUnused,

    /// A recording is given the status of another plan.
    #[error("{op}: the status was made for another plan; each plan has its own")]
    OtherStatus {
        /// The operator.
        op: OpKind,
    },

    /// Bad indices are asked for that nobody counted.
    #[error(
        "the calls that wrote to this tensor did not count bad indices: their rules have no out_of_bounds = error (Engine::bad_indices counts under any rules)"
    )]
    NotCounted,

    /// The device reports what it cannot have found: its driver computes wrongly, or nothing.
    #[error(
        "{op}: the device reports {what} as {got} (allowed: {allowed}); its driver is at fault"
    )]
    ImpossibleReport {
        /// The operator.
        op: OpKind,
        /// What is reported.
        what: &'static str,
        /// What the device says.
        got: String,
        /// What it could have said.
        allowed: String,
    },

    /// The device was lost or destroyed; a new one is needed.
    #[error("the GPU device is lost: {reason}")]
    DeviceLost {
        /// What wgpu said.
        reason: String,
    },
}

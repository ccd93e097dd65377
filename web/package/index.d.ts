/** `Float16Array`, where TypeScript knows it; not all browsers have it yet. */
type Halves = typeof globalThis extends { Float16Array: { prototype: infer T } } ? T : never;

/** The typed arrays that can be gathered. */
export type TensorData =
  | Halves
  | Uint8Array | Uint8ClampedArray | Int8Array
  | Uint16Array | Int16Array
  | Uint32Array | Int32Array | Float32Array
  | BigUint64Array | BigInt64Array | Float64Array;

/** The typed arrays that can index; a plain array is read as 32-bit signed. */
export type IndexData =
  | number[]
  | Uint8Array | Int8Array | Uint16Array | Int16Array
  | Uint32Array | Int32Array | BigUint64Array | BigInt64Array;

/** A tensor in JavaScript's memory, row-major. */
export interface Tensor<D = TensorData> {
  data: D;
  shape: ArrayLike<number>;
}

/** What a gather gives. */
export interface Output<D> {
  data: D;
  shape: number[];
}

/** The rules of frameworks for indices. */
export type Preset =
  | 'tensorflow-gpu' | 'tensorflow-cpu' | 'xla' | 'onnx' | 'onnx-cuda' | 'torch'
  | 'numpy' | 'numpy-wrap' | 'numpy-clip' | 'jax-clip' | 'jax-fill' | 'webnn'
  | 'openvino-7' | 'openvino-8';

/** What a negative index means, and what an index out of bounds gives. */
export interface OwnRules {
  /** Out of bounds (the default), or counted from the end. */
  negative?: 'out-of-bounds' | 'from-end';
  /** Zeros (the default), the nearest index, the index modulo the extent, `fill`, or an error. */
  outOfBounds?: 'zero' | 'clip' | 'wrap' | 'error' | 'fill';
  fill?: number | bigint;
}

/** Rules for indices: those of TensorFlow on a GPU, if nothing is said. */
export type Rules = Preset | OwnRules;

export interface GatherOptions {
  /** The axis that is looked up; the first after the batch dims, if nothing is said. */
  axis?: number;
  /** How many leading dims params and indices share. */
  batchDims?: number;
  rules?: Rules;
}

export interface GatherNdOptions {
  batchDims?: number;
  rules?: Rules;
}

export interface GatherElementsOptions {
  axis: number;
  rules?: Rules;
}

/** A call that failed. `message` is the text that the Rust library has for it. */
export class GatherError extends Error {
  /** The kind of failure as the Rust library names it, or `Call` for a call that makes no sense. */
  readonly code: string;
  /** Of `IndexOutOfBounds`: where in indices the first bad index is. */
  readonly position?: number[];
  /** Its value. */
  readonly value?: bigint;
  /** The dim of params that it was to select from, and that dim's extent. */
  readonly axis?: number;
  readonly extent?: number;
  /** How many indices are bad in all. */
  readonly count?: number;
}

/** Loads the WebAssembly, once; every call does so too. `source`: if it is not beside this file. */
export function init(source?: string | URL | Request | Response | BufferSource): Promise<unknown>;

/** A buffer of a tensor on the device: a `GPUBuffer` of `engine.device`. */
export interface Part {
  readonly buffer: GPUBuffer;
  /** The first byte of the tensor that lies in `buffer`. It lies at its start. */
  readonly start: number;
}

/** A tensor on the device. It is freed by `free()`, or when nothing refers to it. */
export class DeviceTensor<D extends TensorData = TensorData> {
  private constructor();
  readonly dtype: string;
  readonly shape: number[];
  /**
   * The buffers that the elements lie in, row-major, for shaders of the page. One, unless the tensor
   * is larger than the device's `maxBufferSize`. They are the page's to keep: freeing the tensor does
   * not give them to another one.
   */
  readonly parts: Part[];
  /** The elements. A bad index of the gathers that made the tensor is reported here. */
  download(): Promise<Output<D>>;
  /** Waits for the gathers that made the tensor, and reports a bad index. */
  check(): Promise<void>;
  free(): void;
}

/** A table in blocks of GGUF, row-major: `shape` counts elements, `data` has the bytes of the blocks. */
export interface QuantizedTable {
  /** The format's name in GGUF files, such as `Q4_0`, `Q8_0` or `Q6_K`. */
  format: string;
  shape: ArrayLike<number>;
  data: Uint8Array;
}

export interface QuantizedOptions {
  /** The operator; `gather`, if nothing is said. */
  op?: 'gather' | 'gatherNd' | 'gatherElements';
  axis?: number;
  batchDims?: number;
  rules?: Rules;
  /** What elements are decoded to; `f16` where the browser has `Float16Array`. */
  to?: 'f32' | 'f16';
}

/** A quantized table on the device. It is freed by `free()`, or when nothing refers to it. */
export class DeviceQuantizedTable {
  private constructor();
  readonly shape: number[];
  free(): void;
}

/** What becomes of updates that meet at one place; `none`: the last one stays. */
export type Reduce = 'none' | 'add' | 'mul' | 'min' | 'max';

export interface ScatterOptions extends GatherOptions {
  /** `none`, if nothing is said. */
  reduce?: Reduce;
}

export interface ScatterNdOptions extends GatherNdOptions {
  reduce?: Reduce;
}

export interface ScatterElementsOptions extends GatherElementsOptions {
  reduce?: Reduce;
}

/** An operator by its name, with what it takes; `scatter`, if nothing is said. */
export type ScatterIntoOptions =
  | ({ op?: 'scatter' } & ScatterOptions)
  | ({ op: 'scatterNd' } & ScatterNdOptions)
  | ({ op: 'scatterElements' } & ScatterElementsOptions);

/** The gather whose gradient is taken; `gather`, if nothing is said. */
export type GradientOptions =
  | ({ op?: 'gather' } & GatherOptions)
  | ({ op: 'gatherNd' } & GatherNdOptions)
  | ({ op: 'gatherElements' } & GatherElementsOptions);

export interface BagOptions<T> {
  /** What becomes of the rows of a bag: their sum, if nothing is said. */
  mode?: 'sum' | 'mean' | 'max';
  /** Where bags start, among indices of one dim. Without it, each row of two dims is a bag. */
  offsets?: IndexData;
  /** The last offset is the end of the last bag. */
  includeLastOffset?: boolean;
  /** A weight for each index, for sums. On the device if params are. */
  weights?: T;
  /** The row of params that counts as none; negative from the end. */
  paddingIndex?: number;
  rules?: Rules;
}

/** Gathers on one device, or on the CPU. Calls may overlap. */
export class Engine {
  private constructor();
  /**
   * On WebGPU, on a device of its own; fails without WebGPU. wgpu cannot take a `GPUDevice` of the
   * page, so there is no argument for one: use `engine.device` in the page instead.
   */
  static gpu(): Promise<Engine>;
  /** In WebAssembly, on this thread. */
  static cpu(): Promise<Engine>;
  /** On WebGPU if the browser has it, else on the CPU. */
  static auto(): Promise<Engine>;
  readonly description: string;
  /** The engine's device, for the page's own buffers and shaders; nothing on the CPU path. */
  readonly device: GPUDevice | undefined;
  /** Bytes of buffers that freed tensors left for later ones. */
  readonly unusedBytes: number;

  /** `tf.gather`, ONNX Gather, `torch.index_select`: each index selects a slice along an axis. */
  gather<D extends TensorData>(
    params: Tensor<D>, indices: Tensor<IndexData>, options?: GatherOptions,
  ): Promise<Output<D>>;
  gather<D extends TensorData>(
    params: DeviceTensor<D>, indices: DeviceTensor, options?: GatherOptions,
  ): Promise<DeviceTensor<D>>;
  /** `tf.gather_nd`, ONNX GatherND: each tuple of indices selects a slice. */
  gatherNd<D extends TensorData>(
    params: Tensor<D>, indices: Tensor<IndexData>, options?: GatherNdOptions,
  ): Promise<Output<D>>;
  gatherNd<D extends TensorData>(
    params: DeviceTensor<D>, indices: DeviceTensor, options?: GatherNdOptions,
  ): Promise<DeviceTensor<D>>;
  /** `torch.gather`, ONNX GatherElements: each index selects an element along an axis. */
  gatherElements<D extends TensorData>(
    params: Tensor<D>, indices: Tensor<IndexData>, options: GatherElementsOptions,
  ): Promise<Output<D>>;
  gatherElements<D extends TensorData>(
    params: DeviceTensor<D>, indices: DeviceTensor, options: GatherElementsOptions,
  ): Promise<DeviceTensor<D>>;

  /** Gathers from a quantized table, and decodes what it gathers. */
  gatherQuantized(
    table: QuantizedTable, indices: Tensor<IndexData>, options?: QuantizedOptions & { to?: 'f32' },
  ): Promise<Output<Float32Array>>;
  gatherQuantized(
    table: QuantizedTable, indices: Tensor<IndexData>, options: QuantizedOptions & { to: 'f16' },
  ): Promise<Output<Halves>>;
  gatherQuantized(
    table: DeviceQuantizedTable, indices: DeviceTensor, options?: QuantizedOptions & { to?: 'f32' },
  ): Promise<DeviceTensor<Float32Array>>;
  gatherQuantized(
    table: DeviceQuantizedTable, indices: DeviceTensor, options: QuantizedOptions & { to: 'f16' },
  ): Promise<DeviceTensor<Halves>>;
  /** Uploads a quantized table as it is, to be gathered from any number of times. */
  uploadQuantized(table: QuantizedTable): Promise<DeviceQuantizedTable>;

  /**
   * Over a copy of `base`, the transpose of `gather`: `updates` has the shape of its output. Updates that
   * meet are taken in the order of the indices. An index for which the rules read zeros or a fill value
   * writes nothing.
   */
  scatter<D extends TensorData>(
    base: Tensor<D>, indices: Tensor<IndexData>, updates: Tensor<D>, options?: ScatterOptions,
  ): Promise<Output<D>>;
  scatter<D extends TensorData>(
    base: DeviceTensor<D>, indices: DeviceTensor, updates: DeviceTensor<D>, options?: ScatterOptions,
  ): Promise<DeviceTensor<D>>;
  /** The transpose of `gatherNd`. */
  scatterNd<D extends TensorData>(
    base: Tensor<D>, indices: Tensor<IndexData>, updates: Tensor<D>, options?: ScatterNdOptions,
  ): Promise<Output<D>>;
  scatterNd<D extends TensorData>(
    base: DeviceTensor<D>, indices: DeviceTensor, updates: DeviceTensor<D>, options?: ScatterNdOptions,
  ): Promise<DeviceTensor<D>>;
  /** The transpose of `gatherElements`. */
  scatterElements<D extends TensorData>(
    base: Tensor<D>, indices: Tensor<IndexData>, updates: Tensor<D>, options: ScatterElementsOptions,
  ): Promise<Output<D>>;
  scatterElements<D extends TensorData>(
    base: DeviceTensor<D>, indices: DeviceTensor, updates: DeviceTensor<D>, options: ScatterElementsOptions,
  ): Promise<DeviceTensor<D>>;
  /** Scatters into a tensor on the device, such as a cache. A bad index is reported when that is downloaded. */
  scatterInto<D extends TensorData>(
    destination: DeviceTensor<D>, indices: DeviceTensor, updates: DeviceTensor<D>, options?: ScatterIntoOptions,
  ): Promise<void>;

  /** The gradient of a gather with respect to its params: for each, the sum over where it was read. */
  gatherGradient<D extends TensorData>(
    paramsShape: ArrayLike<number>, indices: Tensor<IndexData>, gradOutput: Tensor<D>, options?: GradientOptions,
  ): Promise<Output<D>>;
  gatherGradient<D extends TensorData>(
    paramsShape: ArrayLike<number>, indices: DeviceTensor, gradOutput: DeviceTensor<D>, options?: GradientOptions,
  ): Promise<DeviceTensor<D>>;

  /** Pooled lookups: one row for each bag of indices. An empty bag gives zeros. */
  embeddingBag<D extends TensorData>(
    params: Tensor<D>, indices: Tensor<IndexData>, options?: BagOptions<Tensor<D>>,
  ): Promise<Output<D>>;
  embeddingBag<D extends TensorData>(
    params: DeviceTensor<D>, indices: DeviceTensor, options?: BagOptions<DeviceTensor<D>>,
  ): Promise<DeviceTensor<D>>;

  /** How a call is executed and why, in words. On the CPU path: on a device with default limits. */
  explain(
    op: 'gather' | 'gather_nd' | 'gather_elements',
    params: Tensor | DeviceTensor, indices: Tensor<IndexData> | DeviceTensor, options?: GatherOptions,
  ): Promise<string>;

  /** Uploads a tensor, to be gathered from or by any number of times. */
  upload<D extends TensorData>(tensor: Tensor<D>): Promise<DeviceTensor<D>>;
  /** Uploads indices: narrow types are widened to 32 bits. */
  uploadIndices(indices: Tensor<IndexData>): Promise<DeviceTensor>;
  free(): void;
}

/** Recorded answers of frameworks (the text of a case file), built-in calls, or random ones of each verb. */
export class Suite {
  private constructor();
  static read(text: string): Promise<Suite>;
  static builtin(): Promise<Suite>;
  static random(count: number): Promise<Suite>;
  readonly length: number;
  run(engine: Engine, at: number): Promise<{
    name: string;
    outcome: 'passed' | 'failed' | 'skipped';
    detail: string;
  }>;
  free(): void;
}

// The package: what it exports; types of tensors and options are in options.d.ts.
import type {
  BagOptions, GatherElementsOptions, GatherNdOptions, GatherOptions, GradientOptions, Halves, IndexData, Output,
  QuantizedOptions, QuantizedTable, ScatterElementsOptions, ScatterIntoOptions, ScatterNdOptions, ScatterOptions, Tensor,
  TensorData,
} from './options.js';
export * from './options.js';

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

/** A quantized table on the device. It is freed by `free()`, or when nothing refers to it. */
export class DeviceQuantizedTable {
  private constructor();
  readonly shape: number[];
  free(): void;
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
  /** Likewise a scatter into `base`; a gradient is one with `add`. */
  explain(
    op: 'scatter' | 'scatter_nd' | 'scatter_elements',
    base: Tensor | DeviceTensor, indices: Tensor<IndexData> | DeviceTensor, options?: ScatterOptions,
  ): Promise<string>;
  explain(
    op: 'embedding_bag',
    params: Tensor | DeviceTensor, indices: Tensor<IndexData> | DeviceTensor, options?: BagOptions<unknown>,
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

// Tensors, rules and the options of calls.

/** `Float16Array`, where TypeScript knows it; not all browsers have it yet. */
export type Halves = typeof globalThis extends { Float16Array: { prototype: infer T } } ? T : never;

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

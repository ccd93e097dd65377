// Gathers on typed arrays: `gather`, `gatherNd`, `gatherElements`, on WebGPU or, without it, in
// WebAssembly. What is bound is in raw.js; types are in index.d.ts.
import load, { RawEngine, RawSuite } from './raw.js';

/** A call that failed; `code` names the kind of failure, `message` is the library's text. */
export class GatherError extends Error {
  constructor({ message, code, ...facts }) {
    super(message);
    this.name = 'GatherError';
    this.code = code;
    Object.assign(this, facts);
  }
}

const ARRAYS = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f64: Float64Array,
};
if (typeof Float16Array !== 'undefined') ARRAYS.f16 = Float16Array;

/** The types of indices that reach the device, and what narrower ones are widened to. */
const INDEX_TYPES = { i8: 'i32', i16: 'i32', u8: 'u32', u16: 'u32' };
for (const same of ['i32', 'u32', 'i64', 'u64']) INDEX_TYPES[same] = same;

const fail = (message) => {
  throw new GatherError({ code: 'Call', message });
};

function dtypeOf(data) {
  if (data instanceof Uint8ClampedArray) return 'u8';
  const found = Object.entries(ARRAYS).find(([, Type]) => data instanceof Type);
  return found ? found[0] : fail('the data of a tensor is a typed array');
}

const bytesOf = (data) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** wasm-bindgen would cut what is no whole number below 2^32. */
function checkedShape(shape) {
  const dims = Array.from(shape);
  const allowed = (n) => Number.isInteger(n) && n >= 0 && n < 2 ** 32;
  return dims.every(allowed) ? dims : fail(`[${dims}] is no shape`);
}

function tensorOf({ shape, bytes }, dtype) {
  const Type = ARRAYS[dtype];
  return { shape, data: new Type(bytes.buffer, 0, bytes.byteLength / Type.BYTES_PER_ELEMENT) };
}

/** Indices as the device reads them. */
function widened({ data, shape }) {
  if (Array.isArray(data)) data = Int32Array.from(data);
  const dtype = dtypeOf(data);
  const wide = INDEX_TYPES[dtype] ?? fail(`indices of type ${dtype}`);
  return { data: wide === dtype ? data : ARRAYS[wide].from(data), shape, dtype: wide };
}

/** The rules as the binding reads them: a preset's name, or an object with the fill as bytes. */
function rawRules(rules = 'tensorflow-gpu', dtype) {
  if (typeof rules === 'string') return rules;
  const { negative = 'out-of-bounds', outOfBounds = 'zero', fill } = rules;
  if (outOfBounds !== 'fill') return { negative, outOfBounds };
  if (fill === undefined) return fail('outOfBounds "fill" needs a fill');
  const big = dtype === 'i64' || dtype === 'u64';
  const value = ARRAYS[dtype].of(big ? BigInt(fill) : Number(fill));
  return { negative, outOfBounds, fill: Array.from(bytesOf(value)) };
}

function callOf(op, { axis, batchDims = 0, rules }, params, indices) {
  return JSON.stringify({
    op,
    axis: axis ?? null,
    batchDims,
    rules: rawRules(rules, params.dtype),
    dtype: params.dtype,
    paramsShape: checkedShape(params.shape),
    indexType: indices.dtype,
    indicesShape: checkedShape(indices.shape),
  });
}

/** Runs `work`; what the binding throws becomes a GatherError. */
async function typed(work) {
  try {
    return await work();
  } catch (thrown) {
    throw thrown?.code && !(thrown instanceof Error) ? new GatherError(thrown) : thrown;
  }
}

let ready;
/** Loads the WebAssembly, once. `source` is where it is, if not beside this file. */
export const init = (source) =>
  (ready ??= load(source === undefined ? undefined : { module_or_path: source }));

/** A tensor on the device. It is freed by `free()`, or when nothing refers to it. */
export class DeviceTensor {
  #raw;
  constructor(raw, dtype) {
    this.#raw = raw;
    this.dtype = dtype;
    this.shape = Array.from(raw.shape);
  }
  /** @internal */
  get raw() {
    return this.#raw ?? fail('the tensor was freed');
  }
  get parts() {
    return this.raw.parts;
  }
  download() {
    return typed(async () => tensorOf(await this.raw.download(), this.dtype));
  }
  check() {
    return typed(() => this.raw.check());
  }
  free() {
    this.#raw?.free();
    this.#raw = undefined;
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}

/** A quantized table on the device. It is freed by `free()`, or when nothing refers to it. */
export class DeviceQuantizedTable {
  #raw;
  constructor(raw) {
    this.#raw = raw;
    this.shape = Array.from(raw.shape);
  }
  /** @internal */
  get raw() {
    return this.#raw ?? fail('the table was freed');
  }
  free() {
    this.#raw?.free();
    this.#raw = undefined;
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}

const OPERATORS = { gather: 'gather', gatherNd: 'gather_nd', gatherElements: 'gather_elements' };

/** Gathers on one device, or on the CPU. */
export class Engine {
  #raw;
  constructor(raw) {
    this.#raw = raw;
  }
  /** On WebGPU. */
  static async gpu(...given) {
    if (given.length > 0) {
      return fail('Engine.gpu takes no device: wgpu makes its own. Use that, which is engine.device');
    }
    await init();
    return typed(async () => new Engine(await RawEngine.gpu()));
  }
  /** In WebAssembly, on this thread. */
  static async cpu() {
    await init();
    return new Engine(RawEngine.cpu());
  }
  /** On WebGPU if the browser has it, else on the CPU. */
  static async auto() {
    return Engine.gpu().catch(() => Engine.cpu());
  }
  /** For tests: on WebGPU, with shaders that read a step too far or, if `broken`, are none. */
  static async withPlantedFault(broken = false) {
    await init();
    return typed(async () => new Engine(await RawEngine.withPlantedFault(broken)));
  }
  /** @internal */
  get raw() {
    return this.#raw ?? fail('the engine was freed');
  }
  get description() {
    return this.raw.describe();
  }
  get device() {
    return this.raw.device;
  }
  get unusedBytes() {
    return this.raw.unusedBytes();
  }
  gather(params, indices, options = {}) {
    return this.#gather('gather', params, indices, options);
  }
  gatherNd(params, indices, options = {}) {
    return this.#gather('gather_nd', params, indices, options);
  }
  gatherElements(params, indices, options = {}) {
    return this.#gather('gather_elements', params, indices, options);
  }
  /** Gathers from a quantized table, and decodes what it gathers. */
  gatherQuantized(table, indices, { op = 'gather', to = 'f32', ...options } = {}) {
    return typed(async () => {
      const operator = OPERATORS[op] ?? fail(`unknown operator "${op}"`);
      if (!ARRAYS[to]) return fail(`"${to}" has no typed array`);
      const from = { dtype: to, shape: table.shape };
      const stays = table instanceof DeviceQuantizedTable;
      if (stays !== indices instanceof DeviceTensor) {
        return fail('the table and the indices are both on the device, or neither is');
      }
      if (stays) {
        const call = callOf(operator, options, from, indices);
        return new DeviceTensor(await table.raw.gather(call, indices.raw), to);
      }
      const at = widened(indices);
      const call = callOf(operator, options, from, at);
      const made = await this.raw.gatherQuantized(table.format, call, bytesOf(table.data), bytesOf(at.data));
      return tensorOf(made, to);
    });
  }
  /** Uploads a quantized table as it is, to be gathered from any number of times. */
  uploadQuantized({ format, shape, data }) {
    return typed(async () => {
      const dims = Uint32Array.from(checkedShape(shape));
      return new DeviceQuantizedTable(await this.raw.uploadQuantized(format, dims, bytesOf(data)));
    });
  }
  /** How a call is executed and why, in words: `op` is gather, gather_nd or gather_elements. */
  explain(op, params, indices, options = {}) {
    return typed(async () => {
      const from = { dtype: params.dtype ?? dtypeOf(params.data), shape: params.shape };
      const at = indices instanceof DeviceTensor ? indices : widened(indices);
      return this.raw.explain(callOf(op, options, from, at));
    });
  }
  /** Uploads a tensor, to be gathered from or by any number of times. */
  upload({ data, shape }) {
    return typed(async () => {
      const dtype = dtypeOf(data);
      const dims = Uint32Array.from(checkedShape(shape));
      return new DeviceTensor(await this.raw.upload(dtype, dims, bytesOf(data)), dtype);
    });
  }
  /** Uploads indices: narrow types are widened to 32 bits. */
  uploadIndices(indices) {
    return typed(() => this.upload(widened(indices)));
  }
  free() {
    this.#raw?.free();
    this.#raw = undefined;
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }

  #gather(op, params, indices, options) {
    const stays = params instanceof DeviceTensor;
    if (stays !== indices instanceof DeviceTensor) {
      return typed(() => fail('params and indices are both on the device, or neither is'));
    }
    return typed(async () => {
      if (stays) {
        const call = callOf(op, options, params, indices);
        const made = await this.raw.gatherOnDevice(call, params.raw, indices.raw);
        return new DeviceTensor(made, params.dtype);
      }
      const from = { dtype: dtypeOf(params.data), shape: params.shape };
      const at = widened(indices);
      const call = callOf(op, options, from, at);
      const made = await this.raw.gather(call, bytesOf(params.data), bytesOf(at.data));
      return tensorOf(made, from.dtype);
    });
  }
}

/** Recorded answers of frameworks (the text of a case file), or the built-in calls. */
export class Suite {
  #raw;
  constructor(raw) {
    this.#raw = raw;
    this.length = raw.length;
  }
  static read(text) {
    return typed(async () => {
      await init();
      return new Suite(RawSuite.read(text));
    });
  }
  static async builtin() {
    await init();
    return new Suite(RawSuite.builtin());
  }
  /** Runs one case: `{ name, outcome, detail }`. */
  run(engine, at) {
    return typed(() => this.#raw.run(engine.raw, at));
  }
  /** For tests: flips a bit of what case `at` expects; whether there was one. */
  plantFault(at) {
    return this.#raw.plantFault(at);
  }
  free() {
    this.#raw.free();
  }
}

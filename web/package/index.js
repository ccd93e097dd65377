// Gathers on typed arrays: `gather`, `gatherNd`, `gatherElements`, on WebGPU or, without it, in
// WebAssembly; their transposes and pooled lookups are in folds.js. What is bound is in raw.js; types
// are in index.d.ts and options.d.ts.
import {
  ARRAYS, GATHERS, GatherError, SCATTERS, bytesOf, callOf, checkedShape, dtypeOf, fail, tensorOf, typed, widened,
} from './calls.js';
import { embeddingBag, explainBag, explainScatter, gatherGradient, scatter, scatterInto } from './folds.js';
import load, { RawEngine, RawSuite } from './raw.js';
import { DeviceQuantizedTable, DeviceTensor, onDevice } from './tensors.js';

export { DeviceQuantizedTable, DeviceTensor, GatherError };

let ready;
/** Loads the WebAssembly, once. `source` is where it is, if not beside this file. */
export const init = (source) =>
  (ready ??= load(source === undefined ? undefined : { module_or_path: source }));

/** Gathers on one device, or on the CPU. */
export class Engine {
  #raw;
  // A method for each operator, and for each transpose.
  static {
    for (const [method, op] of Object.entries(GATHERS)) {
      this.prototype[method] = function (params, indices, options = {}) {
        return this.#gather(op, params, indices, options);
      };
    }
    for (const [method, op] of Object.entries(SCATTERS)) {
      this.prototype[method] = function (base, indices, updates, options = {}) {
        return typed(() => scatter(this.raw, op, base, indices, updates, options));
      };
    }
  }
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
  static async withPlantedFault(name) {
    await init();
    return typed(async () => new Engine(await RawEngine.withPlantedFault(name)));
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
  /** Gathers from a quantized table, and decodes what it gathers. */
  gatherQuantized(table, indices, { op = 'gather', to = 'f32', ...options } = {}) {
    return typed(async () => {
      const operator = GATHERS[op] ?? fail(`unknown operator "${op}"`);
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
  /** Scatters into a tensor on the device. */
  scatterInto(destination, indices, updates, options = {}) {
    return typed(() => scatterInto(this.raw, destination, indices, updates, options));
  }
  /** The gradient of a gather with respect to its params. */
  gatherGradient(paramsShape, indices, gradOutput, { op = 'gather', ...options } = {}) {
    return typed(() => {
      const operator = GATHERS[op] ?? fail(`unknown operator "${op}"`);
      return gatherGradient(this.raw, operator, paramsShape, indices, gradOutput, options);
    });
  }
  /** Makes one row of each bag of indices: the sum, mean or maximum of the rows that they select. */
  embeddingBag(params, indices, options = {}) {
    return typed(() => embeddingBag(this.raw, params, indices, options));
  }
  /** How a call is executed and why, in words: `op` is the operator's name in the library. */
  explain(op, params, indices, options = {}) {
    return typed(async () => {
      const from = { dtype: params.dtype ?? dtypeOf(params.data), shape: params.shape };
      const at = indices instanceof DeviceTensor ? indices : widened(indices);
      if (op === 'embedding_bag') return explainBag(this.raw, from, at, options);
      if (op.startsWith('scatter')) return explainScatter(this.raw, op, from, at, options);
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
    return typed(async () => {
      if (onDevice('params and indices', params, indices)) {
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
  /** So many random calls of each verb, and as many from quantised tables. */
  static async random(count) {
    await init();
    return new Suite(RawSuite.random(count));
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

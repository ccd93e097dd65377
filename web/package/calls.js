// Tensors and calls as the binding reads them, and what becomes of its errors.

/** A call that failed; `code` names the kind of failure, `message` is the library's text. */
export class GatherError extends Error {
  constructor({ message, code, ...facts }) {
    super(message);
    this.name = 'GatherError';
    this.code = code;
    Object.assign(this, facts);
  }
}

/** Methods, and the operators of the library that they call. */
export const GATHERS = { gather: 'gather', gatherNd: 'gather_nd', gatherElements: 'gather_elements' };

const transposed = (name) => name.replace('gather', 'scatter');

/** Their transposes. */
export const SCATTERS = Object.fromEntries(
  Object.entries(GATHERS).map(([method, op]) => [transposed(method), transposed(op)]),
);

export const ARRAYS = {
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

export const fail = (message) => {
  throw new GatherError({ code: 'Call', message });
};

export function dtypeOf(data) {
  if (data instanceof Uint8ClampedArray) return 'u8';
  const found = Object.entries(ARRAYS).find(([, Type]) => data instanceof Type);
  return found ? found[0] : fail('the data of a tensor is a typed array');
}

export const bytesOf = (data) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** wasm-bindgen would cut what is no whole number below 2^32. */
export function checkedShape(shape) {
  const dims = Array.from(shape);
  const allowed = (n) => Number.isInteger(n) && n >= 0 && n < 2 ** 32;
  return dims.every(allowed) ? dims : fail(`[${dims}] is no shape`);
}

export function tensorOf({ shape, bytes }, dtype) {
  const Type = ARRAYS[dtype];
  return { shape, data: new Type(bytes.buffer, 0, bytes.byteLength / Type.BYTES_PER_ELEMENT) };
}

/** What an Int32Array would keep of `n` is `n`. */
const whole = (n) => (n === (n | 0) ? n : fail(`index ${n} is no 32-bit integer; a BigInt64Array holds wider ones`));

/** Indices as the device reads them. */
export function widened({ data, shape }) {
  if (Array.isArray(data)) data = Int32Array.from(data, whole);
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

/** An option that may be left out; JSON would do so with NaN. */
export function integer(name, n) {
  if (n === undefined || n === null) return null;
  return Number.isInteger(n) ? n : fail(`${name} ${n} is no integer`);
}

export function callOf(op, { axis, batchDims = 0, rules }, params, indices) {
  return JSON.stringify({
    op,
    axis: integer('axis', axis),
    batchDims: integer('batchDims', batchDims),
    rules: rawRules(rules, params.dtype),
    dtype: params.dtype,
    paramsShape: checkedShape(params.shape),
    indexType: indices.dtype,
    indicesShape: checkedShape(indices.shape),
  });
}

/** Runs `work`; what the binding throws becomes a GatherError. */
export async function typed(work) {
  try {
    return await work();
  } catch (thrown) {
    throw thrown?.code && !(thrown instanceof Error) ? new GatherError(thrown) : thrown;
  }
}

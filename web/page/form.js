// The form: the call that it describes, and which of its fields a verb has.
import { VERBS, dimsOf, lookedUpShape } from './verbs.js';

const form = document.getElementById('call');
const field = form.elements;

const TYPES = {
  f32: Float32Array, f64: Float64Array, i8: Int8Array, u8: Uint8Array, i16: Int16Array,
  u16: Uint16Array, i32: Int32Array, u32: Uint32Array, i64: BigInt64Array, u64: BigUint64Array,
};
const INDEX_TYPES = ['i32', 'i64', 'u32', 'u64', 'i16', 'u16', 'i8', 'u8'];
const RULES = [
  'tensorflow-gpu', 'tensorflow-cpu', 'onnx', 'onnx-cuda', 'torch', 'numpy', 'numpy-wrap',
  'numpy-clip', 'jax-fill', 'jax-clip', 'xla', 'webnn', 'openvino-7', 'openvino-8',
];

/** Params of a file, while type and shape are those of the file. */
let kept;

const elements = (shape) => shape.reduce((a, b) => a * b, 1);
const isBig = (dtype) => dtype === 'i64' || dtype === 'u64';
const isFloat = (dtype) => dtype === 'f32' || dtype === 'f64';
const words = (text, between) => text.split(between).filter(Boolean);

function checked(shape, role) {
  if (elements(shape) > 2 ** 24) throw new Error(`${role} shape: at most 16,777,216 elements on this page`);
  return shape;
}

function shapeOf(text, role) {
  const dims = words(text, /[\s,x×]+/).map(Number);
  if (dims.some((n) => !Number.isInteger(n) || n < 0)) throw new Error(`${role} shape: "${text}" is no list of dims`);
  return checked(dims, role);
}

/** The numbers of a text. */
function numbers(text, dtype, role) {
  const read = isBig(dtype) ? BigInt : Number;
  return words(text, /[\s,]+/).map((value) => {
    if (!isFloat(dtype) && !/^-?\d+$/.test(value)) throw new Error(`${role}: "${value}" is no integer`);
    if (Number.isNaN(Number(value)) && !/^nan$/i.test(value)) throw new Error(`${role}: "${value}" is no number`);
    return read(value);
  });
}

/** Values as typed in, repeated or cut to `count`; without any, `otherwise(position)`. */
function parsed(text, dtype, count, role, otherwise) {
  const read = isBig(dtype) ? BigInt : Number;
  const typed = numbers(text, dtype, role);
  const value = typed.length > 0 ? (n) => typed[n % typed.length] : (n) => read(otherwise(n));
  return TYPES[dtype].from({ length: count }, (_, n) => value(n));
}

function paramsOf(shape, dtype) {
  if (kept?.dtype === dtype && String(kept.shape) === String(shape)) return kept.data;
  return parsed('', dtype, elements(shape), 'params', (n) => n);
}

/** Values of a type, from the text of a field; where that is empty, 1, 2, 3, … */
function updatesOf(text, shape, dtype, role) {
  const data = parsed(text, dtype, elements(checked(shape, role)), role, (n) => n + 1);
  return { data, shape, dtype };
}

function bagOptions() {
  const options = { mode: field.mode.value };
  const offsets = field.offsets.value.trim();
  if (offsets) {
    options.offsets = numbers(offsets, 'i32', 'offsets');
    options.includeLastOffset = field.includeLastOffset.checked;
  }
  if (field.paddingIndex.value) options.paddingIndex = Number(field.paddingIndex.value);
  return options;
}

/** The call that the form describes, but for updates and weights. */
function described() {
  const [verb, dtype, indexType] = [field.verb.value, field.dtype.value, field.indexType.value];
  const { roles } = VERBS[verb];
  const params = { shape: shapeOf(field.paramsShape.value, roles.params ?? 'params'), dtype };
  if (roles.params) params.data = paramsOf(params.shape, dtype);
  const indices = { shape: shapeOf(field.indicesShape.value, 'indices'), dtype: indexType };
  indices.data = parsed(field.values.value, indexType, elements(indices.shape), 'indices', () => 0);
  const call = { verb, op: field.op.value, params, indices, options: { rules: field.rules.value } };
  if (verb === 'embedding_bag') {
    call.op = 'gather';
    Object.assign(call.options, bagOptions());
    return call;
  }
  if (call.op !== 'gather_nd') call.options.axis = Number(field.axis.value);
  if (call.op !== 'gather_elements') call.options.batchDims = Number(field.batchDims.value);
  if (verb === 'scatter') call.options.reduce = field.reduce.value;
  return call;
}

/** The field of a call's updates or weights, and their shape. */
const updatesField = (call) =>
  call.verb === 'embedding_bag'
    ? { input: field.weights, shape: call.indices.shape }
    : { input: field.updates, shape: lookedUpShape(call) };

/** The call that the form describes. */
export function read() {
  const call = described();
  const name = VERBS[call.verb].roles.updates;
  const { input, shape } = updatesField(call);
  const left = call.verb === 'embedding_bag' && !input.value.trim();
  if (name && !left) call.updates = updatesOf(input.value, shape, call.params.dtype, name);
  return call;
}

/** Shows the fields that the verb has, under its names. */
export function arrange() {
  const verb = field.verb.value;
  for (const part of document.querySelectorAll('[data-verbs]')) {
    part.hidden = !part.dataset.verbs.split(' ').includes(verb);
  }
  for (const name of document.querySelectorAll('[data-role]')) {
    const { role } = name.dataset;
    name.textContent = VERBS[verb].roles[role] ?? role;
  }
  const prefix = verb === 'scatter' ? 'scatter' : 'gather';
  for (const option of field.op.options) option.textContent = option.value.replace('gather', prefix);
  field.axis.disabled = field.op.value === 'gather_nd';
  field.batchDims.disabled = field.op.value === 'gather_elements';
  field.includeLastOffset.disabled = !field.offsets.value.trim();
}

/** Fills in random indices, all of them in bounds. */
export function randomIndices() {
  const call = described();
  const { op, params, indices } = call;
  const { axis, batch } = dimsOf(call);
  const extent = (n) => params.shape[op === 'gather_nd' ? batch + (n % indices.shape.at(-1)) : axis];
  const values = Array.from(indices.data.slice(0, 1024), (_, n) => Math.floor(Math.random() * extent(n)));
  field.values.value = values.join(' ');
}

/** Takes an array of a file as params, as indices or as updates. */
export function takeArray(role, { data, shape, dtype }) {
  if (!TYPES[dtype]) throw new Error(`arrays of ${dtype} are not shown here`);
  if (role === 'params') {
    kept = { data, shape, dtype };
    field.dtype.value = dtype;
    field.paramsShape.value = shape.join(', ');
  } else if (role === 'indices') {
    if (!INDEX_TYPES.includes(dtype)) throw new Error(`indices are integers, not ${dtype}`);
    field.indexType.value = dtype;
    field.indicesShape.value = shape.join(', ');
    field.values.value = data.join(' ');
  } else {
    const call = described();
    const name = VERBS[call.verb].roles.updates;
    const { input, shape: wanted } = updatesField(call);
    if (dtype !== call.params.dtype) throw new Error(`${name} are ${dtype}, but the call is of ${call.params.dtype}`);
    if (String(shape) !== String(wanted)) {
      throw new Error(`${name} have shape [${shape.join(', ')}], but the call needs [${wanted.join(', ')}]`);
    }
    input.value = data.join(' ');
  }
}

/** Fills the lists of the form; `changed()` after each change of it. */
export function offerForm(changed) {
  field.dtype.append(...Object.keys(TYPES).map((name) => new Option(name)));
  field.indexType.append(...INDEX_TYPES.map((name) => new Option(name)));
  field.rules.append(...RULES.map((name) => new Option(name)));
  form.oninput = changed;
  form.onsubmit = (event) => event.preventDefault();
}

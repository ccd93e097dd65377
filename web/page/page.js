// The page: one call in a form, its three tensors side by side.
import { Engine, init } from './index.js';
import { MOST, coordinates, position, show, walk } from './cells.js';
import { readNpy, writeNpy } from './npy.js';
import { offerMeasure } from './measure.js';
import { offerQuantised } from './quantised.js';
import { offerVerify } from './verify.js';

const $ = (id) => document.getElementById(id);
const form = $('call');
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
/** Stands where no element was read: zeros, a fill value. Positions are counted from 1. */
const NOTHING = [0, 0xffffffff];

/** What the form does not hold: engines, the values of params, and the last output. */
const state = { engine: undefined, on: '', cpu: undefined, params: undefined, output: undefined, call: 0 };

const elements = (shape) => shape.reduce((a, b) => a * b, 1);
const isBig = (dtype) => dtype === 'i64' || dtype === 'u64';

function shapeOf(text, role) {
  const dims = text.split(/[\s,x×]+/).filter(Boolean).map(Number);
  if (dims.some((n) => !Number.isInteger(n) || n < 0)) throw new Error(`${role} shape: "${text}" is no list of dims`);
  if (elements(dims) > 2 ** 24) throw new Error(`${role} shape: at most 16,777,216 elements on this page`);
  return dims;
}

/** Values as typed in, repeated or cut to `count`. */
function parsed(text, dtype, count) {
  const values = text.split(/[\s,]+/).filter(Boolean);
  const read = isBig(dtype) ? BigInt : Number;
  const numbers = values.map((value) => {
    if (!/^-?\d+$/.test(value)) throw new Error(`indices: "${value}" is no integer`);
    return read(value);
  });
  const nothing = read(0);
  return TYPES[dtype].from({ length: count }, (_, n) => numbers[n % numbers.length] ?? nothing);
}

function paramsOf(shape, dtype) {
  const kept = state.params;
  if (kept?.dtype === dtype && String(kept.shape) === String(shape)) return kept.data;
  const value = isBig(dtype) ? BigInt : Number;
  return TYPES[dtype].from({ length: elements(shape) }, (_, n) => value(n));
}

/** The call that the form describes. */
function read() {
  const [dtype, indexType] = [field.dtype.value, field.indexType.value];
  const params = { shape: shapeOf(field.paramsShape.value, 'params'), dtype };
  params.data = paramsOf(params.shape, dtype);
  const indices = { shape: shapeOf(field.indicesShape.value, 'indices'), dtype: indexType };
  indices.data = parsed(field.values.value, indexType, elements(indices.shape));
  const op = field.op.value;
  const options = { rules: field.rules.value };
  if (op !== 'gather_nd') options.axis = Number(field.axis.value);
  if (op !== 'gather_elements') options.batchDims = Number(field.batchDims.value);
  return { op, params, indices, options };
}

function gather(engine, { op, params, indices, options }) {
  const name = { gather: 'gather', gather_nd: 'gatherNd', gather_elements: 'gatherElements' }[op];
  return engine[name](params, indices, options);
}

/** For the elements of the output that are shown, where in params they are from; -1 for none. */
async function sourcesOf(call) {
  const positions = Uint32Array.from({ length: call.params.data.length }, (_, n) => n + 1);
  const params = { shape: call.params.shape, data: positions };
  const { data } = await gather(state.cpu, { ...call, params });
  return Array.from(data.subarray(0, MOST), (at) => (NOTHING.includes(at) ? -1 : at - 1));
}

/** The positions of the indices that select an element of the output. */
function indicesOf({ op, params, indices, options }, outputShape, at) {
  const o = coordinates(outputShape, at);
  const rank = indices.shape.length;
  if (op === 'gather_elements') return [position(indices.shape, o)];
  if (op === 'gather_nd') {
    const depth = indices.shape.at(-1);
    const tuple = position(indices.shape.slice(0, -1), o.slice(0, rank - 1));
    return Array.from({ length: depth }, (_, k) => tuple * depth + k);
  }
  const batch = (options.batchDims + rank) % (rank || 1) || (options.batchDims === rank ? rank : 0);
  const axis = (options.axis + params.shape.length) % params.shape.length;
  const row = [...o.slice(0, batch), ...o.slice(axis, axis + rank - batch)];
  return [position(indices.shape, row)];
}

function colours(count) {
  return (cell, at) => {
    cell.style.setProperty('--hue', Math.round((at / Math.max(count, 1)) * 320));
    cell.style.setProperty('--tint', '60%');
  };
}

function draw(call, output, sources) {
  const colour = colours(call.params.data.length);
  const params = show($('params'), call.params, call.params.dtype, colour);
  const indices = show($('indices'), call.indices, call.indices.dtype);
  if (!output) {
    show($('output'), { data: [], shape: [] }, '', undefined);
    $('output').querySelector('small').textContent = '';
    $('output').querySelector('.scroll').replaceChildren('none');
    return;
  }
  const made = show($('output'), output, call.params.dtype, (cell, at) => {
    if (sources[at] >= 0) colour(cell, sources[at]);
    else cell.classList.add('bad');
  });
  walk($('output'), made, output.shape, (at) => {
    for (const lit of document.querySelectorAll('.lit')) lit.classList.remove('lit');
    if (at === undefined) return;
    made[at].classList.add('lit');
    params[sources[at]]?.classList.add('lit');
    for (const n of indicesOf(call, output.shape, Number(at))) indices[n]?.classList.add('lit');
  });
}

function say(error) {
  $('message').hidden = !error;
  $('message').textContent = error ? error.message : '';
}

/** Runs the call of the form; only the latest one is shown. */
async function run() {
  const turn = (state.call += 1);
  field.axis.disabled = field.op.value === 'gather_nd';
  field.batchDims.disabled = field.op.value === 'gather_elements';
  let call, output, sources, plan, failed;
  try {
    call = read();
    plan = await state.engine.explain(call.op, call.params, call.indices, call.options);
    output = await gather(state.engine, call);
    sources = await sourcesOf(call);
  } catch (error) {
    failed = error;
    if (error.code === 'DeviceLost') await start(); // for the next call
  }
  if (turn !== state.call) return;
  state.output = failed ? undefined : { ...output, dtype: call.params.dtype };
  say(failed);
  $('download').disabled = Boolean(failed);
  $('plan').textContent = plan ?? '';
  if (call) draw(call, state.output, sources);
  document.body.dataset.turn = turn;
}

function random() {
  try {
    const { op, params, indices, options } = { ...read() };
    const axis = (options.axis + params.shape.length) % params.shape.length;
    const extent = (n) => params.shape[op === 'gather_nd' ? options.batchDims + (n % indices.shape.at(-1)) : axis];
    const values = Array.from(indices.data.slice(0, 1024), (_, n) => Math.floor(Math.random() * extent(n)));
    field.values.value = values.join(' ');
  } catch (error) {
    return say(error);
  }
  return run();
}

/** Takes a file as params or as indices. */
async function take(role, file) {
  try {
    const { data, shape, dtype } = readNpy(await file.arrayBuffer());
    if (!TYPES[dtype]) throw new Error(`arrays of ${dtype} are not shown here`);
    if (role === 'params') {
      state.params = { data, shape, dtype };
      field.dtype.value = dtype;
      field.paramsShape.value = shape.join(', ');
    } else {
      if (!INDEX_TYPES.includes(dtype)) throw new Error(`indices are integers, not ${dtype}`);
      field.indexType.value = dtype;
      field.indicesShape.value = shape.join(', ');
      field.values.value = data.join(' ');
    }
  } catch (error) {
    return say(error);
  }
  return run();
}

function download() {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(writeNpy(state.output, state.output.dtype));
  link.download = 'output.npy';
  link.click();
  URL.revokeObjectURL(link.href);
}

function acceptFiles(role) {
  const [section, input] = [$(role), $(`${role}-file`)];
  input.onchange = () => input.files[0] && take(role, input.files[0]).then(() => (input.value = ''));
  section.ondragover = (event) => {
    event.preventDefault();
    section.classList.add('over');
  };
  section.ondragleave = () => section.classList.remove('over');
  section.ondrop = (event) => {
    event.preventDefault();
    section.classList.remove('over');
    if (event.dataTransfer.files[0]) take(role, event.dataTransfer.files[0]);
  };
}

/** The engine, and words for what it runs on or what is missing. */
async function findEngine() {
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  if (adapter) {
    try {
      const { vendor, architecture, description } = adapter.info;
      const name = description || [vendor, architecture].filter(Boolean).join(' ') || 'unnamed';
      return [await Engine.gpu(), `On WebGPU: ${name}.`];
    } catch (error) {
      return [await Engine.cpu(), `WebGPU failed (${error.message}): on the CPU path, in WebAssembly.`];
    }
  }
  const missing = !window.isSecureContext
    ? 'WebGPU needs https or localhost'
    : navigator.gpu
      ? 'The browser has WebGPU, but no adapter for it'
      : 'This browser has no WebGPU (navigator.gpu is missing)';
  return [await Engine.cpu(), `${missing}: on the CPU path, in WebAssembly.`];
}

async function start() {
  [state.engine, state.on] = await findEngine();
  $('runs-on').textContent = state.on;
}

async function main() {
  field.dtype.append(...Object.keys(TYPES).map((name) => new Option(name)));
  field.indexType.append(...INDEX_TYPES.map((name) => new Option(name)));
  field.rules.append(...RULES.map((name) => new Option(name)));
  await init();
  state.cpu = await Engine.cpu();
  await start();
  form.oninput = run;
  form.onsubmit = (event) => event.preventDefault();
  $('random').onclick = random;
  $('download').onclick = download;
  acceptFiles('params');
  acceptFiles('indices');
  offerVerify(state);
  offerMeasure(state);
  await run();
  await offerQuantised(state);
}

main().catch((error) => {
  $('runs-on').textContent = '';
  say(error);
});

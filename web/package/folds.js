// Calls that fold values which meet: scatters, gradients of gathers, pooled lookups; how these are executed.
import { SCATTERS, bytesOf, callOf, checkedShape, dtypeOf, fail, integer, tensorOf, widened } from './calls.js';
import { DeviceTensor, onDevice } from './tensors.js';

/** A tensor with the name of its type, be it here or on the device. */
const named = (tensor) =>
  tensor instanceof DeviceTensor ? tensor : { ...tensor, dtype: dtypeOf(tensor.data) };

const updatesOf = ({ dtype, shape }, reduce) =>
  JSON.stringify({ reduce, dtype, shape: checkedShape(shape) });

/** Over a copy of `base`. */
export async function scatter(raw, op, base, indices, updates, { reduce = 'none', ...options }) {
  const stays = onDevice('base, indices and updates', base, indices, updates);
  const [to, from] = [named(base), named(updates)];
  const at = stays ? indices : widened(indices);
  const call = callOf(op, options, to, at);
  const values = updatesOf(from, reduce);
  if (stays) {
    const made = await raw.scatterOnDevice(call, values, to.raw, at.raw, from.raw);
    return new DeviceTensor(made, to.dtype);
  }
  const made = await raw.scatter(call, values, bytesOf(to.data), bytesOf(at.data), bytesOf(from.data));
  return tensorOf(made, to.dtype);
}

/** Into `destination`, which is on the device. */
export async function scatterInto(raw, destination, indices, updates, options) {
  const { op = 'scatter', reduce = 'none', ...rest } = options;
  const operator = SCATTERS[op] ?? fail(`unknown operator "${op}"`);
  if (!onDevice('destination, indices and updates', destination, indices, updates)) {
    return fail('scatterInto writes to a tensor on the device');
  }
  const call = callOf(operator, rest, destination, indices);
  const values = updatesOf(updates, reduce);
  return raw.scatterInPlace(call, values, destination.raw, indices.raw, updates.raw);
}

export function explainScatter(raw, op, base, indices, { reduce = 'none', ...options }) {
  return raw.explainScatter(callOf(op, options, base, indices), reduce);
}

export async function gatherGradient(raw, op, paramsShape, indices, gradOutput, options) {
  const stays = onDevice('indices and gradOutput', indices, gradOutput);
  const grad = named(gradOutput);
  const at = stays ? indices : widened(indices);
  const call = callOf(op, options, { dtype: grad.dtype, shape: paramsShape }, at);
  const values = updatesOf(grad, 'add');
  if (stays) {
    const made = await raw.gatherGradientOnDevice(call, values, at.raw, grad.raw);
    return new DeviceTensor(made, grad.dtype);
  }
  const made = await raw.gatherGradient(call, values, bytesOf(at.data), bytesOf(grad.data));
  return tensorOf(made, grad.dtype);
}

const NOTHING = new Uint8Array();

/** What a pooled lookup has beside a gather, and the bytes of its offsets. */
function poolingOf({ mode = 'sum', offsets, includeLastOffset = false, paddingIndex }, weights) {
  const starts = offsets && widened({ data: offsets, shape: [offsets.length] });
  const pooling = JSON.stringify({
    mode,
    paddingIndex: integer('paddingIndex', paddingIndex),
    offsets: starts ? { indexType: starts.dtype, shape: starts.shape } : null,
    includeLastOffset,
    weights: weights ? { dtype: weights.dtype, shape: checkedShape(weights.shape) } : null,
  });
  return [pooling, starts ? bytesOf(starts.data) : NOTHING];
}

export function explainBag(raw, table, indices, options) {
  const call = callOf('embedding_bag', { rules: options.rules }, table, indices);
  return raw.explainBag(call, ...poolingOf(options));
}

export async function embeddingBag(raw, params, indices, options) {
  const { weights, rules } = options;
  const tensors = [params, indices, ...(weights ? [weights] : [])];
  const stays = onDevice('params, indices and weights', ...tensors);
  const [table, by] = [named(params), weights && named(weights)];
  const at = stays ? indices : widened(indices);
  const call = callOf('embedding_bag', { rules }, table, at);
  const [pooling, offsetBytes] = poolingOf(options, by);
  if (stays) {
    const made = await raw.embeddingBagOnDevice(call, pooling, table.raw, at.raw, offsetBytes, by?.raw.share());
    return new DeviceTensor(made, table.dtype);
  }
  const [rows, places] = [bytesOf(table.data), bytesOf(at.data)];
  const made = await raw.embeddingBag(call, pooling, rows, places, offsetBytes, by ? bytesOf(by.data) : NOTHING);
  return tensorOf(made, table.dtype);
}

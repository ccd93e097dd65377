// The verbs: what each calls its tensors, in the order in which they are shown, and how it is called.

const OPERATORS = { gather: 'gather', gather_nd: 'gatherNd', gather_elements: 'gatherElements' };
/** The name of the scatter that is the transpose of a gather. */
const transposed = (op) => op.replace('gather', 'scatter');

export const VERBS = {
  gather: {
    roles: { params: 'params', indices: 'indices', output: 'output' },
    run: (engine, { op, params, indices, options }) => engine[OPERATORS[op]](params, indices, options),
    explain: (engine, { op, params, indices, options }) => engine.explain(op, params, indices, options),
  },
  scatter: {
    roles: { indices: 'indices', updates: 'updates', params: 'base', output: 'output' },
    run: (engine, { op, params, indices, updates, options }) =>
      engine[transposed(OPERATORS[op])](params, indices, updates, options),
    explain: (engine, { op, params, indices, options }) =>
      engine.explain(transposed(op), params, indices, options),
  },
  gather_gradient: {
    roles: { indices: 'indices', updates: 'grad_output', output: 'gradient' },
    run: (engine, { op, params, indices, updates, options }) =>
      engine.gatherGradient(params.shape, indices, updates, { ...options, op: OPERATORS[op] }),
    explain: (engine, { op, params, indices, options }) =>
      engine.explain(transposed(op), params, indices, { ...options, reduce: 'add' }),
  },
  embedding_bag: {
    roles: { params: 'params', indices: 'indices', updates: 'weights', output: 'output' },
    run: (engine, { params, indices, updates, options }) =>
      engine.embeddingBag(params, indices, { ...options, weights: updates }),
    explain: (engine, { params, indices, options }) =>
      engine.explain('embedding_bag', params, indices, options),
  },
};

/** Gathers from `params` what the indices of a call select; for a pooled lookup, the rows before they are pooled. */
export const lookUp = (engine, { op, indices, options: { axis, batchDims, rules } }, params) =>
  engine[OPERATORS[op]](params, indices, { axis, batchDims, rules });

/** A dim counted from the end if negative. */
const counted = (dim, rank) => (dim < 0 ? dim + rank : dim);

/** The axis and the batch dims of a call, counted from the front. */
export function dimsOf({ params, indices, options: { axis = 0, batchDims = 0 } }) {
  return { axis: counted(axis, params.shape.length), batch: counted(batchDims, indices.shape.length) };
}

/** The shape of what is looked up, and so of updates. */
export function lookedUpShape(call) {
  const { op, params, indices } = call;
  const { axis, batch } = dimsOf(call);
  if (op === 'gather_elements') return indices.shape;
  if (op === 'gather_nd') return [...indices.shape.slice(0, -1), ...params.shape.slice(batch + indices.shape.at(-1))];
  return [...params.shape.slice(0, axis), ...indices.shape.slice(batch), ...params.shape.slice(axis + 1)];
}

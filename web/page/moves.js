// Follows the elements of a call: for each one that is moved, where it comes from and where it goes.
//
// A move has the positions of the elements that it involves, by role: `indices` is a list, `params`, `updates`
// and `output` a position each, or nothing. `value` is what is moved. Moves are in the order in which values are
// added up.
import { coordinates, position } from './cells.js';
import { dimsOf, lookUp } from './verbs.js';

/** Further moves are not followed. */
export const MOST_MOVES = 1 << 14;
/** Stands where no element was read: zeros, a fill value. Positions are counted from 1. */
const NOTHING = [0, 0xffffffff];

/** Where in params the elements are that indices select, and the shape of what they make. */
async function sourcesOf(cpu, call) {
  const { shape } = call.params;
  const count = shape.reduce((a, b) => a * b, 1);
  const { data, shape: made } = await lookUp(cpu, call, { shape, data: Uint32Array.from({ length: count }, (_, n) => n + 1) });
  return { sources: Array.from(data.subarray(0, MOST_MOVES), (at) => (NOTHING.includes(at) ? undefined : at - 1)), made, total: data.length };
}

/** The positions of the indices that select element `at` of what is looked up, of shape `made`. */
function indicesOf(call, made, at) {
  const { op, indices } = call;
  const o = coordinates(made, at);
  const rank = indices.shape.length;
  if (op === 'gather_elements') return [position(indices.shape, o)];
  if (op === 'gather_nd') {
    const depth = indices.shape.at(-1);
    const tuple = position(indices.shape.slice(0, -1), o.slice(0, rank - 1));
    return Array.from({ length: depth }, (_, k) => tuple * depth + k);
  }
  const { axis, batch } = dimsOf(call);
  return [position(indices.shape, [...o.slice(0, batch), ...o.slice(axis, axis + rank - batch)])];
}

/** The bag of each lookup: the first and the end of each bag decide. */
function bagsOf({ indices, options: { offsets, includeLastOffset } }) {
  const count = indices.data.length;
  if (!offsets) {
    const longest = indices.shape[1];
    return Array.from({ length: count }, (_, n) => Math.floor(n / longest));
  }
  const bags = Array(count);
  const number = includeLastOffset ? offsets.length - 1 : offsets.length;
  for (let bag = 0; bag < number; bag += 1) bags.fill(bag, offsets[bag], offsets[bag + 1] ?? count);
  return bags;
}

async function pooled(cpu, call, { sources, total }) {
  const { params, updates: weights, options } = call;
  const width = params.shape.slice(1).reduce((a, b) => a * b, 1);
  const { data: rows } = await lookUp(cpu, call, params); // with what stands for bad indices
  const bags = bagsOf(call);
  const { paddingIndex } = options;
  const padding = paddingIndex < 0 ? paddingIndex + params.shape[0] : paddingIndex;
  const moves = sources.map((source, n) => {
    const lookup = Math.floor(n / width);
    const skipped = source !== undefined && Math.floor(source / width) === padding;
    const bag = bags[lookup];
    const output = skipped || bag === undefined ? undefined : bag * width + (n % width);
    const weight = weights && { updates: lookup, weight: weights.data[lookup] };
    return { params: source, indices: [lookup], output, value: rows[n], skipped, bag, ...weight };
  });
  return { moves, total };
}

/** The moves of a call, as far as they are followed, and how many there are in all. */
export async function movesOf(cpu, call) {
  const found = await sourcesOf(cpu, call);
  const { sources, made, total } = found;
  const selected = (at) => indicesOf(call, made, at);
  switch (call.verb) {
    case 'gather':
      return { moves: sources.map((params, output) => ({ params, indices: selected(output), output })), total };
    case 'embedding_bag':
      return pooled(cpu, call, found);
    default: // a scatter, and a gradient, which is one
      return {
        moves: sources.map((to, updates) => ({
          params: to, indices: selected(updates), updates, output: to, value: call.updates.data[updates],
        })),
        total,
      };
  }
}

/** Finds the moves that involve an element: `of(role, position)`. */
export function finder(moves) {
  const found = { params: new Map(), indices: new Map(), updates: new Map(), output: new Map() };
  const add = (map, at, move) => (map.has(at) ? map.get(at).push(move) : map.set(at, [move]));
  for (const move of moves) {
    for (const role of ['params', 'updates', 'output']) {
      if (move[role] !== undefined) add(found[role], move[role], move);
    }
    for (const at of move.indices) add(found.indices, at, move);
  }
  return (role, at) => found[role].get(at) ?? [];
}

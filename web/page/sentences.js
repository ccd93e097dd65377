// Says of an element of a call where it comes from, where it goes, and how values are combined.
import { coordinates, text } from './cells.js';
import { MOST_MOVES } from './moves.js';
import { VERBS } from './verbs.js';

/** Longer lists are cut in the middle. */
const LISTED = 8;
const cut = (items) => (items.length > LISTED ? [...items.slice(0, LISTED - 1), '…', items.at(-1)] : items);

const inBrackets = (term) => (term.startsWith('-') ? `(${term})` : term);
const joined = (terms, sign) => terms.map((term, n) => (n > 0 ? inBrackets(term) : term)).join(sign);
const WRITTEN = {
  add: (terms) => joined(terms, ' + '),
  mul: (terms) => joined(terms, ' × '),
  min: (terms) => `min(${terms.join(', ')})`,
  max: (terms) => `max(${terms.join(', ')})`,
};
WRITTEN.sum = WRITTEN.add;

/** How `terms` become `result`. */
function arithmetic(how, terms, result) {
  const shown = cut(terms);
  if (how === 'none') return `${result} (${shown.join(', then ')}: the last one stays)`;
  if (how === 'mean') return `(${WRITTEN.add(shown)}) / ${terms.length} = ${result}`;
  if (shown.length === 1) return shown[0] === result ? result : `${shown[0]} = ${result}`;
  return `${WRITTEN[how](shown)} = ${result}`;
}

/** The sentences of a call that made `output`: a function of a role and a position. */
export function speaker(call, output, { moves, total }, movesAt) {
  const { roles } = VERBS[call.verb];
  const tensors = { ...call, output };
  const place = (role, at) => `${roles[role]}[${coordinates(tensors[role].shape, at).join(', ')}]`;
  const value = (role, at) => text(tensors[role].data[at]);
  const named = (role, at) => `${place(role, at)} = ${value(role, at)}`;
  const places = (role, list) => cut(list.map((move) => place(role, move[role]))).join(', ');
  const span = (role, list) => {
    const [first, last] = [list[0][role], list.at(-1)[role]].map((at) => place(role, at));
    return first === last ? first : `${first} … ${last}`;
  };
  const by = (move) => move.indices.map((at) => named('indices', at)).join(', ');
  /** `one` or `several` of a move's indices: a tuple has several. */
  const verb = (move, one, several) => (move.indices.length > 1 ? several : one);
  const outside = (move) => `${by(move)} ${verb(move, 'is', 'are')} out of bounds`;

  /** How an element of the output was made of what goes there. */
  const made = (at) => {
    const list = movesAt('output', at);
    const result = value('output', at);
    if (call.verb === 'embedding_bag') {
      const width = output.shape.slice(1).reduce((a, b) => a * b, 1);
      const where = `${place('output', at)} of bag ${Math.floor(at / width)}`;
      if (list.length === 0) return `${where} = ${result}: no row is in this bag.`;
      const terms = list.map(({ value, weight }) =>
        weight === undefined ? text(value) : `${text(weight)} × ${inBrackets(text(value))}`,
      );
      const from = list.map((move) => (move.params === undefined ? `${by(move)} (out of bounds)` : place('params', move.params)));
      return `${where} = ${arithmetic(call.options.mode, terms, result)}, from ${cut(from).join(', ')}.`;
    }
    if (list.length === 0) return `${place('output', at)} = ${result}: ${roles.params ? 'no update goes' : 'nothing was read'} there.`;
    const first = roles.params ? [value('params', at)] : [];
    const terms = [...first, ...list.map((move) => text(move.value))];
    return `${place('output', at)} = ${arithmetic(call.options.reduce ?? 'add', terms, result)}, from ${places('updates', list)}.`;
  };

  const ofGather = {
    output(at, [move]) {
      if (!move) return `${named('output', at)}.`;
      if (move.params === undefined) return `${named('output', at)}: ${outside(move)}.`;
      return `${place('output', at)} = ${named('params', move.params)}, selected by ${by(move)}.`;
    },
    params(at, list) {
      return `${named('params', at)} goes ${list.length > 0 ? `to ${places('output', list)}` : 'nowhere'}.`;
    },
    indices(at, list) {
      const read = list.filter((move) => move.params !== undefined);
      if (read.length > 0) return `${by(list[0])} ${verb(list[0], 'selects', 'select')} ${span('params', read)}.`;
      return list.length > 0 ? `${outside(list[0])}: nothing is selected.` : `${named('indices', at)}.`;
    },
  };
  const ofScatter = {
    output: made,
    params: made,
    updates(at, [move]) {
      if (!move) return `${named('updates', at)}.`;
      if (move.output === undefined) return `${named('updates', at)} goes nowhere: ${outside(move)}.`;
      return `${named('updates', at)} goes to ${place('output', move.output)}, by ${by(move)}: ${made(move.output)}`;
    },
    indices(at, list) {
      const sent = list.filter((move) => move.output !== undefined);
      if (sent.length > 0) return `${by(list[0])} ${verb(list[0], 'sends', 'send')} ${span('updates', sent)} to ${span('output', sent)}.`;
      return list.length > 0 ? `${outside(list[0])}: nowhere to send ${span('updates', list)}.` : `${named('indices', at)}.`;
    },
  };
  const ofBag = {
    output: made,
    params(at, list) {
      const pooled = list.filter((move) => move.output !== undefined);
      if (pooled.length > 0) return `${named('params', at)} is part of ${places('output', pooled)}.`;
      return `${named('params', at)} is in no bag${list.length > 0 ? ': its row is padding' : ''}.`;
    },
    indices(at, [move, ...more]) {
      if (!move) return `${named('indices', at)}.`;
      if (move.skipped) return `${by(move)} is padding: it adds nothing to bag ${move.bag}.`;
      if (move.bag === undefined) return `${by(move)} is in no bag.`;
      if (move.params === undefined) return `${outside(move)}: it stands for ${text(move.value)} in bag ${move.bag}.`;
      const list = [move, ...more];
      return `${by(move)}, in bag ${move.bag}, selects ${span('params', list)} for ${span('output', list)}.`;
    },
    updates(at, [move]) {
      return `${named('updates', at)}${move ? ` is the weight of ${by(move)}` : ''}.`;
    },
  };

  const all = { gather: ofGather, embedding_bag: ofBag }[call.verb] ?? ofScatter;
  const rest = total > MOST_MOVES
    ? ` Only the first ${MOST_MOVES.toLocaleString('en')} of ${total.toLocaleString('en')} moves are followed.`
    : '';
  return (role, at) => all[role](at, movesAt(role, at)) + rest;
}

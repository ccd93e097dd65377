// The tensors of a call, side by side: their colours, and what lights up.
import { show, walk } from './cells.js';
import { finder } from './moves.js';
import { speaker } from './sentences.js';
import { VERBS } from './verbs.js';

const $ = (id) => document.getElementById(id);
/** Of the elements that belong to the chosen one, and of the rows that these lie in. */
const MARKS = ['lit', 'near'];
const ROLES = ['params', 'indices', 'updates', 'output'];

/** Lays out the sections that the verb has, in its order. */
function layOut(call) {
  const { roles } = VERBS[call.verb];
  const shown = Object.keys(roles).filter((role) => role === 'output' || call[role]);
  for (const role of ROLES) {
    $(role).hidden = !shown.includes(role);
    if ($(role).hidden) $(role).querySelector('.scroll').replaceChildren();
  }
  const sections = shown.map($);
  // Moving a section takes the focus from what is in it.
  const present = Array.from($('tensors').children).filter((section) => !section.hidden);
  if (sections.some((section, n) => section !== present[n])) $('tensors').append(...sections);
  $('tensors').dataset.count = shown.length;
  return shown;
}

/** A function that colours the cells of a role: elements with the same colour belong together. */
function colours(call, output, movesAt) {
  const paint = (cell, part) => {
    cell.style.setProperty('--hue', Math.round(part * 320));
    cell.style.setProperty('--tint', '60%');
  };
  if (call.verb === 'embedding_bag') {
    const [bags] = output.shape;
    return (role) => (cell, at) => {
      const [move] = movesAt(role, at);
      if (!move || role === 'params') return;
      if (move.bag !== undefined) paint(cell, move.bag / bags);
      if (role !== 'indices') return;
      cell.classList.toggle('bad', move.params === undefined);
      cell.classList.toggle('skipped', move.skipped);
    };
  }
  const gather = call.verb === 'gather';
  const places = Math.max((gather ? call.params : output).shape.reduce((a, b) => a * b, 1), 1);
  const moved = gather ? 'output' : 'updates';
  const place = gather ? 'params' : 'output';
  return (role) => (cell, at) => {
    if (role === 'indices') return;
    if (role === 'params') return paint(cell, at / places);
    const [move] = movesAt(role, at);
    if (move?.[place] !== undefined) return paint(cell, move[place] / places);
    if (role === moved && move) cell.classList.add('bad');
  };
}

/** Shows a call that failed: its tensors, as far as they have elements. */
function drawInputs(call) {
  for (const role of layOut(call)) {
    if (role === 'output') continue;
    const cells = show($(role), call[role], call[role].dtype);
    walk($(role), cells, call[role].shape, () => {});
  }
  show($('output'), { data: [], shape: [] }, '');
  $('output').querySelector('small').textContent = '';
  $('output').querySelector('.scroll').replaceChildren('none');
}

/** Shows a call and what it made, and what `followed` says of its moves. */
export function draw(call, output, followed) {
  $('said').textContent = '';
  if (!output) return drawInputs(call);
  const movesAt = finder(followed.moves);
  const colour = colours(call, output, movesAt);
  const say = speaker(call, output, followed, movesAt);
  const tensors = { ...call, output };
  const cells = {};
  const shown = layOut(call);
  const mark = (name, role, at) => cells[role]?.[at]?.classList.add(name);
  const markAll = (name, move) => {
    for (const role of ['params', 'updates', 'output']) mark(name, role, move[role]);
  };
  const choose = (role, at) => {
    for (const name of MARKS) for (const cell of document.querySelectorAll(`.${name}`)) cell.classList.remove(name);
    $('said').textContent = at === undefined ? '' : say(role, at);
    if (at === undefined) return;
    mark('lit', role, at);
    const moves = movesAt(role, at);
    const indices = new Set(moves.flatMap((move) => move.indices));
    for (const move of moves) markAll('lit', move);
    for (const index of indices) {
      mark('lit', 'indices', index);
      for (const move of movesAt('indices', index)) markAll('near', move);
    }
    // What nothing is scattered to stays as it is in the base.
    const place = role === 'params' || role === 'output';
    if (call.verb === 'scatter' && place && moves.length === 0) markAll('lit', { params: at, output: at });
  };
  for (const role of shown) {
    cells[role] = show($(role), tensors[role], tensors[role].dtype, colour(role));
    walk($(role), cells[role], tensors[role].shape, (at) => choose(role, at === undefined ? at : Number(at)));
  }
}

// Tensors as tables: the last dim runs across, the one before it down, the others in order.

/** More cells than this are not shown. */
export const MOST = 1024;

/** The coordinates of element `at` of a tensor. */
export function coordinates(shape, at) {
  const found = [];
  for (let dim = shape.length - 1; dim >= 0; dim -= 1) {
    found.unshift(at % shape[dim]);
    at = Math.floor(at / shape[dim]);
  }
  return found;
}

/** The position of an element. */
export function position(shape, coordinates) {
  return coordinates.reduce((at, n, dim) => at * shape[dim] + n, 0);
}

/** A value, with at most five digits of a fraction. */
export function text(value) {
  if (typeof value === 'bigint' || Number.isInteger(value)) return String(value);
  return Number.isFinite(value) ? String(Number(value.toPrecision(5))) : String(value);
}

/**
 * Fills `section` with the elements of `tensor`; `colour(td, at)` colours a cell.
 * Returns the cells by position.
 */
export function show(section, { data, shape }, dtype, colour) {
  section.querySelector('small').textContent = `${dtype} [${shape.join(', ')}]`;
  const [columns, rows] = [shape.at(-1) ?? 1, shape.at(-2) ?? 1];
  const cells = [];
  const tables = [];
  const shown = Math.min(data.length, MOST);
  for (let start = 0; start < shown; start += columns * rows) {
    const table = document.createElement('table');
    table.className = 'cells';
    if (shape.length > 2) {
      const outer = coordinates(shape.slice(0, -2), start / (columns * rows));
      table.createCaption().textContent = `[${outer.join(', ')}, :, :]`;
    }
    for (let at = start; at < Math.min(start + columns * rows, shown); at += 1) {
      if (at % columns === 0) table.insertRow();
      const cell = table.rows[table.rows.length - 1].insertCell();
      cell.textContent = text(data[at]);
      cell.title = `[${coordinates(shape, at).join(', ')}]`;
      cell.dataset.at = at;
      colour?.(cell, at);
      cells.push(cell);
    }
    tables.push(table);
  }
  if (data.length > MOST) {
    const more = document.createElement('p');
    more.textContent = `… and ${(data.length - MOST).toLocaleString('en')} more`;
    tables.push(more);
  }
  if (data.length === 0) tables.push('no elements');
  section.querySelector('.scroll').replaceChildren(...tables);
  return cells;
}

/** Lets `cells` of a tensor be pointed at and walked through; `choose(at)` or `choose()`. */
export function walk(section, cells, shape, choose) {
  if (cells.length > 0) cells[0].tabIndex = 0;
  const at = (event) => event.target.closest?.('td')?.dataset.at;
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -(shape.at(-1) ?? 1), ArrowDown: shape.at(-1) ?? 1 };
  section.onpointerover = (event) => choose(at(event));
  section.onpointerleave = () => choose();
  for (const cell of cells) {
    cell.onfocus = () => choose(cell.dataset.at);
    cell.onblur = () => choose();
  }
  section.onkeydown = (event) => {
    const from = at(event);
    const to = cells[Number(from) + steps[event.key]];
    if (from === undefined || !to) return;
    event.preventDefault();
    cells[from].tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
}

// Gathers rows of a table in 8 bits (Q8_0 of GGUF), and decodes them here in plain JavaScript, too.
const $ = (id) => document.getElementById(id);

const FORMAT = 'Q8_0';
const [ROWS, WIDTH] = [1024, 384];
/** Elements and bytes of a block: a scale as f16, then a signed byte for each element. */
const [BLOCK, BLOCK_BYTES] = [32, 34];
/** Values of a row that are shown. */
const SHOWN = 6;

/** A table of blocks, the same each time. */
function makeTable() {
  const data = new Uint8Array(((ROWS * WIDTH) / BLOCK) * BLOCK_BYTES);
  let state = 1;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 16;
  for (let at = 0; at < data.length; at += BLOCK_BYTES) {
    const scale = 0x2000 + (next() % 0x1800); // 2^-7 to 2^-1
    [data[at], data[at + 1]] = [scale & 255, scale >> 8];
    for (let n = 2; n < BLOCK_BYTES; n += 1) data[at + n] = next();
  }
  return { format: FORMAT, shape: [ROWS, WIDTH], data };
}

/** Of a normal f16. */
const half = (bits) => (1 + (bits & 0x3ff) / 1024) * 2 ** (((bits >> 10) & 31) - 15);

/** Rows as the format defines them; zeros where there is none. */
function decoded({ data }, ids) {
  const output = new Float32Array(ids.length * WIDTH);
  ids.forEach((id, n) => {
    if (id < 0 || id >= ROWS) return;
    for (let i = 0; i < WIDTH; i += 1) {
      const block = Math.floor((id * WIDTH + i) / BLOCK) * BLOCK_BYTES;
      const code = (data[block + 2 + (i % BLOCK)] << 24) >> 24;
      output[n * WIDTH + i] = code * half(data[block] | (data[block + 1] << 8));
    }
  });
  return output;
}

function sameBits(a, b) {
  const [x, y] = [a, b].map((floats) => new Uint32Array(floats.buffer, floats.byteOffset, floats.length));
  return x.length === y.length && x.every((bits, n) => bits === y[n]);
}

/** Gathers the rows of the field and says whether their bits are those of the definition. */
async function look(state, table) {
  const values = $('quantised-ids').value.split(/[\s,]+/).filter(Boolean);
  if (!values.every((value) => /^-?\d+$/.test(value))) throw new Error('ids are integers');
  const ids = Int32Array.from(values, Number);
  const { data } = await state.engine.gatherQuantized(table, { data: ids, shape: [ids.length] });
  const [codes, floats] = [table.data.length, ROWS * WIDTH * 4].map((n) => n.toLocaleString('en'));
  const same = sameBits(data, decoded(table, ids)) ? 'all bits as defined' : 'bits differ from the definition';
  $('quantised-result').textContent = `${ids.length} ${ids.length === 1 ? 'row' : 'rows'} of ${WIDTH}: ${same}. ${codes} bytes; as f32, ${floats}.`;
  const rows = Array.from(ids, (id, n) => {
    const row = document.createElement('tr');
    const shown = Array.from(data.subarray(n * WIDTH, n * WIDTH + SHOWN), String);
    row.append(...[`row ${id}`, ...shown, '…'].map((text) => {
      const cell = document.createElement('td');
      cell.textContent = text;
      return cell;
    }));
    return row;
  });
  $('quantised-table').replaceChildren(...rows);
}

export function offerQuantised(state) {
  const table = makeTable();
  const run = () => look(state, table).catch((error) => {
    $('quantised-result').textContent = error.message;
    $('quantised-table').replaceChildren();
  });
  $('quantised-ids').oninput = run;
  return run();
}

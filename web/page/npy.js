// NumPy's file format .npy: one array.

const TYPES = {
  b1: ['u8', Uint8Array],
  u1: ['u8', Uint8Array],
  i1: ['i8', Int8Array],
  u2: ['u16', Uint16Array],
  i2: ['i16', Int16Array],
  u4: ['u32', Uint32Array],
  i4: ['i32', Int32Array],
  f4: ['f32', Float32Array],
  u8: ['u64', BigUint64Array],
  i8: ['i64', BigInt64Array],
  f8: ['f64', Float64Array],
};
if (typeof Float16Array !== 'undefined') TYPES.f2 = ['f16', Float16Array];

const MAGIC = '\x93NUMPY';

/** Reads a file: `{ data, shape, dtype }`. */
export function readNpy(buffer) {
  const bytes = new Uint8Array(buffer);
  const magic = String.fromCharCode(...bytes.subarray(0, 6));
  if (magic !== MAGIC || bytes.length < 12) throw new Error('this is no .npy file');
  const view = new DataView(buffer);
  const wide = bytes[6] >= 2;
  const start = wide ? 12 : 10;
  const end = start + (wide ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder().decode(bytes.subarray(start, end));
  const descr = /'descr':\s*'([<>|=])(\w+)'/.exec(header);
  const dims = /'shape':\s*\(([^)]*)\)/.exec(header);
  const type = descr && TYPES[descr[2]];
  if (!type || !dims) throw new Error(`arrays of this type are not read here: ${header.trim()}`);
  const shape = dims[1].split(',').filter((n) => n.trim()).map(Number);
  const [dtype, Type] = type;
  const width = Type.BYTES_PER_ELEMENT;
  const elements = shape.reduce((a, b) => a * b, 1);
  const data = bytes.slice(end, end + elements * width);
  if (data.length !== elements * width) throw new Error('the .npy file ends too early');
  if (descr[1] === '>') {
    for (let at = 0; at < data.length; at += width) data.subarray(at, at + width).reverse();
  }
  const values = new Type(data.buffer);
  const columns = /'fortran_order':\s*True/.test(header) && shape.length > 1;
  return { data: columns ? rowMajor(values, shape) : values, shape, dtype };
}

/** The same array, of which the first dim ran fastest, row-major. */
function rowMajor(values, shape) {
  const made = new values.constructor(values.length);
  const at = shape.map(() => 0);
  for (let n = 0; n < values.length; n += 1) {
    made[at.reduce((sum, i, dim) => sum * shape[dim] + i, 0)] = values[n];
    for (let dim = 0; dim < shape.length && ++at[dim] === shape[dim]; dim += 1) at[dim] = 0;
  }
  return made;
}

/** Writes a file. */
export function writeNpy({ data, shape }, dtype) {
  const [code] = Object.entries(TYPES).find(([code, [name]]) => name === dtype && code !== 'b1');
  const order = data.BYTES_PER_ELEMENT === 1 ? '|' : '<';
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const header = `{'descr': '${order}${code}', 'fortran_order': False, 'shape': (${dims}), }`;
  const length = Math.ceil((header.length + 11) / 64) * 64 - 10;
  const start = new Uint8Array(10 + length);
  const text = `${MAGIC}\x01\x00\x00\x00${header.padEnd(length - 1)}\n`;
  for (let at = 0; at < text.length; at += 1) start[at] = text.charCodeAt(at);
  new DataView(start.buffer).setUint16(8, length, true);
  return new Blob([start, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]);
}

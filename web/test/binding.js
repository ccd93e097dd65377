// The package: types, errors, tensors on the device, calls that overlap, memory.
import assert from 'node:assert/strict';

export async function binding(page) {
  const found = await page.evaluate(async () => {
    const { Engine, GatherError, init } = await import('./index.js');
    const wasm = await init();
    const engine = await Engine.gpu();
    const plain = ({ data, shape }) => ({ data: Array.from(data, String), shape, type: data.constructor.name });
    const failed = (promise) =>
      promise.then(
        () => 'no error',
        (e) => ({ typed: e instanceof GatherError, code: e.code, message: e.message, count: e.count, value: String(e.value), position: e.position }),
      );
    const found = {};

    const big = { data: BigInt64Array.of(-1n, 2n ** 62n, 3n), shape: [3] };
    found.i64 = plain(await engine.gather(big, { data: BigInt64Array.of(1n, -1n), shape: [2] }, { rules: 'onnx' }));
    const bytes = { data: Uint8Array.of(1, 2, 3, 4, 5, 6), shape: [2, 3] };
    found.u8 = plain(await engine.gatherElements(bytes, { data: Int8Array.of(1, 0, 1), shape: [1, 3] }, { axis: 0 }));
    found.nd = plain(await engine.gatherNd(bytes, { data: [1, 2, 0, 1], shape: [2, 2] }));
    const fill = { negative: 'out-of-bounds', outOfBounds: 'fill', fill: 7 };
    found.fill = plain(await engine.gather(bytes, { data: [-1], shape: [1] }, { axis: 1, rules: fill }));
    if (typeof Float16Array !== 'undefined') {
      const half = { data: Float16Array.of(1.5, -0, NaN), shape: [3] };
      found.f16 = plain(await engine.gather(half, { data: Uint8Array.of(2, 1), shape: [2] }));
    }
    const part = { data: new Float32Array([9, 1, 2, 3]).subarray(1), shape: [3] };
    found.part = plain(await engine.gather(part, { data: Uint16Array.of(2, 0), shape: [2] }));

    // two blocks of Q8_0: a scale of 0.5 and 2 as f16, then 32 signed bytes
    const blocks = Uint8Array.from([0, 0x38, ...Array(32).fill(3), 0, 0x40, ...Array(32).fill(256 - 7)]);
    const q8 = { format: 'Q8_0', shape: [2, 32], data: blocks };
    const ends = ({ data, shape }) => ({ first: [0, 32, 64].map((n) => data[n]), shape, type: data.constructor.name });
    const three = { data: [1, 0, 9], shape: [3] };
    found.quantized = ends(await engine.gatherQuantized(q8, three));
    const q8There = await engine.uploadQuantized(q8);
    found.quantizedThere = ends(await (await engine.gatherQuantized(q8There, await engine.uploadIndices(three))).download());
    const pair = { op: 'gatherNd', rules: { negative: 'from-end', outOfBounds: 'fill', fill: -1 } };
    found.quantizedPairs = plain(await engine.gatherQuantized(q8, { data: [-1, 31, 0, 32], shape: [2, 2] }, pair));
    found.partialBlock = await failed(engine.gatherQuantized({ ...q8, shape: [4, 16] }, three));
    found.noFormat = await failed(engine.gatherQuantized({ ...q8, format: 'Q9' }, three));
    found.shortTable = await failed(engine.gatherQuantized({ ...q8, shape: [3, 32] }, three));
    q8There.free();
    found.freedTable = await failed(engine.gatherQuantized(q8There, await engine.uploadIndices(three)));

    const bad = { data: [0, 5, 9], shape: [3] };
    found.bad = await failed(engine.gather(bytes, bad, { rules: 'onnx' }));
    found.axis = await failed(engine.gather(bytes, bad, { axis: 4 }));
    found.rules = await failed(engine.gather(bytes, bad, { rules: 'none' }));
    found.length = await failed(engine.gather({ data: bytes.data, shape: [7] }, bad));
    found.shape = await failed(engine.gather({ data: bytes.data, shape: [1.5] }, bad));
    found.floats = await failed(engine.gather(bytes, { data: Float32Array.of(1), shape: [1] }));
    found.device = await failed(Engine.gpu(engine.device));
    found.mixed = await failed(engine.gather(await engine.upload(bytes), bad));

    // a chain: what the first gather makes are the indices of the second
    const next = await engine.upload({ data: Int32Array.of(2, 0, 1), shape: [3] });
    const at = await engine.uploadIndices({ data: Uint8Array.of(0, 1, 2), shape: [3] });
    const table = await engine.upload({ data: Float64Array.of(0.5, 1.5, NaN), shape: [3] });
    const hops = await engine.gather(next, at);
    found.chain = plain(await (await engine.gather(table, hops)).download());
    const late = await engine.gather(table, await engine.upload({ data: Int32Array.of(1, 3), shape: [2] }), { rules: 'torch' });
    found.late = await failed(late.check());
    hops.free();
    found.freed = await failed(hops.download());

    // overlapping calls: each gets its own answer
    const overlapping = Array.from({ length: 20 }, (_, n) =>
      n % 4 === 3
        ? failed(engine.gather(bytes, { data: [n], shape: [1] }, { rules: 'onnx' })).then((e) => e.value)
        : engine.gather(bytes, { data: [n % 2, 0], shape: [2] }).then(({ data }) => String(data[0])),
    );
    found.overlapping = await Promise.all(overlapping);

    // disposal: a thousand calls of each kind leave nothing behind
    const large = await engine.upload({ data: new Float32Array(1 << 16), shape: [1 << 16] });
    const all = await engine.uploadIndices({ data: new Int32Array(1 << 16), shape: [1 << 16] });
    const round = async (calls) => {
      for (let n = 0; n < calls; n += 1) {
        const made = await engine.gather(large, all);
        made.free();
        await engine.gather(bytes, { data: [0, 1], shape: [2] });
      }
      return [wasm.memory.buffer.byteLength, engine.unusedBytes];
    };
    found.before = await round(50);
    found.after = await round(1000);
    engine.free();
    return found;
  });

  assert.deepEqual(found.i64, { data: [String(2n ** 62n), '3'], shape: [2], type: 'BigInt64Array' });
  assert.deepEqual(found.u8, { data: ['4', '2', '6'], shape: [1, 3], type: 'Uint8Array' });
  assert.deepEqual(found.nd, { data: ['6', '2'], shape: [2], type: 'Uint8Array' });
  const rows = { first: [-14, 1.5, 0], shape: [3, 32], type: 'Float32Array' };
  assert.deepEqual(found.quantized, rows);
  assert.deepEqual(found.quantizedThere, rows);
  assert.deepEqual(found.quantizedPairs, { data: ['-14', '-1'], shape: [2], type: 'Float32Array' });
  assert.equal(found.partialBlock.code, 'PartialBlock');
  assert.equal(found.noFormat.code, 'UnknownName');
  assert.equal(found.shortTable.code, 'QuantizedLength');
  assert.equal(found.freedTable.code, 'Call');
  assert.deepEqual(found.fill, { data: ['7', '7'], shape: [2, 1], type: 'Uint8Array' });
  if (found.f16) assert.deepEqual(found.f16, { data: ['NaN', '0'], shape: [2], type: 'Float16Array' });
  assert.deepEqual(found.part, { data: ['3', '1'], shape: [2], type: 'Float32Array' });
  const message = 'gather: indices[1] = 5 is out of bounds for params axis 0 of extent 2 (the first of 2 bad indices)';
  assert.deepEqual(found.bad, { typed: true, code: 'IndexOutOfBounds', message, count: 2, value: '5', position: [1] });
  assert.equal(found.axis.message, 'gather: axis 4 is out of range for params of rank 2 (allowed -2..=1)');
  assert.match(found.device.message, /takes no device/);
  for (const name of ['device', 'rules', 'length', 'shape', 'floats', 'mixed', 'freed']) {
    assert.equal(found[name].typed, true, `${name}: ${JSON.stringify(found[name])}`);
  }
  assert.deepEqual(found.chain, { data: ['NaN', '0.5', '1.5'], shape: [3], type: 'Float64Array' });
  assert.equal(found.late.message, 'gather: indices[1] = 3 is out of bounds for params axis 0 of extent 3');
  const expected = Array.from({ length: 20 }, (_, n) => (n % 4 === 3 ? String(n) : n % 2 ? '4' : '1'));
  assert.deepEqual(found.overlapping, expected);
  assert.deepEqual(found.after, found.before, 'WebAssembly memory and unused buffers do not grow');
  console.log(`1,000 calls: ${found.after[0]} bytes of WebAssembly memory, ${found.after[1]} unused on the device, as before`);
}

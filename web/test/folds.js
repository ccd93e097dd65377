// Scatters, gradients and pooled lookups: answers worked out by hand, and what is refused.
import assert from 'node:assert/strict';

/** Leaves in the page: engines, and what is told of outcomes. */
const prepare = (page) =>
  page.evaluate(async () => {
    const { Engine, GatherError } = await import('./index.js');
    window.gpu = await Engine.gpu();
    window.cpu = await Engine.cpu();
    window.told = async (promise) => {
      try {
        const made = await promise;
        return made?.data ? Array.from(made.data, String).join(' ') : made;
      } catch (e) {
        return e instanceof GatherError ? `${e.code}: ${e.message}` : `not typed: ${e}`;
      }
    };
    window.floats = (shape, ...values) => ({ data: Float32Array.from(values), shape });
    window.longs = (shape, ...values) => ({ data: BigInt64Array.from(values, BigInt), shape });
    window.ids = (...data) => ({ data, shape: [data.length] });
  });

const SCATTERED = {
  add: '31 42 3 4 65 86',
  none: '30 40 3 4 50 60',
  columns: '1 0 3 0 5 0',
  mul: '4611686018427387904 -60 -14',
  min: '4611686018427387904 -4 -7',
  max: '4611686018427387904 5 2',
  wrapping: '7 0 0 0 0 44',
  scalar: '9',
  nothing: '1 2 3 4 5 6',
  clipped: '1 2 3 4 8 13',
  bad: 'IndexOutOfBounds: scatter: indices[1] = 3 is out of bounds for params axis 0 of extent 3 (the first of 2 bad indices)',
  shape: 'UpdatesShape: scatter: updates has shape [1, 2], but params and indices need [3, 2]',
  axis: 'AxisOutOfRange: scatter: axis 2 is out of range for params of rank 2 (allowed -2..=1)',
  noAxis: 'Call: scatter_elements: axis is missing',
  halfAxis: 'Call: axis NaN is no integer',
  types: 'Call: updates of i64 for a tensor of f32',
  reduce: 'Call: unknown reduce "mean" (allowed: none, add, mul, min, max)',
  rules: /^Call: unknown rules "no" /,
  wideIndex: 'Call: index 4294967296 is no 32-bit integer; a BigInt64Array holds wider ones',
  inPlace: 'Call: scatterInto writes to a tensor on the device',
  operator: 'Call: unknown operator "gather"',
  short: /^ViewOutOfRange: params: a view of shape \[4, 2\]/,
  explained: /^scatter_elements, reduce = mul, i64\nlookups +3, to 3 destinations of 1 elements\n/,
  explainedAxis: 'AxisOutOfRange: scatter: axis 2 is out of range for params of rank 2 (allowed -2..=1)',
};

const scattered = (page, name) =>
  page.evaluate(async (name) => {
    const engine = window[name];
    const base = floats([3, 2], 1, 2, 3, 4, 5, 6);
    const [twice, updates] = [ids(2, 0, 2), floats([3, 2], 10, 20, 30, 40, 50, 60)];
    const [wide, three] = [longs([3], 2n ** 62n, 5, -7), longs([3], 3, -4, 2)];
    const elements = (reduce) => engine.scatterElements(wide, ids(1, 1, 2), three, { axis: 0, reduce });
    const bytes = { data: new Uint8Array(6), shape: [2, 3] };
    const tuples = { data: Uint8Array.of(1, 2, 0, 0, 1, 2), shape: [3, 2] };
    const add = (at, values, options) => engine.scatter(base, at, values, { reduce: 'add', ...options });
    const calls = {
      add: add(twice, updates),
      none: engine.scatter(base, twice, updates),
      columns: engine.scatter(base, ids(1), floats([3, 1], 0, 0, 0), { axis: 1 }),
      mul: elements('mul'),
      min: elements('min'),
      max: elements('max'),
      wrapping: engine.scatterNd(bytes, tuples, { data: Uint8Array.of(200, 7, 100), shape: [3] }, { reduce: 'add' }),
      scalar: engine.scatterNd(floats([1], 4), { data: new Int32Array(), shape: [1, 0] }, floats([1, 1], 5), { reduce: 'add' }),
      nothing: add(longs([1], 2n ** 32n), floats([1, 2], 9, 9)),
      clipped: add(ids(7), floats([1, 2], 3, 7), { rules: 'jax-clip' }),
      bad: add(ids(0, 3, -1), updates, { rules: 'torch' }),
      shape: add(twice, floats([1, 2], 1, 2)),
      axis: add(twice, updates, { axis: 2 }),
      noAxis: engine.scatterElements(base, twice, updates),
      halfAxis: add(twice, updates, { axis: NaN }),
      types: add(twice, longs([3, 2], 1, 2, 3, 4, 5, 6)),
      reduce: add(twice, updates, { reduce: 'mean' }),
      rules: add(twice, updates, { rules: 'no' }),
      wideIndex: add(ids(2 ** 32, 0, 0), updates),
      inPlace: engine.scatterInto(base, twice, updates),
      operator: engine.scatterInto(base, twice, updates, { op: 'gather' }),
      short: engine.scatter({ data: base.data, shape: [4, 2] }, twice, updates),
      explained: engine.explain('scatter_elements', wide, ids(1, 1, 2), { axis: 0, reduce: 'mul' }),
      explainedAxis: engine.explain('scatter', base, twice, { axis: 2 }),
    };
    const outcomes = Object.entries(calls).map(async ([key, call]) => [key, await told(call)]);
    return Object.fromEntries(await Promise.all(outcomes));
  }, name);

const POOLED = {
  sum: '40 42 0 0 50 52',
  mean: '20 21 0 0 25 26',
  max: '30 31 0 0 30 31',
  rows: '15 16 30 31',
  weighted: '35 37.5',
  lastOffset: '40 42 30 32',
  zeros: '10 11',
  wrapping: '44 1',
  bad: 'IndexOutOfBounds: embedding_bag: indices[1] = 4 is out of bounds for params axis 0 of extent 4',
  noOffsets: 'RankExpected: embedding_bag: indices has rank 1, but must have 2',
  emptyOffsets: /^NoOffsets: embedding_bag: /,
  decreasing: /^OffsetOutOfRange: embedding_bag: offsets\[2\] = 1 /,
  negative: /^OffsetOutOfRange: embedding_bag: offsets\[1\] = -1 /,
  padding: /^PaddingOutOfRange: embedding_bag: /,
  halfPadding: 'Call: paddingIndex 0.5 is no integer',
  weightedMean: /^WeightsWithout: embedding_bag: /,
  weightsShape: /^WeightsShape: embedding_bag: /,
  weightsType: 'Call: weights of i64 for a table of f32',
  integers: /^BagModeType: embedding_bag: /,
  mode: 'Call: unknown mode "min" (allowed: sum, mean, max)',
  gradient: '0 0 6 8',
  clippedGradient: '0 0 9 12',
  ofElements: '0 6 0 7',
  huge: /^SizeOverflow: /,
  gradientShape: 'UpdatesShape: scatter: updates has shape [3, 2], but params and indices need [3, 4]',
  explained: /^embedding_bag, mode = mean, f32\nbags +3 of 5 lookups, the longest of 3\n/,
  explainedMode: /^BagModeType: embedding_bag: /,
};

const pooled = (page, name) =>
  page.evaluate(async (name) => {
    const engine = window[name];
    const table = floats([4, 2], 0, 1, 10, 11, 20, 21, 30, 31);
    const five = longs([5], 1, 3, 3, 0, 2);
    const bags = (options) => engine.embeddingBag(table, five, { offsets: [0, 2, 2], paddingIndex: 0, ...options });
    const pair = { data: [1, 3], shape: [1, 2] };
    const grad = floats([3, 2], 1, 2, 3, 4, 5, 6);
    const small = { data: Uint8Array.of(200, 1, 100, 0), shape: [2, 2] };
    const calls = {
      sum: bags({}),
      mean: bags({ mode: 'mean' }),
      max: bags({ mode: 'max' }),
      rows: engine.embeddingBag(table, { data: Uint16Array.of(1, 2, 3, 3), shape: [2, 2] }, { mode: 'mean' }),
      weighted: engine.embeddingBag(table, pair, { weights: floats([1, 2], 2, 0.5) }),
      lastOffset: bags({ offsets: BigInt64Array.of(0n, 2n, 4n), includeLastOffset: true, paddingIndex: undefined }),
      zeros: engine.embeddingBag(table, { data: [1, 9], shape: [1, 2] }),
      wrapping: engine.embeddingBag(small, { data: [0, 1], shape: [1, 2] }),
      bad: engine.embeddingBag(table, ids(1, 4), { offsets: [0], rules: 'torch' }),
      noOffsets: engine.embeddingBag(table, five),
      emptyOffsets: bags({ offsets: [], includeLastOffset: true }),
      decreasing: bags({ offsets: [0, 2, 1] }),
      negative: bags({ offsets: Int8Array.of(0, -1) }),
      padding: bags({ paddingIndex: 4 }),
      halfPadding: bags({ paddingIndex: 0.5 }),
      weightedMean: engine.embeddingBag(table, pair, { mode: 'mean', weights: floats([1, 2], 2, 0.5) }),
      weightsShape: engine.embeddingBag(table, pair, { weights: floats([2], 2, 0.5) }),
      weightsType: engine.embeddingBag(table, pair, { weights: longs([1, 2], 2, 3) }),
      integers: engine.embeddingBag(small, pair, { mode: 'mean' }),
      mode: bags({ mode: 'min' }),
      gradient: engine.gatherGradient([2, 2], ids(1, 7, 1), grad),
      clippedGradient: engine.gatherGradient([2, 2], ids(1, 7, 1), grad, { rules: 'jax-clip' }),
      ofElements: engine.gatherGradient([2, 2], { data: [1, 1], shape: [2, 1] }, longs([2, 1], 6, 7), { op: 'gatherElements', axis: 1 }),
      huge: engine.gatherGradient([2 ** 31, 2], ids(1, 7, 1), grad),
      gradientShape: engine.gatherGradient([2, 4], ids(1, 7, 1), grad),
      explained: engine.explain('embedding_bag', table, five, { mode: 'mean', offsets: [0, 2, 2] }),
      explainedMode: engine.explain('embedding_bag', small, pair, { mode: 'mean' }),
    };
    const outcomes = Object.entries(calls).map(async ([key, call]) => [key, await told(call)]);
    return Object.fromEntries(await Promise.all(outcomes));
  }, name);

const ON_DEVICE = {
  scattered: '31 42 3 4 65 86',
  base: '1 2 3 4 5 6',
  inPlace: '30 40 3 4 50 60',
  inOrder: '10 7',
  elements: '30 0 3 4 50 60',
  badInPlace: 'IndexOutOfBounds: scatter: indices[0] = 5 is out of bounds for params axis 0 of extent 3',
  badLater: 'IndexOutOfBounds: scatter: indices[0] = 5 is out of bounds for params axis 0 of extent 3',
  toldOnce: /^NotCounted: /,
  readThen: '30 7 30',
  same: /^SameBuffer: scatter: /,
  types: 'Call: updates of i64 for a tensor of f32',
  shape: 'UpdatesShape: scatter: updates has shape [2], but params and indices need [3, 2]',
  mixed: 'Call: base, indices and updates are all on the device, or none is',
  freed: 'Call: the tensor was freed',
  gradient: '0 0 6 8',
  bags: '40 42 0 0 60 62',
  weighted: '35 37.5',
  weightsType: 'Call: weights of i64 for a table of f32',
  badBag: 'IndexOutOfBounds: embedding_bag: indices[1] = 3 is out of bounds for params axis 0 of extent 2',
  doubles: /^CpuOnly: scatter: the GPU path has no arithmetic for f64 /,
  hostDoubles: /^CpuOnly: embedding_bag: the GPU path has no arithmetic for f64 /,
  movedDoubles: '0.25',
  onCpu: 'Call: the CPU path has no device tensors',
  doublesOnCpu: '0.75',
  explained: /^scatter, reduce = none, f32\nlookups +3, to 3 destinations of 2 elements\n/,
};

const onDevice = (page) =>
  page.evaluate(async () => {
    const down = (promise) => told(Promise.resolve(promise).then((made) => made.download()));
    const found = {};
    const base = await gpu.upload(floats([3, 2], 1, 2, 3, 4, 5, 6));
    const twice = await gpu.uploadIndices(ids(2, 0, 2));
    const updates = await gpu.upload(floats([3, 2], 10, 20, 30, 40, 50, 60));
    found.scattered = await down(gpu.scatter(base, twice, updates, { reduce: 'add' }));
    found.base = await down(base);
    await gpu.scatterInto(base, twice, updates);
    found.inPlace = await down(base);

    // calls that are not awaited are made in their order, and pass on what was wrong
    const line = await gpu.upload(floats([3], 10, 20, 30));
    const [first, last, seven] = [await gpu.uploadIndices(ids(0)), await gpu.uploadIndices(ids(2, 0, 2)), await gpu.upload(floats([1], 7))];
    const before = gpu.gather(line, last, { rules: 'torch' });
    const written = gpu.scatterInto(line, first, seven);
    const after = gpu.gather(line, last, { rules: 'torch' });
    await written;
    found.inOrder = [(await (await before).download()).data, (await (await after).download()).data].map((d) => d[1]).join(' ');
    const place = await gpu.uploadIndices({ data: [0, 1], shape: [1, 2] });
    await gpu.scatterInto(base, place, await gpu.upload(floats([1], 0)), { op: 'scatterNd' });
    found.elements = await down(base);
    const outside = await gpu.uploadIndices(ids(5));
    const bad = () => gpu.scatterInto(line, outside, seven, { rules: 'torch' });
    await bad();
    // What is gathered from it has its report, which is told once; it was also written to without counting.
    found.badLater = await down(gpu.gather(line, last));
    found.toldOnce = await told(line.check());
    await bad();
    found.badInPlace = await told(line.check());
    found.readThen = await down(gpu.gather(line, last));

    found.same = await told(gpu.scatterInto(updates, twice, updates));
    const longer = await gpu.upload(longs([3, 2], 1, 2, 3, 4, 5, 6));
    found.types = await told(gpu.scatter(base, twice, longer));
    found.shape = await told(gpu.scatter(base, twice, await gpu.upload(floats([2], 1, 2))));
    found.mixed = await told(gpu.scatter(base, ids(2, 0, 2), updates));
    const gone = await gpu.upload(floats([3, 2], 1, 2, 3, 4, 5, 6));
    gone.free();
    found.freed = await told(gpu.scatterInto(gone, twice, updates));

    const grad = await gpu.upload(floats([3, 2], 1, 2, 3, 4, 5, 6));
    found.gradient = await down(gpu.gatherGradient([2, 2], await gpu.uploadIndices(ids(1, 7, 1)), grad));

    const table = await gpu.upload(floats([4, 2], 0, 1, 10, 11, 20, 21, 30, 31));
    const five = await gpu.uploadIndices(longs([5], 1, 3, 3, 3, 2));
    found.bags = await down(gpu.embeddingBag(table, five, { offsets: [0, 2, 2], paddingIndex: 2 }));
    const pair = await gpu.uploadIndices({ data: [1, 3], shape: [1, 2] });
    found.weighted = await down(gpu.embeddingBag(table, pair, { weights: await gpu.upload(floats([1, 2], 2, 0.5)) }));
    found.weightsType = await told(gpu.embeddingBag(table, pair, { weights: await gpu.upload(longs([1, 2], 2, 3)) }));
    const two = await gpu.upload(floats([2, 1], 1, 2));
    found.badBag = await down(gpu.embeddingBag(two, await gpu.uploadIndices(ids(1, 3)), { offsets: [0], rules: 'torch' }));

    const double = { data: Float64Array.of(0.25), shape: [1] };
    const there = await gpu.upload(double);
    found.doubles = await told(gpu.scatter(there, first, there, { reduce: 'add' }));
    found.hostDoubles = await told(gpu.embeddingBag({ data: Float64Array.of(0.25), shape: [1, 1] }, ids(0), { offsets: [0] }));
    found.movedDoubles = await down(gpu.scatter(there, first, there));
    found.explained = await told(gpu.explain('scatter', base, twice));
    found.onCpu = await told(cpu.scatter(base, twice, updates));
    found.doublesOnCpu = await told(cpu.scatter(double, ids(0), { ...double, data: Float64Array.of(0.5) }, { reduce: 'add' }));
    return found;
  });

function compare(found, expected, on) {
  assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort());
  for (const [name, answer] of Object.entries(expected)) {
    if (answer instanceof RegExp) assert.match(found[name], answer, `${name} on ${on}`);
    else assert.equal(found[name], answer, `${name} on ${on}`);
  }
}

export async function folds(page) {
  await prepare(page);
  for (const engine of ['gpu', 'cpu']) {
    compare(await scattered(page, engine), SCATTERED, engine);
    compare(await pooled(page, engine), POOLED, engine);
  }
  compare(await onDevice(page), ON_DEVICE, 'the device');
}

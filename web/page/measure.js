// Times gathers here against plain loops in JavaScript.
const $ = (id) => document.getElementById(id);

const TABLE = 1 << 20;
/** Rows of this many f32, and how many are looked up. */
const CALLS = [
  { width: 1, lookups: 1 << 20 },
  { width: 16, lookups: 1 << 16 },
  { width: 256, lookups: 1 << 12 },
];
const ROUNDS = 7;
/** Calls in a row on the device. */
const CHAIN = 16;

function loops(params, indices, width) {
  const output = new Float32Array(indices.length * width);
  const rows = params.length / width;
  for (let n = 0; n < indices.length; n += 1) {
    const row = indices[n];
    if (row < 0 || row >= rows) continue;
    for (let i = 0; i < width; i += 1) output[n * width + i] = params[row * width + i];
  }
  return output;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function timed(work) {
  const started = performance.now();
  const result = await work();
  return [performance.now() - started, result];
}

/** Medians of one call: `{ loops, hostToHost, onDevice }` in milliseconds. */
async function measureOne(engine, { width, lookups }) {
  const rows = TABLE / width;
  const data = Float32Array.from({ length: TABLE }, (_, n) => n);
  const at = Int32Array.from({ length: lookups }, () => Math.floor(Math.random() * rows));
  const params = { data, shape: [rows, width] };
  const indices = { data: at, shape: [lookups] };
  const onGpu = Boolean(engine.device);
  const resident = onGpu && [await engine.upload(params), await engine.upload(indices)];
  const times = { loops: [], hostToHost: [], onDevice: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [inLoops, expected] = await timed(() => loops(data, at, width));
    const [here, made] = await timed(() => engine.gather(params, indices, { axis: 0 }));
    if (made.data.some((value, n) => value !== expected[n])) throw new Error('the outputs differ');
    let chained = NaN;
    if (onGpu) {
      [chained] = await timed(async () => {
        const outputs = [];
        for (let n = 0; n < CHAIN; n += 1) outputs.push(await engine.gather(...resident, { axis: 0 }));
        await finished(engine, outputs.at(-1));
        outputs.forEach((output) => output.free());
      });
      chained /= CHAIN;
    }
    if (round === 0) continue; // compiles
    times.loops.push(inLoops);
    times.hostToHost.push(here);
    times.onDevice.push(chained);
  }
  if (onGpu) resident.forEach((tensor) => tensor.free());
  return { loops: median(times.loops), hostToHost: median(times.hostToHost), onDevice: median(times.onDevice) };
}

/** Waits until the device has made `tensor`: one element of it is downloaded. */
async function finished(engine, tensor) {
  const first = await engine.uploadIndices({ data: new Int32Array(tensor.shape.length), shape: [1, tensor.shape.length] });
  const element = await engine.gatherNd(tensor, first);
  await element.download();
  [first, element].forEach((made) => made.free());
}

const milliseconds = (time) => (Number.isNaN(time) ? '–' : `${time.toFixed(time < 10 ? 2 : 1)} ms`);

/** Makes the button work, for the engine that `state` has when it is clicked. */
export function offerMeasure(state) {
  const [button, result, progress] = [$('measure'), $('measure-result'), $('measure-progress')];
  button.onclick = async () => {
    button.disabled = true;
    progress.hidden = false;
    result.textContent = 'Running…';
    const table = $('measure-table');
    table.replaceChildren();
    const add = (values) => {
      const row = table.insertRow();
      for (const value of values) row.insertCell().textContent = value;
    };
    add(['rows', 'lookups', 'JavaScript loops', 'here, arrays to arrays', 'on the device']);
    try {
      for (const [n, call] of CALLS.entries()) {
        progress.value = n / CALLS.length;
        const times = await measureOne(state.engine, call);
        add([
          `${call.width} f32`,
          call.lookups.toLocaleString('en'),
          milliseconds(times.loops),
          milliseconds(times.hostToHost),
          milliseconds(times.onDevice),
        ]);
      }
      result.textContent = `Medians of ${ROUNDS} rounds; outputs are equal. ${state.on}`;
    } catch (error) {
      result.textContent = error.message;
    }
    button.disabled = false;
    progress.hidden = true;
  };
}

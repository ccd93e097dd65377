// The page: one call in a form, its tensors side by side.
import { Engine, init } from './index.js';
import { acceptFiles, download } from './files.js';
import { arrange, offerForm, randomIndices, read } from './form.js';
import { draw } from './grids.js';
import { offerMeasure } from './measure.js';
import { movesOf } from './moves.js';
import { offerQuantised } from './quantised.js';
import { VERBS } from './verbs.js';
import { offerVerify } from './verify.js';

const $ = (id) => document.getElementById(id);

/** What the form does not hold: engines, the last output, and how many calls there were. */
const state = { engine: undefined, on: '', cpu: undefined, output: undefined, call: 0 };

function say(error) {
  $('message').hidden = !error;
  $('message').textContent = error ? error.message : '';
}

/** Runs the call of the form; only the latest one is shown. */
async function run() {
  const turn = (state.call += 1);
  arrange();
  let call, output, followed, plan, failed;
  try {
    call = read();
    const verb = VERBS[call.verb];
    plan = await verb.explain(state.engine, call);
    output = await verb.run(state.engine, call);
    followed = await movesOf(state.cpu, call);
  } catch (error) {
    failed = error;
    if (error.code === 'DeviceLost') await start(); // for the next call
  }
  if (turn !== state.call) return;
  state.output = failed ? undefined : { ...output, dtype: call.params.dtype };
  say(failed);
  $('download').disabled = Boolean(failed);
  $('plan').textContent = plan ?? '';
  if (call) draw(call, state.output, followed);
  document.body.dataset.turn = turn;
}

function random() {
  try {
    randomIndices();
  } catch (error) {
    return say(error);
  }
  return run();
}

/** The engine, and words for what it runs on or what is missing. */
async function findEngine() {
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  if (adapter) {
    try {
      const { vendor, architecture, description } = adapter.info;
      const name = description || [vendor, architecture].filter(Boolean).join(' ') || 'unnamed';
      return [await Engine.gpu(), `On WebGPU: ${name}.`];
    } catch (error) {
      return [await Engine.cpu(), `WebGPU failed (${error.message}): on the CPU path, in WebAssembly.`];
    }
  }
  const missing = !window.isSecureContext
    ? 'WebGPU needs https or localhost'
    : navigator.gpu
      ? 'The browser has WebGPU, but no adapter for it'
      : 'This browser has no WebGPU (navigator.gpu is missing)';
  return [await Engine.cpu(), `${missing}: on the CPU path, in WebAssembly.`];
}

async function start() {
  [state.engine, state.on] = await findEngine();
  $('runs-on').textContent = state.on;
}

async function main() {
  offerForm(run);
  arrange();
  await init();
  state.cpu = await Engine.cpu();
  await start();
  $('random').onclick = random;
  $('download').onclick = () => download(state.output);
  acceptFiles(run, say);
  offerVerify(state);
  offerMeasure(state);
  await run();
  await offerQuantised(state);
}

main().catch((error) => {
  $('runs-on').textContent = '';
  say(error);
});

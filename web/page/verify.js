// Runs all cases on the visitor's device.
import { Engine, Suite } from './index.js';

const FILES = [
  'doc_examples', 'modes_recorded', 'numpy_recorded', 'onnx_node_tests', 'ort_unit_tests',
  'tf_gather_nd_recorded', 'tf_gather_recorded', 'tfjs_recorded', 'webnn_baseline', 'wpt_webnn',
  'folds/jax_scatter_recorded', 'folds/numpy_at_recorded', 'folds/onnx_scatter_node_tests',
  'folds/tf_scatter_recorded', 'folds/torch_bag_recorded', 'folds/torch_scatter_recorded',
  'quantized/gguf_blocks', 'quantized/numpy_blocks', 'quantized/ort_blocks', 'quantized/rows_and_fp8',
];
const $ = (id) => document.getElementById(id);

/** Text in cells, so that what a case is called is never markup. */
function addRow(table, values, failed) {
  const row = table.insertRow();
  for (const value of values) row.insertCell().textContent = value;
  row.classList.toggle('failed', Boolean(failed));
}

async function suites() {
  const read = async (name) => {
    const answer = await fetch(`conformance/${name}.json`);
    if (!answer.ok) throw new Error(`${name}.json: ${answer.status}`);
    return [name, await Suite.read(await answer.text())];
  };
  return [...(await Promise.all(FILES.map(read))), ['built-in calls', await Suite.builtin()]];
}

async function verify(engine, on) {
  const [table, progress] = [$('verify-table'), $('verify-progress')];
  table.replaceChildren();
  addRow(table, ['cases', 'passed', 'failed', 'skipped']);
  const all = await suites();
  progress.max = all.reduce((sum, [, suite]) => sum + suite.length, 0);
  progress.value = 0;
  const sum = { passed: 0, failed: 0, skipped: 0 };
  let first = '';
  for (const [name, suite] of all) {
    const count = { passed: 0, failed: 0, skipped: 0 };
    for (let at = 0; at < suite.length; at += 1) {
      const { name: label, outcome, detail } = await suite.run(engine, at);
      count[outcome] += 1;
      sum[outcome] += 1;
      progress.value += 1;
      if (outcome === 'failed') first ||= ` First: ${name}, ${label}: ${detail}`;
      // The CPU path never waits: let the page draw.
      if (at % 32 === 0) await new Promise((resolve) => setTimeout(resolve));
    }
    suite.free();
    addRow(table, [name, count.passed, count.failed, count.skipped], count.failed > 0);
  }
  const counts = `${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped.`;
  return `${counts} ${on}${first}`;
}

/** Makes the button work, for the engine that `state` has when it is clicked. */
export function offerVerify(state) {
  const [button, result, progress] = [$('verify'), $('verify-result'), $('verify-progress')];
  $('fault').disabled = !state.engine.device;
  button.onclick = async () => {
    button.disabled = true;
    progress.hidden = false;
    result.textContent = 'Running…';
    try {
      const faulty = $('fault').checked ? await Engine.withPlantedFault('reads a step too far') : undefined;
      result.textContent = await verify(faulty ?? state.engine, state.on);
      faulty?.free();
    } catch (error) {
      result.textContent = error.message;
    }
    button.disabled = false;
    progress.hidden = true;
  };
}

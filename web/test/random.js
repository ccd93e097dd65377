// Random calls on the browser's WebGPU and on the CPU path; why cases are skipped; and faults that must be found.
import assert from 'node:assert/strict';

// Random calls of each kind.
const RANDOM = 500;
// Faults of shaders, and of which kind a random call must show each.
const SHADER_FAULTS = {
  'reads a step too far': 'Gather',
  'loses the last update': 'Scatter',
  'leaves out the last row of a bag': 'Bag',
  'takes the scale of another block': 'Quantized',
};

// Files of which WebGPU skips cases, and the only reason for it.
const SKIPPED = ['numpy_at_recorded', 'tf_scatter_recorded', 'torch_bag_recorded', 'torch_scatter_recorded'];
const NO_ARITHMETIC = /: the GPU path has no arithmetic for (f64|c64|c128) /;

/**
 * Runs a suite in the page: counts, the failures, and why cases are skipped. `make` makes the engine: 'gpu',
 * 'cpu', or the name of a fault in its shaders. `name` is a file of recorded answers, or how many random calls
 * there are of each kind; `flips` a bit in an expected output.
 */
function runSuite(page, make, name, flips) {
  return page.evaluate(
    async ({ make, name, flips }) => {
      const { Engine, Suite } = await import('./index.js');
      const made = () => (Engine[make] ? Engine[make]() : Engine.withPlantedFault(make));
      const engine = ((window.engines ??= {})[make] ??= await made());
      const read = async () => Suite.read(await (await fetch(`conformance/${name}.json`)).text());
      const suite = await (typeof name === 'number' ? Suite.random(name) : read());
      if (flips) suite.plantFault(0);
      const report = { passed: 0, failed: 0, skipped: 0, empty: 0, failures: [], reasons: [], on: engine.description };
      for (let at = 0; at < suite.length; at += 1) {
        const { name, outcome, detail } = await suite.run(engine, at);
        report[outcome] += 1;
        if (outcome === 'passed' && detail) report.empty += 1;
        if (outcome === 'skipped') report.reasons.push(detail);
        if (outcome === 'failed') report.failures.push(`${name}: ${detail}`);
      }
      suite.free();
      return report;
    },
    { make, name, flips },
  );
}

/** Of gathers, scatters, pooled lookups and quantised tables, on WebGPU and on the CPU path. */
export async function random(page) {
  for (const make of ['gpu', 'cpu']) {
    const report = await runSuite(page, make, RANDOM);
    assert.deepEqual(report.failures, [], `random calls on ${report.on}`);
    assert.equal(report.passed, 4 * RANDOM, `random calls on ${report.on}`);
    assert.ok(report.empty < 2 * RANDOM, `${report.empty} of ${report.passed} without an output`);
    console.log(`random calls, ${report.on}: ${report.passed} passed, ${report.empty} of them without an output`);
  }
}

/** The button that runs all cases does not say why some are skipped. */
export async function skips(page) {
  for (const name of SKIPPED) {
    const { reasons } = await runSuite(page, 'gpu', `folds/${name}`);
    assert.ok(reasons.length > 0, name);
    for (const reason of reasons) assert.match(reason, NO_ARITHMETIC, name);
  }
}

export async function faults(page) {
  const flipped = await runSuite(page, 'gpu', 'onnx_node_tests', true);
  assert.equal(flipped.failed, 1, 'a flipped bit in an expected output');
  const folded = await runSuite(page, 'cpu', 'folds/onnx_scatter_node_tests', true);
  assert.equal(folded.failed, 1, 'a flipped bit in an expected scatter');
  const decoded = await runSuite(page, 'cpu', 'quantized/rows_and_fp8', true);
  assert.equal(decoded.failed, 1, 'a flipped bit in an expected row');
  for (const [fault, kind] of Object.entries(SHADER_FAULTS)) {
    const faulty = await runSuite(page, fault, 40);
    const found = faulty.failures.filter((failure) => failure.startsWith(`random call ${kind} `));
    assert.ok(found.length > 0, `shaders: one that ${fault}`);
    console.log(`a shader that ${fault}: ${faulty.failed} of 160 random calls fail`);
  }
}

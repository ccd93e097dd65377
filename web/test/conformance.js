// All recorded answers of frameworks, on the browser's WebGPU and on the CPU path; and faults that
// must be found.
import assert from 'node:assert/strict';

// File, and how many of its cases pass; one case of tf_gather_nd_recorded is skipped.
const SUITES = {
  doc_examples: 27,
  modes_recorded: 90,
  numpy_recorded: 15,
  onnx_node_tests: 10,
  ort_unit_tests: 159,
  tf_gather_nd_recorded: 48,
  tf_gather_recorded: 382,
  tfjs_recorded: 46,
  webnn_baseline: 25,
  wpt_webnn: 60,
};

// Of scatters and pooled lookups: file, its cases, and how many of them a GPU skips, as shaders have no
// arithmetic for f64 and complex numbers.
const FOLDS = {
  jax_scatter_recorded: [225, 0],
  numpy_at_recorded: [106, 12],
  onnx_scatter_node_tests: [14, 0],
  tf_scatter_recorded: [253, 58],
  torch_bag_recorded: [229, 42],
  torch_scatter_recorded: [93, 10],
};
// Of quantized tables.
const QUANTIZED = { gguf_blocks: 1062, numpy_blocks: 420, ort_blocks: 910, rows_and_fp8: 270 };
// Random calls of each kind.
const RANDOM = 500;
// Faults of shaders, and of which kind a random call must show each.
const SHADER_FAULTS = {
  'reads a step too far': 'Gather',
  'loses the last update': 'Scatter',
  'leaves out the last row of a bag': 'Bag',
  'takes the scale of another block': 'Quantized',
};
const NO_ARITHMETIC = /: the GPU path has no arithmetic for (f64|c64|c128) /;

/**
 * Runs a suite in the page: counts, and the failures. `make` makes the engine: 'gpu', 'cpu', or the name of a
 * fault in its shaders. Of random calls, `name` is how many there are of each kind.
 */
function runSuite(page, make, name, flips) {
  return page.evaluate(
    async ({ make, name, flips }) => {
      const { Engine, Suite } = await import('./index.js');
      const made = () => (Engine[make] ? Engine[make]() : Engine.withPlantedFault(make));
      const engine = ((window.engines ??= {})[make] ??= await made());
      const read = async () => Suite.read(await (await fetch(`conformance/${name}.json`)).text());
      const known = () => (name === 'builtin' ? Suite.builtin() : read());
      const suite = await (typeof name === 'number' ? Suite.random(name) : known());
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

export async function conformance(page) {
  for (const make of ['gpu', 'cpu']) {
    const sum = { passed: 0, skipped: 0 };
    for (const [name, passing] of Object.entries(SUITES)) {
      const report = await runSuite(page, make, name);
      assert.deepEqual(report.failures, [], `${name} on ${report.on}`);
      assert.equal(report.passed, passing, `${name} on ${report.on}`);
      sum.passed += report.passed;
      sum.skipped += report.skipped;
      sum.on = report.on;
    }
    console.log(`recorded answers, ${sum.on}: ${sum.passed} passed, ${sum.skipped} skipped`);
    assert.equal(sum.skipped, 1);
  }
  const builtin = await runSuite(page, 'gpu', 'builtin');
  assert.deepEqual(builtin.failures, []);
  assert.ok(builtin.passed > 100);
  console.log(`built-in calls, ${builtin.on}: ${builtin.passed} passed`);
}

export async function recordedFolds(page) {
  for (const make of ['gpu', 'cpu']) {
    const sum = { passed: 0, skipped: 0 };
    for (const [name, [cases, onHostOnly]] of Object.entries(FOLDS)) {
      const report = await runSuite(page, make, `folds/${name}`);
      assert.deepEqual(report.failures, [], `${name} on ${report.on}`);
      for (const reason of report.reasons) assert.match(reason, NO_ARITHMETIC, name);
      assert.equal(report.skipped, make === 'gpu' ? onHostOnly : 0, `${name} on ${report.on}`);
      assert.equal(report.passed + report.skipped, cases, `${name} on ${report.on}`);
      sum.passed += report.passed;
      sum.skipped += report.skipped;
      sum.on = report.on;
    }
    console.log(`recorded scatters and pooled lookups, ${sum.on}: ${sum.passed} passed, ${sum.skipped} skipped`);
  }
}

export async function recordedQuantized(page) {
  for (const make of ['gpu', 'cpu']) {
    let [passed, on] = [0, ''];
    for (const [name, cases] of Object.entries(QUANTIZED)) {
      const report = await runSuite(page, make, `quantized/${name}`);
      assert.deepEqual(report.failures, [], `${name} on ${report.on}`);
      assert.equal(report.passed, cases, `${name} on ${report.on}`);
      [passed, on] = [passed + report.passed, report.on];
    }
    console.log(`recorded answers for quantized tables, ${on}: ${passed} passed`);
  }
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

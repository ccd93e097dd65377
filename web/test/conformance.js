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
const NO_ARITHMETIC = /: the GPU path has no arithmetic for (f64|c64|c128) /;

/** Runs a suite in the page: counts, and the failures. `make` makes the engine. */
function runSuite(page, make, name, fault) {
  return page.evaluate(
    async ({ make, name, fault }) => {
      const { Engine, Suite } = await import('./index.js');
      const engine = ((window.engines ??= {})[make] ??= await Engine[make]());
      const builtin = name === 'builtin';
      const text = builtin ? '' : await (await fetch(`conformance/${name}.json`)).text();
      const suite = builtin ? await Suite.builtin() : await Suite.read(text);
      if (fault) suite.plantFault(0);
      const report = { passed: 0, failed: 0, skipped: 0, failures: [], reasons: [], on: engine.description };
      for (let at = 0; at < suite.length; at += 1) {
        const { name, outcome, detail } = await suite.run(engine, at);
        report[outcome] += 1;
        if (outcome === 'skipped') report.reasons.push(detail);
        if (outcome === 'failed') report.failures.push(`${name}: ${detail}`);
      }
      suite.free();
      return report;
    },
    { make, name, fault },
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

export async function faults(page) {
  const flipped = await runSuite(page, 'gpu', 'onnx_node_tests', true);
  assert.equal(flipped.failed, 1, 'a flipped bit in an expected output');
  const folded = await runSuite(page, 'cpu', 'folds/onnx_scatter_node_tests', true);
  assert.equal(folded.failed, 1, 'a flipped bit in an expected scatter');
  const decoded = await runSuite(page, 'cpu', 'quantized/rows_and_fp8', true);
  assert.equal(decoded.failed, 1, 'a flipped bit in an expected row');
  const faulty = await runSuite(page, 'withPlantedFault', 'tf_gather_recorded');
  assert.ok(faulty.failed > 0, 'shaders that read a step too far');
  console.log(`planted faults: 3 flipped bits found; reading a step too far fails ${faulty.failed} cases`);
}

// The page's button that runs the built-in calls and all recorded answers of frameworks.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { finished, startLong } from './form.js';

// File, its cases, and how many of them are skipped: everywhere, and besides on WebGPU, as shaders have no
// arithmetic for f64 and complex numbers.
const RECORDED = {
  doc_examples: [27, 0, 0],
  modes_recorded: [90, 0, 0],
  numpy_recorded: [15, 0, 0],
  onnx_node_tests: [10, 0, 0],
  ort_unit_tests: [159, 0, 0],
  tf_gather_nd_recorded: [49, 1, 0],
  tf_gather_recorded: [382, 0, 0],
  tfjs_recorded: [46, 0, 0],
  webnn_baseline: [25, 0, 0],
  wpt_webnn: [60, 0, 0],
  'folds/jax_scatter_recorded': [225, 0, 0],
  'folds/numpy_at_recorded': [106, 0, 12],
  'folds/onnx_scatter_node_tests': [14, 0, 0],
  'folds/tf_scatter_recorded': [253, 0, 58],
  'folds/torch_bag_recorded': [229, 0, 42],
  'folds/torch_scatter_recorded': [93, 0, 10],
  'quantized/gguf_blocks': [1062, 0, 0],
  'quantized/numpy_blocks': [420, 0, 0],
  'quantized/ort_blocks': [910, 0, 0],
  'quantized/rows_and_fp8': [270, 0, 0],
};
// The cases of one of them, by which a fault is found fast.
const FEW = fileURLToPath(new URL('../dist/conformance/ort_unit_tests.json', import.meta.url));

/** Clicks it, and compares the table and the sentence; returns where the sentence says that they ran. */
export async function verify(page, onWebGpu) {
  await startLong(page, 'verify');
  const sentence = await finished(page, 'verify');
  const rows = await page.locator('#verify-table tr').allInnerTexts();
  const counts = new Map(
    rows.slice(1).map((row) => {
      const [name, ...numbers] = row.split('\t');
      return [name, numbers.map(Number)];
    }),
  );
  for (const [name, [cases, everywhere, besides]] of Object.entries(RECORDED)) {
    const skipped = everywhere + (onWebGpu ? besides : 0);
    assert.deepEqual(counts.get(name), [cases - skipped, 0, skipped], name);
  }
  assert.equal(counts.size, Object.keys(RECORDED).length + 1);
  const [builtin, ...wrong] = counts.get('built-in calls');
  assert.ok(builtin > 2000, `${builtin} built-in calls`);
  assert.deepEqual(wrong, [0, 0]);
  const [passed, failed, skipped] = [0, 1, 2].map((n) => Array.from(counts.values(), (row) => row[n]).reduce((a, b) => a + b));
  const start = `${passed} passed, ${failed} failed, ${skipped} skipped. `;
  assert.ok(sentence.startsWith(start), `${sentence}, not ${start}`);
  console.log(sentence);
  return sentence.slice(start.length);
}

/** With a fault planted in the shaders, which is found and told. */
export async function verifyWithAFault(page) {
  await page.route('**/conformance/**', (route) => route.fulfill({ path: FEW }));
  await page.check('#fault');
  await page.click('#verify');
  assert.match(await finished(page, 'verify'), / [1-9]\d* failed, .* First: /);
  await page.unroute('**/conformance/**');
}

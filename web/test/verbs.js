// The page with scatters, gradients and bags: where updates go, and what is added up. Answers are worked out by hand.
import assert from 'node:assert/strict';
import { fill, npy, output, texts } from './form.js';

const said = (page) => page.locator('#said').textContent();
const message = (page) => page.locator('#message').textContent();
const plan = (page) => page.locator('#plan').textContent();
const point = (page, section, at) => page.locator(`#${section} td`).nth(at).hover();

/** What has the class `mark`, section by section. */
async function marked(page, mark) {
  const found = {};
  for (const section of ['params', 'indices', 'updates', 'output']) {
    const values = await texts(page, `#${section} td.${mark}`);
    if (values.length > 0) found[section] = values.join(' ');
  }
  return found;
}

const SCATTER = {
  verb: 'scatter', op: 'gather', axis: '0', batchDims: '0', rules: 'tensorflow-gpu', dtype: 'f32', indexType: 'i32',
  paramsShape: '4, 2', indicesShape: '4', values: '2 0 2 9', updates: '1 2 3 4 2.5 -8 7 7', reduce: 'add',
};

async function updates(page) {
  await fill(page, SCATTER);
  assert.deepEqual(await output(page), ['3', '5', '2', '3', '7.5', '-1', '6', '7']);
  assert.match(await plan(page), /^scatter, reduce = add, f32\nlookups +4, to 4 destinations of 2 elements\n/);
  for (const name of ['base f32 [4, 2]', 'indices i32 [4]', 'updates f32 [4, 2]', 'output f32 [4, 2]']) {
    assert.equal(await page.getByRole('region', { name, exact: true }).count(), 1, name);
  }

  await point(page, 'updates', 0);
  const sum = 'output[2, 0] = 4 + 1 + 2.5 = 7.5, from updates[0, 0], updates[2, 0].';
  assert.equal(await said(page), `updates[0, 0] = 1 goes to output[2, 0], by indices[0] = 2: ${sum}`);
  assert.deepEqual(await marked(page, 'lit'), { params: '4', indices: '2', updates: '1', output: '7.5' });
  assert.deepEqual(await marked(page, 'near'), { params: '4 5', updates: '1 2', output: '7.5 -1' });

  await point(page, 'updates', 6);
  assert.equal(await said(page), 'updates[3, 0] = 7 goes nowhere: indices[3] = 9 is out of bounds.');
  assert.deepEqual(await marked(page, 'lit'), { indices: '9', updates: '7' });
  assert.deepEqual(await marked(page, 'bad'), { updates: '7 7' });

  await point(page, 'indices', 2);
  assert.equal(await said(page), 'indices[2] = 2 sends updates[2, 0] … updates[2, 1] to output[2, 0] … output[2, 1].');
  assert.deepEqual(await marked(page, 'lit'), { params: '4 5', indices: '2', updates: '2.5 -8', output: '7.5 -1' });
  await point(page, 'indices', 3);
  assert.equal(await said(page), 'indices[3] = 9 is out of bounds: nowhere to send updates[3, 0] … updates[3, 1].');
  await page.locator('h1').hover();
  assert.equal(await said(page), '');
  assert.deepEqual([await marked(page, 'lit'), await marked(page, 'near')], [{}, {}]);
}

/** Destinations by keyboard, as a screen reader hears them. */
async function destinations(page) {
  await page.locator('#output td').first().focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
  const heard = page.getByRole('status').filter({ hasText: 'output' });
  assert.equal(await heard.textContent(), 'output[2, 1] = 5 + 2 + (-8) = -1, from updates[0, 1], updates[2, 1].');
  assert.deepEqual(await marked(page, 'lit'), { params: '5', indices: '2 2', updates: '2 -8', output: '-1' });
  assert.deepEqual(await page.evaluate(() => [document.activeElement.title, document.activeElement.tabIndex]), ['[2, 1]', 0]);
  for (const key of ['ArrowUp', 'ArrowLeft']) await page.keyboard.press(key);
  assert.equal(await said(page), 'output[1, 0] = 2: no update goes there.');
  assert.deepEqual(await marked(page, 'lit'), { params: '2', output: '2' });
  // From the output, Tab back leads to the base, then to the updates and the indices.
  const stops = [];
  for (let n = 0; n < 3; n += 1) {
    await page.keyboard.press('Shift+Tab');
    stops.push(await page.evaluate(() => document.activeElement.closest('section').id));
  }
  assert.deepEqual(stops, ['params', 'updates', 'indices']);
  await page.locator('#verify').focus();
  assert.equal(await said(page), '');
}

async function reductions(page) {
  const from = 'from updates[0, 1], updates[2, 1].';
  const ways = {
    none: ['3 4 2 3 2.5 -8 6 7', `output[2, 1] = -8 (5, then 2, then -8: the last one stays), ${from}`],
    mul: ['0 4 2 3 10 -80 6 7', `output[2, 1] = 5 × 2 × (-8) = -80, ${from}`],
    min: ['0 1 2 3 1 -8 6 7', `output[2, 1] = min(5, 2, -8) = -8, ${from}`],
    max: ['3 4 2 3 4 5 6 7', `output[2, 1] = max(5, 2, -8) = 5, ${from}`],
  };
  for (const [reduce, [values, sentence]] of Object.entries(ways)) {
    await fill(page, { reduce });
    assert.equal((await output(page)).join(' '), values, reduce);
    await point(page, 'params', 5);
    assert.equal(await said(page), sentence);
  }
}

async function wrongScatters(page) {
  await fill(page, { rules: 'torch' });
  const bad = 'scatter: indices[3] = 9 is out of bounds for params axis 0 of extent 4';
  assert.equal(await message(page), bad);
  assert.deepEqual(await output(page), []);
  assert.match(await plan(page), /^scatter, /);
  await fill(page, { rules: 'jax-clip', reduce: 'add' });
  assert.equal((await output(page)).join(' '), '3 5 2 3 7.5 -1 13 14');
  await fill(page, { axis: '5' });
  assert.match(await message(page), /^scatter: axis 5 is out of range /);
  await fill(page, { axis: '0', updates: '1 x' });
  assert.equal(await message(page), 'updates: "x" is no number');
  await fill(page, { updates: '2.5', dtype: 'i32' });
  assert.equal(await message(page), 'updates: "2.5" is no integer');

  const file = (shape, values) => ({ name: 'u.npy', mimeType: '', buffer: npy(shape, values) });
  await page.setInputFiles('#updates-file', file([2], [1, 2]));
  await page.waitForFunction(() => document.getElementById('message').textContent.startsWith('updates have'));
  assert.equal(await message(page), 'updates have shape [2], but the call needs [4, 2]');
}

async function otherScatters(page) {
  await fill(page, { op: 'gather_nd', paramsShape: '2, 3', indicesShape: '2, 2', values: '1 2 0 0', updates: '10 20' });
  assert.equal(await page.locator('[name=op] option:checked').textContent(), 'scatter_nd');
  assert.deepEqual(await output(page), ['20', '1', '2', '3', '4', '15']);
  await point(page, 'updates', 0);
  assert.match(await said(page), /^updates\[0\] = 10 goes to output\[1, 2\], by indices\[0, 0\] = 1, indices\[0, 1\] = 2: /);
  assert.deepEqual(await marked(page, 'lit'), { params: '5', indices: '1 2', updates: '10', output: '15' });

  await fill(page, { op: 'gather_elements', axis: '1', values: '1 1 0 2' });
  const file = { name: 'u.npy', mimeType: '', buffer: npy([2, 2], [10, 20, 30, 40]) };
  await page.setInputFiles('#updates-file', file);
  await page.waitForFunction(() => document.querySelectorAll('#output td')[3].textContent === '33');
  assert.deepEqual(await output(page), ['0', '31', '2', '33', '4', '45']);
}

async function gradients(page) {
  await fill(page, { verb: 'gather_gradient', op: 'gather', axis: '0', rules: 'tensorflow-gpu', dtype: 'f32' });
  await fill(page, { paramsShape: '2', indicesShape: '4', values: '0 0 0 9', updates: '1 2.5 4 8' });
  assert.deepEqual(await output(page), ['7.5', '0']);
  assert.equal(await page.locator('#params').isVisible(), false);
  assert.equal(await page.getByRole('region', { name: 'gradient f32 [2]', exact: true }).count(), 1);
  assert.match(await plan(page), /^scatter, reduce = add, f32\n/);
  await point(page, 'output', 0);
  const from = 'from grad_output[0], grad_output[1], grad_output[2].';
  assert.equal(await said(page), `gradient[0] = 1 + 2.5 + 4 = 7.5, ${from}`);
  await point(page, 'output', 1);
  assert.equal(await said(page), 'gradient[1] = 0: nothing was read there.');
  await point(page, 'updates', 3);
  assert.equal(await said(page), 'grad_output[3] = 8 goes nowhere: indices[3] = 9 is out of bounds.');

  await fill(page, { indicesShape: '20000', values: '0', updates: '1' });
  await point(page, 'output', 0);
  assert.match(await said(page), /^gradient\[0\] = 1( \+ 1){6} \+ … \+ 1 = 20000, .* Only the first 16,384 of 20,000 moves are followed\.$/);
}

async function bags(page) {
  await fill(page, { verb: 'embedding_bag', paramsShape: '5, 2', indicesShape: '5', values: '3 1 0 9 2' });
  await fill(page, { offsets: '0 2 2', paddingIndex: '-5', mode: 'sum' });
  assert.deepEqual(await output(page), ['8', '10', '0', '0', '4', '5']);
  assert.match(await plan(page), /^embedding_bag.*\nbags +3 of 5 lookups, the longest of 3\n/);
  assert.equal(await page.locator('#updates').isVisible(), false);
  await point(page, 'output', 0);
  assert.equal(await said(page), 'output[0, 0] of bag 0 = 6 + 2 = 8, from params[3, 0], params[1, 0].');
  assert.deepEqual(await marked(page, 'lit'), { params: '2 6', indices: '3 1', output: '8' });
  assert.deepEqual(await marked(page, 'near'), { params: '2 3 6 7', output: '8 10' });
  await point(page, 'output', 3);
  assert.equal(await said(page), 'output[1, 1] of bag 1 = 0: no row is in this bag.');
  await point(page, 'indices', 2);
  assert.equal(await said(page), 'indices[2] = 0 is padding: it adds nothing to bag 2.');
  await point(page, 'indices', 3);
  assert.equal(await said(page), 'indices[3] = 9 is out of bounds: it stands for 0 in bag 2.');
  assert.deepEqual([await marked(page, 'bad'), await marked(page, 'skipped')], [{ indices: '9' }, { indices: '0' }]);
  await point(page, 'params', 7);
  assert.equal(await said(page), 'params[3, 1] = 7 is part of output[0, 1].');

  await fill(page, { mode: 'mean' });
  assert.deepEqual(await output(page), ['4', '5', '0', '0', '2', '2.5']);
  await point(page, 'output', 5);
  assert.equal(await said(page), 'output[2, 1] of bag 2 = (0 + 5) / 2 = 2.5, from indices[3] = 9 (out of bounds), params[2, 1].');
  await fill(page, { mode: 'max' });
  assert.deepEqual(await output(page), ['6', '7', '0', '0', '4', '5']);
  await fill(page, { paddingIndex: '5' });
  assert.match(await message(page), /^embedding_bag: /);

  await fill(page, { paddingIndex: '', mode: 'sum', indicesShape: '4', values: '3 1 0 4', offsets: '0 2 3', includeLastOffset: true });
  assert.deepEqual(await output(page), ['8', '10', '0', '1']);
  await point(page, 'indices', 3);
  assert.equal(await said(page), 'indices[3] = 4 is in no bag.');
  await fill(page, { includeLastOffset: false });
  assert.deepEqual(await output(page), ['8', '10', '0', '1', '8', '9']);
}

async function weights(page) {
  await fill(page, { offsets: '', indicesShape: '2, 2', weights: '2 0.5 -1' });
  assert.deepEqual(await output(page), ['13', '15.5', '16', '17']);
  await point(page, 'output', 3);
  assert.equal(await said(page), 'output[1, 1] of bag 1 = -1 × 1 + 2 × 9 = 17, from params[0, 1], params[4, 1].');
  await point(page, 'updates', 1);
  assert.equal(await said(page), 'weights[0, 1] = 0.5 is the weight of indices[0, 1] = 1.');
  assert.deepEqual(await marked(page, 'lit'), { params: '2 3', indices: '1', updates: '0.5', output: '13 15.5' });
  await fill(page, { mode: 'mean' });
  assert.match(await message(page), /^embedding_bag: .*weights/);
}

export async function verbs(page) {
  await updates(page);
  await destinations(page);
  await reductions(page);
  await wrongScatters(page);
  await otherScatters(page);
  await gradients(page);
  await bags(page);
  await weights(page);
  await fill(page, { mode: 'sum', weights: '', offsets: '0 2', verb: 'gather' });
}

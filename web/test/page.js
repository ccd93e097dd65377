// The page, clicked through; and without WebGPU.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

const texts = (page, selector) => page.locator(selector).allTextContents();
const output = (page) => texts(page, '#output td');

/** Fills in fields of the form and waits until the page shows the call. */
async function fill(page, fields) {
  for (const [name, value] of Object.entries(fields)) {
    const before = await page.evaluate(() => document.body.dataset.turn);
    const field = page.locator(`#call [name=${name}]`);
    if ((await field.evaluate((f) => f.tagName)) === 'SELECT') await field.selectOption(value);
    else await field.fill(value);
    await page.waitForFunction((turn) => document.body.dataset.turn !== turn, before);
  }
}

/** A .npy file of i4, by hand. */
function npy(shape, values) {
  const header = `{'descr': '<i4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }\n`;
  const start = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${header}`, 'latin1');
  start.writeUInt16LE(header.length, 8);
  return Buffer.concat([start, Buffer.from(Int32Array.from(values).buffer)]);
}

async function operators(page) {
  const rows = [3, 0, 4, 0].flatMap((row) => [0, 1, 2, 3, 4, 5].map((n) => String(row * 6 + n)));
  assert.deepEqual(await output(page), rows);
  assert.match(await page.locator('#plan').textContent(), /^output \[4, 6\], 96 bytes\nloop of 4/);

  await page.locator('#output td').nth(2).hover();
  assert.deepEqual(await texts(page, '#params .lit'), ['20']);
  assert.deepEqual(await texts(page, '#indices .lit'), ['3']);
  await page.locator('#output td').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  assert.deepEqual(await texts(page, '#params .lit'), ['1']);
  assert.deepEqual(await texts(page, '#indices .lit'), ['0']);

  await fill(page, { values: '3 9', rules: 'onnx' });
  assert.equal(
    await page.locator('#message').textContent(),
    'gather: indices[1] = 9 is out of bounds for params axis 0 of extent 5 (the first of 2 bad indices)',
  );
  await fill(page, { rules: 'tensorflow-gpu', values: '9', indicesShape: '1' });
  assert.deepEqual(await output(page), Array(6).fill('0'));
  assert.equal(await page.locator('#output td.bad').count(), 6);

  await fill(page, { op: 'gather_nd', indicesShape: '2, 2', values: '1 2 4 5', dtype: 'i64' });
  assert.deepEqual(await output(page), ['8', '29']);
  await page.locator('#output td').nth(1).hover();
  assert.deepEqual(await texts(page, '#indices .lit'), ['4', '5']);
  assert.deepEqual(await texts(page, '#params .lit'), ['29']);

  await fill(page, { op: 'gather_elements', axis: '1', indicesShape: '2, 3', values: '5 4 3 0 1 2' });
  assert.deepEqual(await output(page), ['5', '4', '3', '6', '7', '8']);
  await fill(page, { paramsShape: '5, oops' });
  assert.match(await page.locator('#message').textContent(), /no list of dims/);
}

async function files(page) {
  await fill(page, { paramsShape: '5, 6', op: 'gather', axis: '0', indexType: 'i32' });
  const file = (name, shape, values) => ({ name, mimeType: '', buffer: npy(shape, values) });
  await page.setInputFiles('#params-file', file('p.npy', [3, 2], [10, 11, 20, 21, 30, 31]));
  await page.setInputFiles('#indices-file', file('i.npy', [2], [2, 0]));
  await page.waitForFunction(() => document.querySelectorAll('#output td').length === 4);
  assert.deepEqual(await output(page), ['30', '31', '10', '11']);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
  const got = await readFile(await download.path());
  assert.equal((10 + got.readUInt16LE(8)) % 64, 0);
  assert.match(got.toString('latin1'), /'descr': '<i4', 'fortran_order': False, 'shape': \(2, 2\)/);
  assert.deepEqual(Array.from(new Int32Array(got.buffer.slice(got.byteOffset + got.length - 16, got.byteOffset + got.length))), [30, 31, 10, 11]);
  await page.click('#random');
}

async function buttons(page) {
  await page.click('#measure');
  await page.waitForFunction(() => /equal|differ|rror/.test(document.getElementById('measure-result').textContent), null, { timeout: 120000 });
  assert.match(await page.locator('#measure-result').textContent(), /outputs are equal/);
  for (const row of await page.locator('#measure-table tr').allInnerTexts()) console.log(`  ${row.replaceAll('\t', ' | ')}`);

  const done = () => page.waitForFunction(() => /passed|rror/.test(document.getElementById('verify-result').textContent), null, { timeout: 240000 });
  await page.click('#verify');
  await done();
  assert.match(await page.locator('#verify-result').textContent(), /^\d{4} passed, 0 failed, 1 skipped\. On WebGPU: google swiftshader\.$/i);
  await page.check('#fault');
  await page.click('#verify');
  await done();
  assert.doesNotMatch(await page.locator('#verify-result').textContent(), / 0 failed/);
}

async function smallScreen(page) {
  await page.setViewportSize({ width: 360, height: 700 });
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(content <= screen, `${content} > ${screen} wide`);
  await page.setViewportSize({ width: 1280, height: 860 });
}

/** The picture of the README. */
async function screenshot(page, path) {
  await fill(page, { op: 'gather_nd', paramsShape: '2, 3, 5', indicesShape: '3, 2', values: '1 2 0 0 1 9' });
  await page.locator('#output td').nth(1).hover();
  await page.screenshot({ path });
  await page.reload();
  await page.waitForFunction(() => document.body.dataset.turn);
}

export async function clicks(page) {
  await page.waitForFunction(() => document.body.dataset.turn);
  assert.match(await page.locator('#runs-on').textContent(), /^On WebGPU: google swiftshader/i);
  if (process.env.SCREENSHOT) await screenshot(page, process.env.SCREENSHOT);
  await operators(page);
  await files(page);
  await smallScreen(page);
  await buttons(page);
}

/** On the CPU path, for which the page gives a reason. */
async function onCpu(page, reason) {
  await page.waitForFunction(() => document.body.dataset.turn);
  const on = await page.locator('#runs-on').textContent();
  assert.equal(on, `${reason}: on the CPU path, in WebAssembly.`);
  await operators(page);
}

/** In a browser that has WebGPU, on a machine without a GPU. */
export async function withoutAdapter(page) {
  await onCpu(page, 'The browser has WebGPU, but no adapter for it');
}

/** In a browser without WebGPU. */
export async function withoutWebGpu(page) {
  await onCpu(page, 'This browser has no WebGPU (navigator.gpu is missing)');
}

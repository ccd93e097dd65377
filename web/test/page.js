// The page, clicked through; and without WebGPU.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fill, finished, npy, output, startLong, texts } from './form.js';
import { verbs } from './verbs.js';
import { verify, verifyWithAFault } from './verify.js';

/** Drags a file onto a section and lets it go there. */
async function drop(page, section, name, bytes) {
  const dataTransfer = await page.evaluateHandle(
    ([name, bytes]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(bytes)], name));
      return transfer;
    },
    [name, Array.from(bytes)],
  );
  await page.dispatchEvent(section, 'dragover', { dataTransfer });
  assert.equal(await page.locator(`${section}.over`).count(), 1);
  await page.dispatchEvent(section, 'drop', { dataTransfer });
  await page.waitForFunction((section) => !document.querySelector(`${section}.over`), section);
}

async function operators(page) {
  const rows = [3, 0, 4, 0].flatMap((row) => [0, 1, 2, 3, 4, 5].map((n) => String(row * 6 + n)));
  assert.deepEqual(await output(page), rows);
  const plan = await page.locator('#plan').textContent();
  assert.match(plan, /^gather: params \[5, 6\] with elements of 4 bytes, .*, output \[4, 6\]\nrules +/);
  assert.match(plan, /\nloops +4 times[^]*\nlooked up +axis 0: extent 5[^]*\n +kernel +/);

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
  await drop(page, '#indices', 'i.npy', npy([2], [2, 0]));
  await page.waitForFunction(() => document.querySelectorAll('#output td').length === 4);
  assert.deepEqual(await output(page), ['30', '31', '10', '11']);
  await drop(page, '#params', 'p.npy', npy([3, 2], [1, 2]));
  await page.waitForFunction(() => document.getElementById('message').textContent === 'the .npy file ends too early');
  assert.deepEqual(await output(page), ['30', '31', '10', '11']);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
  const got = await readFile(await download.path());
  assert.equal((10 + got.readUInt16LE(8)) % 64, 0);
  assert.match(got.toString('latin1'), /'descr': '<i4', 'fortran_order': False, 'shape': \(2, 2\)/);
  assert.deepEqual(Array.from(new Int32Array(got.buffer.slice(got.byteOffset + got.length - 16, got.byteOffset + got.length))), [30, 31, 10, 11]);
  await page.click('#random');
}

/** The card of the quantised table, on WebGPU or on the CPU path. */
async function quantised(page) {
  const result = page.locator('#quantised-result');
  const says = (text) => page.waitForFunction((text) => document.getElementById('quantised-result').textContent.includes(text), text);
  await says('4 rows of 384: all bits as defined. 417,792 bytes; as f32, 1,572,864.');
  const rows = await texts(page, '#quantised-table tr');
  assert.equal(rows[3], `row 1024${'0'.repeat(6)}…`);
  assert.notEqual(rows[0], rows[1]);
  await page.fill('#quantised-ids', '7');
  await says('1 row of 384: all bits as defined');
  await page.fill('#quantised-ids', 'x');
  await says('ids are integers');
  assert.equal(await page.locator('#quantised-table tr').count(), 0);
  assert.equal(await result.textContent(), 'ids are integers');
}

async function buttons(page) {
  await startLong(page, 'measure');
  assert.match(await finished(page, 'measure'), /outputs are equal/);
  for (const row of await page.locator('#measure-table tr').allInnerTexts()) console.log(`  ${row.replaceAll('\t', ' | ')}`);

  assert.match(await verify(page, true), /^On WebGPU: google swiftshader\.$/i);
  await verifyWithAFault(page);
}

async function smallScreen(page) {
  await page.setViewportSize({ width: 360, height: 700 });
  for (const verb of ['scatter', 'gather_gradient', 'embedding_bag', 'gather']) {
    await fill(page, { verb });
    const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(content <= screen, `${verb}: ${content} > ${screen} wide`);
  }
  await page.setViewportSize({ width: 1280, height: 860 });
}

/** The picture of the README. */
async function screenshot(page, path) {
  await fill(page, { op: 'gather_nd', paramsShape: '2, 3, 5', indicesShape: '3, 2', values: '1 2 0 0 1 9' });
  await page.locator('#output td').nth(1).hover();
  const { y, height } = await page.locator('#plan').boundingBox();
  await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width: 1280, height: y + height + 30 } });
  await page.reload();
  await page.waitForFunction(() => document.body.dataset.turn);
}

export async function clicks(page) {
  await page.waitForFunction(() => document.body.dataset.turn);
  assert.match(await page.locator('#runs-on').textContent(), /^On WebGPU: google swiftshader/i);
  if (process.env.SCREENSHOT) await screenshot(page, process.env.SCREENSHOT);
  await operators(page);
  await verbs(page);
  await files(page);
  await quantised(page);
  await smallScreen(page);
  await buttons(page);
}

/** When the browser loses the device, the page says so and goes on with another one. */
export async function afterCrash(page) {
  await page.waitForFunction(() => document.body.dataset.turn);
  const on = await page.locator('#runs-on').textContent();
  const session = await page.context().newCDPSession(page);
  await session.send('Browser.crashGpuProcess');
  await page.waitForFunction(() => navigator.gpu.requestAdapter().then(Boolean, () => false));
  await fill(page, { values: '1' });
  assert.match(await page.locator('#message').textContent(), /^the GPU device is lost: /);
  await fill(page, { values: '2' });
  assert.equal(await page.locator('#message').isVisible(), false);
  assert.equal((await output(page))[0], '12');
  assert.equal(await page.locator('#runs-on').textContent(), on);
}

/** On the CPU path, for which the page gives a reason. */
async function onCpu(page, reason) {
  await page.waitForFunction(() => document.body.dataset.turn);
  const on = await page.locator('#runs-on').textContent();
  assert.equal(on, `${reason}: on the CPU path, in WebAssembly.`);
  const none = page.evaluate(async () => (await import('./index.js')).Engine.gpu().catch((e) => e.code));
  assert.equal(await none, 'NoAdapter');
  await operators(page);
  await verbs(page);
  await quantised(page);
  return on;
}

/** In a browser that has WebGPU, on a machine without a GPU. */
export async function withoutAdapter(page) {
  await onCpu(page, 'The browser has WebGPU, but no adapter for it');
}

/** In a browser without WebGPU: the long work, too. */
export async function withoutWebGpu(page) {
  const on = await onCpu(page, 'This browser has no WebGPU (navigator.gpu is missing)');
  assert.equal(await page.locator('#fault').isDisabled(), true);
  assert.equal(await verify(page, false), on);
}

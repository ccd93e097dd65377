// Drives headless Chromium, after build.sh and npm ci: node test/browser.js [TEST…]
import assert from 'node:assert/strict';
import { serve } from '../serve.js';
import { binding } from './binding.js';
import { inBrowser, open } from './chromium.js';
import { crashed, destroyed, fallback, lateErrors, outOfMemory, ownShaders } from './device.js';
import { folds } from './folds.js';
import { afterCrash, clicks, withoutAdapter, withoutWebGpu } from './page.js';
import { faults, random, skips } from './random.js';

const server = await serve(0);
const url = `http://127.0.0.1:${server.address().port}/`;
const complaints = [];
const wanted = process.argv.slice(2);

/** Runs tests, each on a page of its own; `heard` is what the pages complain of. */
async function run(context, tests, heard = complaints) {
  for (const test of tests.filter(({ name }) => !wanted.length || wanted.includes(name))) {
    const started = Date.now();
    const page = await open(context, url, heard);
    await test(page);
    await page.close();
    console.log(`${test.name}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
  }
}

/** What is computed on the device, and what becomes of it. */
async function onTheDevice() {
  const device = [ownShaders, lateErrors, outOfMemory, fallback, destroyed];
  await inBrowser((context) => run(context, [random, skips, faults, binding, folds, ...device]));
}

/** The page; and a GPU process that crashes, or is not there. */
async function onThePage() {
  await inBrowser((context) => run(context, [clicks]));
  await inBrowser((context) => run(context, [crashed, afterCrash], [])); // Chromium names the crash
  const webGpu = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];
  await inBrowser((context) => run(context, [withoutAdapter]), webGpu);
  await inBrowser(async (context) => {
    await context.addInitScript(() => Object.defineProperty(navigator, 'gpu', { value: undefined }));
    await run(context, [withoutWebGpu]);
  });
}

try {
  // Each keeps about one core busy.
  await Promise.all([onTheDevice(), onThePage()]);
  // What Chromium says to a page that asks for an adapter and gets none.
  const own = complaints.filter((text) => text !== 'No available adapters.');
  assert.deepEqual(own, [], 'the console is silent');
  console.log('all browser tests passed');
} finally {
  server.close();
}

// The device under the package: its buffers in shaders of the page, and what becomes of calls when it
// refuses work, has no memory or is lost.
import assert from 'node:assert/strict';

/** Leaves in the page: the package, two tensors, and `outcome(promise)` in a few words. */
const prepare = (page) =>
  page.evaluate(async () => {
    Object.assign(window, await import('./index.js'));
    window.outcome = (promise) =>
      promise.then(
        (made) => `[${made?.data ?? made?.shape ?? ''}]`,
        (e) => `${e.name} ${e.code}: ${e.message}`,
      );
    window.params = { data: Float32Array.of(1, 2), shape: [2] };
    window.indices = { data: [1, 0], shape: [2] };
  });

/** A shader of the page doubles what a gather made, on the engine's device and in its buffer. */
export async function ownShaders(page) {
  await prepare(page);
  const doubled = await page.evaluate(async () => {
    const engine = await Engine.gpu();
    const made = await engine.gather(await engine.upload(params), await engine.uploadIndices(indices));
    const device = engine.device;
    const code = `
      @group(0) @binding(0) var<storage, read_write> rows: array<f32>;
      @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) n: u32) { rows[n] *= 2.0; }`;
    const compute = { module: device.createShaderModule({ code }), entryPoint: 'main' };
    const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute });
    const [{ buffer, start }, ...more] = made.parts;
    const entries = [{ binding: 0, resource: { buffer, size: 8 } }];
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(1);
    pass.end();
    device.queue.submit([encoder.finish()]);
    const { data } = await made.download();
    window.features = Array.from(device.features);
    return { data: Array.from(data), start, more: more.length, onCpu: (await Engine.cpu()).device };
  });
  assert.deepEqual(doubled, { data: [4, 2], start: 0, more: 0, onCpu: undefined });
  // Nothing optional is asked for, so nothing of the kind is needed.
  const features = new Set(await page.evaluate(() => features));
  for (const allowed of ['core-features-and-limits', 'timestamp-query']) features.delete(allowed);
  assert.deepEqual(Array.from(features), []);
}

/** What the device says only after a call has returned fails that call, and no other. */
export async function lateErrors(page) {
  await prepare(page);
  const found = await page.evaluate(async () => {
    const engine = await Engine.withPlantedFault('does not compile');
    const short = (promise) => promise.then(() => 'done', (e) => `${e.name} ${e.code}`);
    const resident = [await engine.upload(params), await engine.uploadIndices(indices)];
    const calls = [
      engine.gather(params, indices),
      engine.upload(params),
      engine.gather(...resident),
      resident[0].download(),
    ];
    return Promise.all(calls.map(short));
  });
  assert.deepEqual(found, ['GatherError Gpu', 'done', 'GatherError Gpu', 'done']);
}

/**
 * Outputs for which SwiftShader has no memory: it refuses buffers of the 1 GiB that it says are
 * allowed. What was there before stays as it was, and the engine goes on.
 */
export async function outOfMemory(page) {
  await prepare(page);
  const found = await page.evaluate(async () => {
    const engine = await Engine.gpu();
    const most = engine.device.limits.maxBufferSize;
    const row = { data: new Float32Array(1 << 20).fill(7), shape: [1, 1 << 20] };
    const table = await engine.upload(row);
    // Rows of 4 MiB: one buffer of the largest size, then several.
    const repeated = async (bytes) => {
      const times = bytes / row.data.byteLength;
      const at = await engine.uploadIndices({ data: new Int32Array(times), shape: [times] });
      return outcome(engine.gather(table, at));
    };
    const found = { one: await repeated(most), several: await repeated(1.5 * most) };
    found.huge = await repeated(8 * 2 ** 30);
    found.overlapping = await Promise.all([
      repeated(most),
      outcome(engine.gather(params, indices)),
      repeated(8 << 20),
    ]);
    found.kept = (await table.download()).data.every((value) => value === 7);
    found.unused = engine.unusedBytes;
    return found;
  });
  for (const said of [found.one, found.several, found.overlapping[0]]) {
    assert.match(said, /^GatherError GpuOutOfMemory: the GPU is out of memory: /);
  }
  assert.match(found.huge, /^GatherError SizeOverflow: output: shape \[2048, 1048576\]/);
  assert.deepEqual(found.overlapping.slice(1), ['[2,1]', '[2,1048576]']);
  assert.equal(found.kept, true);
  assert.ok(found.unused < 64 << 20, `${found.unused} bytes that the device never had are not kept`);
}

/** A call between arrays that the device has no memory for is made on the CPU path. */
export async function fallback(page) {
  await prepare(page);
  const found = await page.evaluate(async () => {
    const engine = await Engine.gpu();
    const most = engine.device.limits.maxBufferSize;
    // Larger buffers are asked for as large as SwiftShader has no memory for.
    engine.device.createBuffer = function (wanted) {
      const size = wanted.size < 1 << 20 ? wanted.size : most;
      return GPUDevice.prototype.createBuffer.call(this, { ...wanted, size });
    };
    const large = { data: Float32Array.from({ length: 1 << 19 }, (_, n) => n), shape: [1 << 19] };
    const last = { data: [(1 << 19) - 1, 1 << 20], shape: [2] };
    return {
      uploaded: await outcome(engine.upload(large)),
      gathered: await outcome(engine.gather(large, last)),
      bad: await outcome(engine.gather(large, last, { rules: 'onnx' })),
      small: await outcome(engine.gather(params, indices)),
    };
  });
  assert.match(found.uploaded, /^GatherError GpuOutOfMemory: /);
  assert.equal(found.gathered, '[524287,0]');
  assert.match(found.bad, /^GatherError IndexOutOfBounds: gather: indices\[1\] = 1048576 /);
  assert.equal(found.small, '[2,1]');
}

/** Every kind of call of an engine whose device is lost; then calls of a new one. */
const calls = (page) =>
  page.evaluate(async () => {
    const calls = [
      engine.gather(params, indices),
      engine.gather(params, indices, { rules: 'onnx' }),
      engine.gather(...resident),
      engine.upload(params),
      engine.uploadIndices(indices),
      resident[0].download(),
    ];
    const found = await Promise.all(calls.map(outcome));
    const another = await Engine.gpu();
    return { found, again: await outcome(another.gather(params, indices)) };
  });

const start = (page) =>
  page.evaluate(async () => {
    window.engine = await Engine.gpu();
    window.resident = [await engine.upload(params), await engine.uploadIndices(indices)];
    return outcome(engine.gather(params, indices));
  });

/** All calls name the loss, and a new engine works. */
export async function destroyed(page) {
  await prepare(page);
  assert.equal(await start(page), '[2,1]');
  const during = await page.evaluate(async () => {
    const waiting = outcome(engine.gather(params, indices));
    engine.device.destroy();
    await engine.device.lost;
    return waiting;
  });
  const lost = 'GatherError DeviceLost: the GPU device is lost: Device was destroyed.';
  assert.equal(during, lost);
  const { found, again } = await calls(page);
  assert.deepEqual(found, Array(6).fill(lost));
  assert.equal(again, '[2,1]');
}

/** The same, when the browser's GPU process crashes. */
export async function crashed(page) {
  await prepare(page);
  assert.equal(await start(page), '[2,1]');
  const session = await page.context().newCDPSession(page);
  const lost = page.evaluate(() => engine.device.lost.then(({ reason }) => reason));
  await session.send('Browser.crashGpuProcess');
  assert.equal(await lost, 'unknown');
  // The browser starts another one.
  await page.waitForFunction(() => navigator.gpu.requestAdapter().then(Boolean, () => false));
  const { found, again } = await calls(page);
  for (const said of found) assert.match(said, /^GatherError DeviceLost: the GPU device is lost: /);
  assert.equal(again, '[2,1]');
}

// What a program in TypeScript may and may not write, for the compiler alone: npm run types.
import { DeviceTensor, Engine, GatherError, Suite } from 'wgpu-gather';
import type { Output, Preset, Rules } from 'wgpu-gather';

const engine: Engine = await Engine.auto();
const params = { data: Float32Array.of(1, 2), shape: [2] };
const indices = { data: BigInt64Array.of(1n), shape: [1] };

// What comes out has the type that went in, on the device too.
const output = await engine.gather(params, indices, { axis: 0, batchDims: 0, rules: 'onnx' });
const floats: Float32Array = output.data;
const table = await engine.upload(params);
const hops: DeviceTensor<Float32Array> = await engine.gatherNd(table, await engine.uploadIndices(indices));
const back: Output<Float32Array> = await hops.download();
const rows = await engine.gatherElements({ data: new BigUint64Array(4), shape: Uint32Array.of(2, 2) }, indices, {
  axis: -1,
  rules: { negative: 'from-end', outOfBounds: 'fill', fill: 3n },
});
const wide: BigUint64Array = rows.data;
await engine.gather({ data: new Float16Array(2), shape: [2] }, { data: [1, 0], shape: [2] });
const preset: Preset = 'jax-fill';
const rules: Rules = preset;

// The engine's device and buffers are the page's to use.
const device: GPUDevice | undefined = engine.device;
const buffers: GPUBuffer[] = hops.parts.map(({ buffer }) => buffer);
const plan: string = await engine.explain('gather', table, indices, { rules });
await engine.explain('scatter_elements', table, indices, { axis: 0, reduce: 'add' });
await engine.explain('embedding_bag', params, indices, { mode: 'mean', offsets: [0] });
await hops.check();
hops.free();

const q8 = { format: 'Q8_0', shape: [2, 32], data: new Uint8Array(68) };
const decoded: Float32Array = (await engine.gatherQuantized(q8, indices)).data;

// Scatters, gradients and pooled lookups, of tensors here or on the device.
const sums: Float32Array = (await engine.scatter(params, indices, params, { reduce: 'add' })).data;
await engine.scatterInto(table, await engine.uploadIndices(indices), hops, { op: 'scatterElements', axis: 0 });
const gradient: DeviceTensor<Float32Array> = await engine.gatherGradient([3, 2], hops, hops);
const bags = { offsets: [0, 2], weights: params, paddingIndex: -1 };
const pooled: Float32Array = (await engine.embeddingBag(params, indices, { mode: 'sum', ...bags })).data;

function report(error: unknown): string | undefined {
  if (!(error instanceof GatherError)) return undefined;
  const value: bigint | undefined = error.value;
  return `${error.code}: ${error.message} ${value} ${error.position?.join()}`;
}

const suite = await Suite.builtin();
const { outcome }: { outcome: 'passed' | 'failed' | 'skipped' } = await suite.run(engine, suite.length - 1);

// @ts-expect-error wgpu takes no device of the page
await Engine.gpu(device);
// @ts-expect-error an axis is needed
await engine.gatherElements(params, indices, {});
// @ts-expect-error floats are no indices
await engine.gather(params, { data: Float64Array.of(1), shape: [1] });
// @ts-expect-error gather_nd has no axis
await engine.gatherNd(params, indices, { axis: 1 });
// @ts-expect-error there is no such preset
await engine.gather(params, indices, { rules: 'tensorflow' });
// @ts-expect-error both are on the device, or neither is
await engine.gather(table, indices);
// @ts-expect-error the output is of floats
const wrong: Int32Array = output.data;
// @ts-expect-error scatter_elements needs an axis
await engine.scatterInto(table, hops, hops, { op: 'scatterElements' });
// @ts-expect-error updates are of the type of the base
await engine.scatter(params, indices, indices);
// @ts-expect-error there is no such reduction
await engine.scatterNd(params, indices, params, { reduce: 'mean' });
// @ts-expect-error a gather reduces nothing
await engine.explain('gather', params, indices, { reduce: 'add' });
// @ts-expect-error scatterInto writes to a tensor on the device
await engine.scatterInto(params, indices, params);
// @ts-expect-error weights are on the device if params are
await engine.embeddingBag(table, hops, { weights: params });
// @ts-expect-error tensors come from an engine
new DeviceTensor();

export { back, buffers, decoded, floats, gradient, outcome, plan, pooled, report, sums, wide, wrong };

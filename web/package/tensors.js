// Tensors and tables on the device.
import { fail, tensorOf, typed } from './calls.js';

/** A tensor on the device. It is freed by `free()`, or when nothing refers to it. */
export class DeviceTensor {
  #raw;
  constructor(raw, dtype) {
    this.#raw = raw;
    this.dtype = dtype;
    this.shape = Array.from(raw.shape);
  }
  /** @internal */
  get raw() {
    return this.#raw ?? fail('the tensor was freed');
  }
  get parts() {
    return this.raw.parts;
  }
  download() {
    return typed(async () => tensorOf(await this.raw.download(), this.dtype));
  }
  check() {
    return typed(() => this.raw.check());
  }
  free() {
    this.#raw?.free();
    this.#raw = undefined;
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}

/** A quantized table on the device. It is freed by `free()`, or when nothing refers to it. */
export class DeviceQuantizedTable {
  #raw;
  constructor(raw) {
    this.#raw = raw;
    this.shape = Array.from(raw.shape);
  }
  /** @internal */
  get raw() {
    return this.#raw ?? fail('the table was freed');
  }
  free() {
    this.#raw?.free();
    this.#raw = undefined;
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}

/** Whether `first` is on the device, and the others with it; `what` names them. */
export function onDevice(what, first, ...others) {
  const stays = first instanceof DeviceTensor;
  const apart = others.some((other) => other instanceof DeviceTensor !== stays);
  return apart ? fail(`${what} are all on the device, or none is`) : stays;
}

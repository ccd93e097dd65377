// The form of the page, for its tests: fields are filled in, buttons clicked, tables read.
import assert from 'node:assert/strict';

export const texts = (page, selector) => page.locator(selector).allTextContents();
export const output = (page) => texts(page, '#output td');

/** Fills in fields of the form and waits until the page shows the call. */
export async function fill(page, fields) {
  for (const [name, value] of Object.entries(fields)) {
    const before = await page.evaluate(() => document.body.dataset.turn);
    const field = page.locator(`#call [name=${name}]`);
    const kind = await field.evaluate((f) => f.type);
    if (kind === 'checkbox') await field.setChecked(value);
    else if (kind === 'select-one') await field.selectOption(value);
    else await field.fill(value);
    await page.waitForFunction((turn) => document.body.dataset.turn !== turn, before);
  }
}

/** Clicks a button that starts long work, and sees the bar appear and move. */
export async function startLong(page, name) {
  assert.equal(await page.locator(`#${name}-progress`).isVisible(), false);
  await page.click(`#${name}`);
  const moved = (from) =>
    page.waitForFunction(
      ([id, from]) => {
        const { hidden, value, max } = document.getElementById(id);
        return !hidden && value > from && value < max && value;
      },
      [`${name}-progress`, from],
    );
  const first = await (await moved(0)).jsonValue();
  assert.equal(await page.locator(`#${name}`).isDisabled(), true);
  await moved(first);
}

/** Waits until long work is done: its bar is gone, and it can be started again. */
export async function finished(page, name) {
  const done = (id) => /passed|equal|differ|rror/.test(document.getElementById(id).textContent);
  await page.waitForFunction(done, `${name}-result`, { timeout: 240000 });
  assert.equal(await page.locator(`#${name}-progress`).isVisible(), false);
  assert.equal(await page.locator(`#${name}`).isEnabled(), true);
  return page.locator(`#${name}-result`).textContent();
}

/** A .npy file of i4, by hand. */
export function npy(shape, values) {
  const header = `{'descr': '<i4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }\n`;
  const start = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${header}`, 'latin1');
  start.writeUInt16LE(header.length, 8);
  return Buffer.concat([start, Buffer.from(Int32Array.from(values).buffer)]);
}

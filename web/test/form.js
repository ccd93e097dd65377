// The form of the page, for its tests: fields are filled in, tables are read.

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

/** A .npy file of i4, by hand. */
export function npy(shape, values) {
  const header = `{'descr': '<i4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }\n`;
  const start = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${header}`, 'latin1');
  start.writeUInt16LE(header.length, 8);
  return Buffer.concat([start, Buffer.from(Int32Array.from(values).buffer)]);
}

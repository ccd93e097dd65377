// Headless Chromium with WebGPU in software, so that the test runs on any machine.
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Where Chromium is: $CHROMIUM, or on the PATH. */
function executable() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (!found) throw new Error(`no Chromium on the PATH (${NAMES.join(', ')}) or in $CHROMIUM`);
  return found;
}

/** Runs `work` with a browser of an empty profile. `without` are flags to leave out. */
export async function inBrowser(work, without = []) {
  const profile = mkdtempSync(join(tmpdir(), 'wgpu-gather-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executable(),
    args: FLAGS.filter((flag) => !without.includes(flag)),
    viewport: { width: 1280, height: 860 },
    acceptDownloads: true,
  });
  try {
    return await work(context);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** Opens `url`; everything that the page complains of is added to `complaints`. */
export async function open(context, url, complaints) {
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(url);
  return page;
}

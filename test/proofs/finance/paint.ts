import type { Browser } from 'puppeteer'
import { systemClock } from '@tollbook/core/clock'

export interface Look {
  readonly url: string
  /** The page is whole when all of these are on it. */
  readonly until: readonly string[]
}

const looks = 15

/** Median over looks that take turns, so that a busy moment of the machine is one of both. */
export async function compareDrawing(
  browser: Browser,
  { short, long }: { readonly short: Look; readonly long: Look },
): Promise<{ readonly ratio: number; readonly longMs: number }> {
  const times = { short: new Array<number>(), long: new Array<number>() }
  for (let nth = 0; nth <= looks; nth++) {
    const shortMs = await drawnMs(browser, short)
    const longMs = await drawnMs(browser, long)
    // The first ones fill the caches.
    if (nth === 0) continue
    times.short.push(shortMs)
    times.long.push(longMs)
  }
  return { ratio: medianOf(times.long) / medianOf(times.short), longMs: medianOf(times.long) }
}

/** From an empty page to figures and charts. */
async function drawnMs(browser: Browser, { url, until }: Look): Promise<number> {
  const page = await browser.newPage()
  const startedAtMs = systemClock.monotonicMs()
  await page.goto(url)
  await Promise.all(until.map((selector) => page.waitForSelector(selector)))
  const durationMs = systemClock.monotonicMs() - startedAtMs
  await page.close()
  return durationMs
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Browser, Page } from 'puppeteer'
import { assert } from '@tollbook/core/assert'
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

/** A page of one line without scripts or styles: what the browser and the connection take. */
export async function serveBarePage(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Bare</title><p>A bare page.')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'a server that listens has a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Milliseconds from the navigation to the first text or picture. */
export async function paintMsOn(page: Page): Promise<number> {
  const paint = 'performance.getEntriesByName("first-contentful-paint")[0]?.startTime'
  await page.waitForFunction(`${paint} !== undefined`)
  return Math.round(Number(await page.evaluate(paint)))
}

/** Median of several visits. */
export async function firstPaintOf(browser: Browser, url: string): Promise<number> {
  const times: number[] = []
  for (let nth = 0; nth < looks; nth++) {
    const page = await browser.newPage()
    await page.goto(url)
    times.push(await paintMsOn(page))
    await page.close()
  }
  return medianOf(times)
}

import { createServer } from 'node:http'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { findChromiums } from '../src/rendering/chromium.ts'
import { launchModesHere, launchBrowser, type Recipe } from '../src/rendering/launchBrowser.ts'
import { openEgress } from '../src/rendering/openEgress.ts'
import { openRenderer } from '../src/rendering/openRenderer.ts'
import { openRenderWorker } from '../src/rendering/openRenderWorker.ts'
import { renderTaskOf } from '../src/rendering/renderTask.ts'
import { type Egress, renderJob } from '../src/rendering/renderJob.ts'
import type { PdfOrder, Renderer, ScreenshotOrder } from '../src/rendering/renderer.ts'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../src/machine/log.ts'
import { memoryOfUsAndOurs } from './processMemory.ts'
import { type Bench, median, type Yardstick } from './yardstick.ts'

const concurrency = 2
const order = { width: 1_000, height: 800, fullPage: false }
const margin = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }
const loadTimeoutMs = 12_000
const jobsBefore = 50
const jobsAfter = 500
const millionBytes = 1e6
const never = new AbortController().signal

type Kind = 'screenshots' | 'PDFs'
type Job = (kind: Kind) => Promise<unknown>

/** A page of a report's size: a table, an SVG and a canvas. */
const rows = Array.from({ length: 46 }, (_, nth) => `<tr><td>${nth}<td>row ${nth}<td>${nth * 17}</tr>`).join('')
const page = `<!doctype html><h1>Report</h1><svg width="300" height="80"><circle cx="40" cy="40" r="30" fill="teal"/></svg>
<canvas id="c" width="300" height="80"></canvas><script>c.getContext('2d').fillRect(9,9,99,50)</script><table>${rows}</table>`

export const render: Bench = {
  name: 'render',
  about: 'screenshots and PDFs a second of the warm browser against one launched for each; memory; event-loop delay',
  async run({ rounds, roundSeconds, progress }) {
    const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(page))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    assert(typeof address === 'object' && address !== null, 'a server that listens has a port')
    const host = `127.0.0.1:${address.port}`
    const egress = openEgress({ allowHosts: [host] })
    const renderer = await openWarm(host)
    try {
      const jobs = { warm: warmJob(renderer, `http://${host}/`), cold: await coldJob(egress, `http://${host}/`) }
      const found = [
        await rate('screenshots', jobs, { rounds, roundSeconds, progress }),
        await rate('PDFs', jobs, { rounds, roundSeconds, progress }),
        await memoryGrowth(jobs.warm, progress),
      ]
      return [...found, await eventLoopDelay(jobs.warm, roundSeconds)]
    } finally {
      await renderer.close()
      server.close()
      server.closeAllConnections()
    }
  },
}

async function openWarm(host: string): Promise<Renderer> {
  const config = { allowHosts: [host] }
  const renderer = await openRenderer({
    clock: systemClock,
    allowHosts: [host],
    concurrency,
    openEngine: () => openRenderWorker({ clock: systemClock, log: silentLog, config }),
  })
  while (/being started/.test(renderer.whyUnavailable() ?? '')) await systemClock.sleep(50)
  assert(renderer.whyUnavailable() === undefined, `a browser starts here: ${renderer.whyUnavailable()}`)
  return renderer
}

const pictureOf = (url: string): ScreenshotOrder => ({ ...order, url })
const documentOf = (url: string): PdfOrder => ({ page: { url }, format: 'A4', margin })

function warmJob(renderer: Renderer, url: string): Job {
  let payments = 0
  return (kind) => {
    const customer = { payer: 'wallet', payment: `payment ${payments++}`, signal: never }
    return kind === 'screenshots'
      ? renderer.screenshot(pictureOf(url), customer)
      : renderer.pdf(documentOf(url), customer)
  }
}

/** The same job, guard and flags, on a separate browser. */
async function coldJob(egress: Egress, url: string): Promise<Job> {
  const recipe = await firstRecipe()
  return async (kind) => {
    const options = { clock: systemClock, guardArguments: egress.browserArguments, signal: never }
    const launched = await launchBrowser(recipe, options)
    const task =
      kind === 'screenshots'
        ? renderTaskOf({ kind: 'screenshot', order: pictureOf(url) })
        : renderTaskOf({ kind: 'pdf', order: documentOf(url) })
    const deps = { egress, signal: never, loadTimeoutMs, hurry: never, onStall: () => undefined }
    const outcome = await renderJob(launched.browser, task, deps)
    await launched.end()
    if ('failure' in outcome) throw outcome.failure
  }
}

async function firstRecipe(): Promise<Recipe> {
  for await (const chromium of findChromiums(undefined, never)) {
    const mode = assertPresent(launchModesHere()[0], 'there is a way to run it')
    return { chromium, mode }
  }
  throw new Error('a browser starts here')
}

async function rate(
  kind: Kind,
  { warm, cold }: { readonly warm: Job; readonly cold: Job },
  { rounds, roundSeconds, progress }: Pick<Parameters<Bench['run']>[0], 'rounds' | 'roundSeconds' | 'progress'>,
): Promise<Yardstick> {
  const found: { warm: number; cold: number }[] = []
  // The first round warms both up and is thrown away.
  for (let round = 0; round <= rounds; round++) {
    const result = { warm: await perSecond(warm, kind, roundSeconds), cold: await perSecond(cold, kind, roundSeconds) }
    if (round > 0) found.push(result)
    progress(`render: ${kind}, round ${round} of ${rounds}, ratio ${(result.warm / result.cold).toFixed(2)}`)
  }
  const value = median(found.map((round) => round.warm / round.cold))
  const rates = `warm ${median(found.map((round) => round.warm)).toFixed(1)}/s, launched ${median(found.map((round) => round.cold)).toFixed(1)}/s, ${concurrency} at once`
  return {
    what: `${kind}/s of the warm browser ÷ a browser launched for each`,
    value,
    goal: { atLeast: 1.5 },
    detail: rates,
  }
}

async function perSecond(job: Job, kind: Kind, seconds: number): Promise<number> {
  const startedAtMs = systemClock.monotonicMs()
  const untilMs = startedAtMs + seconds * 1000
  let done = 0
  const work = async (): Promise<void> => {
    while (systemClock.monotonicMs() < untilMs) {
      await job(kind)
      done++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return (done * 1000) / (systemClock.monotonicMs() - startedAtMs)
}

async function memoryGrowth(warm: Job, progress: (line: string) => void): Promise<Yardstick> {
  let begun = 0
  const until = async (count: number): Promise<void> => {
    while (begun < count) await warm(begun++ % 2 === 0 ? 'screenshots' : 'PDFs')
  }
  const both = (count: number) => Promise.all(Array.from({ length: concurrency }, () => until(count)))
  await both(jobsBefore)
  const before = await settledMemory()
  progress(`render: ${(before / millionBytes).toFixed(0)} MB after ${jobsBefore} jobs`)
  await both(jobsAfter)
  const after = await settledMemory()
  const detail = `${(after / millionBytes).toFixed(0)} MB and ${(before / millionBytes).toFixed(0)} MB, this process and its browser together`
  return {
    what: `memory after ${jobsAfter} jobs ÷ after ${jobsBefore}`,
    value: after / before,
    goal: { atMost: 1.3 },
    detail,
  }
}

async function settledMemory(): Promise<number> {
  // Renderers of closed pages take a moment to go.
  await systemClock.sleep(1_000)
  globalThis.gc?.()
  return memoryOfUsAndOurs()
}

async function eventLoopDelay(warm: Job, seconds: number): Promise<Yardstick> {
  const histogram = monitorEventLoopDelay({ resolution: 5 })
  histogram.enable()
  await perSecond(warm, 'screenshots', seconds)
  await perSecond(warm, 'PDFs', seconds)
  histogram.disable()
  const ms = (nanoseconds: number): number => nanoseconds / 1e6
  const detail = `p99 ${ms(histogram.percentile(99)).toFixed(1)} ms, mean ${ms(histogram.mean).toFixed(1)} ms`
  return {
    what: 'longest event-loop delay while rendering, ms',
    value: ms(histogram.max),
    goal: { atMost: 250 },
    detail,
  }
}

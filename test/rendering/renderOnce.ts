import '@tollbook/core/quietBindings'
import { systemClock } from '@tollbook/core/clock'
import { openRenderer } from '../../src/rendering/openRenderer.ts'
import { openRenderWorker } from '../../src/rendering/openRenderWorker.ts'
import { silentLog } from '../../src/machine/log.ts'
import { poll } from '../support/poll.ts'

/*
 * A process that renders one document and prints the result as JSON, for `noexecTemporary.process.test.ts`.
 * CHROMIUM_PATH names a browser; without it the renderer searches.
 */

const config = { chromiumPath: process.env['CHROMIUM_PATH'], allowHosts: [] }
const renderer = await openRenderer({
  clock: systemClock,
  allowHosts: [],
  concurrency: 1,
  openEngine: () => openRenderWorker({ clock: systemClock, log: silentLog, config }),
})
const ready = await poll({ probe: () => Promise.resolve(isDecided() || undefined), timeoutMs: 60_000 })
const why = ready === true ? renderer.whyUnavailable() : 'the browser did not start within 60 s'
const order = {
  page: { html: '<p>one</p>' },
  format: 'A4',
  margin: { top: '0', right: '0', bottom: '0', left: '0' },
} as const
const customer = { payer: 'wallet', payment: 'payment', signal: new AbortController().signal }
const bytes = why === undefined ? (await renderer.pdf(order, customer)).bytes.length : 0
process.stdout.write(`${JSON.stringify({ why: why ?? null, bytes })}\n`)
await renderer.close()

function isDecided(): boolean {
  return !/being started/.test(renderer.whyUnavailable() ?? '')
}

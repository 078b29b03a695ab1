import '@tollbook/core/quietBindings'
import { systemClock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { createLog } from '../machine/log.ts'
import { openEgress } from './openEgress.ts'
import { openRenderEngine } from './openRenderEngine.ts'
import type { RenderEngine } from './renderEngine.ts'
import { RenderFailure } from './renderer.ts'
import { type WorkerNews, type WorkerOrder, workerOrder, workerConfig } from './workerMessages.ts'

/*
 * The rendering worker drives the browser and the egress proxies in a separate process. It has no key, no database and
 * no data about callers, and ends when the service ends.
 */

const report = (news: WorkerNews): void => {
  if (process.connected) process.send?.(news, undefined, undefined, () => undefined)
}

/** Sends its lines to the service, which writes them. */
const log = createLog({
  name: 'worker',
  level: 'debug',
  destination: {
    write(line: string) {
      const { level, time: _time, name: _name, ...fields } = JSON.parse(line)
      report({ type: 'log', level: level === 'warn' || level === 'info' ? level : 'debug', fields })
    },
  },
})

const { allowHosts, denyHosts, chromiumPath, ...limits } = workerConfig.parse(JSON.parse(process.argv[2] ?? ''))
const jobs = new Map<number, { readonly abandon: AbortController; readonly hurry: AbortController }>()
const engine = await openRenderEngine({
  clock: systemClock,
  log,
  egress: openEgress({ allowHosts, denyHosts }),
  chromiumPath,
  limits,
  onChange: () => reportState(engine),
})
process.on('message', (message) => void obey(engine, workerOrder.parse(message)))
// The service has ended, so end this process and its browser.
process.once('disconnect', () => process.exit())
reportState(engine)

function reportState(current: RenderEngine): void {
  const [unavailable, problem] = [current.whyUnavailable(), current.problem()]
  report({
    type: 'state',
    ...(unavailable === undefined ? {} : { unavailable }),
    ...(problem === undefined ? {} : { problem }),
  })
}

async function obey(current: RenderEngine, order: WorkerOrder): Promise<void> {
  if (order.type === 'render') return render(current, order)
  if (order.type === 'hurry') return jobs.get(order.id)?.hurry.abort()
  if (order.type === 'abandon') return jobs.get(order.id)?.abandon.abort()
  await current.close()
  process.disconnect()
}

async function render(current: RenderEngine, order: Extract<WorkerOrder, { type: 'render' }>): Promise<void> {
  const { id, work, standing, timeoutMs } = order
  const job = { abandon: new AbortController(), hurry: new AbortController() }
  jobs.set(id, job)
  try {
    const rendered = await current.render(work, {
      standing,
      timeoutMs,
      signal: job.abandon.signal,
      hurry: job.hurry.signal,
      onStall: () => report({ type: 'stalled', id }),
      onBrowserLost: () => report({ type: 'browserLost', id }),
    })
    report({ type: 'rendered', id, rendered: { ...rendered, missing: [...rendered.missing] } })
  } catch (error) {
    if (!(error instanceof RenderFailure)) log.warn({ event: 'render_bug', error: describeError(error) })
    const { kind, message, endsPayment } =
      error instanceof RenderFailure ? error : new RenderFailure('broken', 'the page could not be rendered')
    report({ type: 'failed', id, kind, message, endsPayment })
  } finally {
    jobs.delete(id)
  }
}

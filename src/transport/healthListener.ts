import { Worker } from 'node:worker_threads'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Answer } from '../paywall/answer.ts'
import type { Log } from '../machine/log.ts'

/** Each message also shows that the event loop of the service still runs. */
export type HealthMessage =
  | { readonly kind: 'readiness'; readonly answer: Answer }
  | { readonly kind: 'metrics'; readonly answer: Answer }
  | { readonly kind: 'close' }

/** `collect` requests new metrics. */
export type HealthThreadMessage = { readonly kind: 'listening'; readonly port: number } | { readonly kind: 'collect' }

export interface HealthThreadData {
  readonly host: string
  readonly port: number
  readonly metricsSubnets: readonly string[]
  readonly stuckAfterMs: number
  readonly readiness: Answer
  readonly metrics: Answer
}

export interface HealthListenerOptions extends Pick<HealthThreadData, 'host' | 'port' | 'metricsSubnets'> {
  /** Without a turn of the event loop for this long, the service counts as stuck. */
  readonly stuckAfterMs?: number
}

export interface HealthListenerDeps {
  readonly log: Log
  readonly readiness: () => Answer
  readonly metrics: () => Promise<Answer>
}

export interface HealthListener {
  readonly port: number
  /** Reports the readiness now. A timer also reports it. */
  report(): void
  close(): Promise<void>
}

const reportEveryMs = 200
// Far longer than the pauses of the event loop under the attacks of `npm run bench -- hostile`.
const stuckAfterMsStandard = 5_000
// An answer has about 100 kB, and the thread keeps at most 256 connections open.
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }

/**
 * Answers health checks in a thread with a separate event loop, because requests can keep the service's own loop busy.
 * If the reports of the service stop, the thread answers that the service is stuck.
 */
export async function openHealthListener(
  { host, port, metricsSubnets, stuckAfterMs = stuckAfterMsStandard }: HealthListenerOptions,
  { log, readiness, metrics }: HealthListenerDeps,
): Promise<HealthListener> {
  const address = { host, port, metricsSubnets, stuckAfterMs }
  const workerData: HealthThreadData = { ...address, readiness: readiness(), metrics: await metrics() }
  const thread = new Worker(new URL('./healthWorker.ts', import.meta.url), { workerData, resourceLimits })
  const tell = (message: HealthMessage) => thread.postMessage(message, [])
  const report = () => tell({ kind: 'readiness', answer: readiness() })
  const failed = (error: unknown) => log.error({ event: 'health_listener_failed', error: describeError(error) })
  const listening = Promise.withResolvers<number>()
  const exited = Promise.withResolvers<void>()
  thread.once('exit', () => exited.resolve())
  thread.once('error', listening.reject)
  thread.on('message', (message: HealthThreadMessage) => {
    if (message.kind === 'listening') listening.resolve(message.port)
    else metrics().then((answer) => tell({ kind: 'metrics', answer }), failed)
  })
  const listensOn = await listening.promise.catch((error: unknown) => {
    throw new Fault(`cannot listen on ${host}:${port} (HEALTH_HOST, HEALTH_PORT)`, { cause: error, retryable: false })
  })
  thread.on('error', failed)
  const reporting = setInterval(report, reportEveryMs)
  reporting.unref()
  return {
    port: listensOn,
    report,
    async close() {
      clearInterval(reporting)
      tell({ kind: 'close' })
      await exited.promise
    },
  }
}

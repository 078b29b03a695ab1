import type { IncomingMessage, ServerResponse } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { assertNever, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'
import { addressList, plainAddress } from './clientAddress.ts'
import { createConnections } from './connections.ts'
import type { HealthMessage, HealthThreadData, HealthThreadMessage } from './healthListener.ts'
import { listen } from './server.ts'
import { errorAnswer, pathNotFound } from './transportError.ts'
import { writeRaw } from './writeRaw.ts'

/* Entry point of the thread of healthListener.ts. */

interface Reported {
  readonly answer: Answer
  readonly atMs: number
}

// The thread does not wait longer for a busy event loop, because an answer must take at most 100 ms.
const collectMsMax = 50
const methods = ['GET', 'HEAD']
// At this number, a new connection closes the one that has been idle longest, so that a monitor is still answered.
const connectionLimits = { connectionsMax: 256, connectionsPerAddressMax: Infinity }

const { host, port, metricsSubnets, stuckAfterMs, ...atStart }: HealthThreadData = workerData
const service = assertPresent(parentPort, 'this is a thread of the service')
const nowMs = () => systemClock.monotonicMs()
const mayReadMetrics = addressList(metricsSubnets)
const reported = (answer: Answer): Reported => ({ answer, atMs: nowMs() })
let heardAtMs = nowMs()
let readiness = atStart.readiness
let metrics = reported(atStart.metrics)
let collecting = Promise.withResolvers<void>()

const tell = (message: HealthThreadMessage) => service.postMessage(message, [])
const silentMs = () => nowMs() - heardAtMs

async function collectMetrics(): Promise<ReportedAnswer> {
  tell({ kind: 'collect' })
  await Promise.race([collecting.promise, systemClock.sleep(collectMsMax)])
  return { answer: metrics.answer, ageMs: nowMs() - metrics.atMs }
}

async function answerTo({ url = '', method = '', socket }: IncomingMessage): Promise<Answer> {
  const [path] = url.split('?')
  const mayRead = path !== '/metrics' || mayReadMetrics(plainAddress(socket.remoteAddress ?? ''))
  const isKnown = path === '/livez' || path === '/readyz' || path === '/metrics'
  if (!isKnown || !mayRead) return pathNotFound()
  if (!methods.includes(method)) {
    return errorAnswer('METHOD_NOT_ALLOWED', `use ${methods.join(' or ')} (got ${method})`, {
      headers: { allow: methods.join(', ') },
    })
  }
  if (path === '/metrics') return metricsAnswer(await collectMetrics())
  return path === '/livez'
    ? livenessAnswer(silentMs(), stuckAfterMs)
    : readinessAnswer({ answer: readiness, ageMs: silentMs() }, stuckAfterMs)
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  writeRaw(response, await answerTo(request), request.method === 'HEAD')
  request.resume()
}

interface ReportedAnswer {
  readonly answer: Answer
  readonly ageMs: number
}

function livenessAnswer(silentMs: number, stuckAfterMs: number): Answer {
  if (silentMs <= stuckAfterMs) return jsonAnswer(200, '{"status":"alive"}')
  return jsonAnswer(503, JSON.stringify({ status: 'stuck', silentMs: Math.round(silentMs) }))
}

/** Returns the reported readiness, or "not ready" if the service is stuck, because it then serves no caller. */
function readinessAnswer({ answer, ageMs }: ReportedAnswer, stuckAfterMs: number): Answer {
  if (ageMs <= stuckAfterMs) return answer
  return jsonAnswer(503, JSON.stringify({ status: 'not ready', failing: ['event_loop'] }))
}

/** Adds the age of the metrics to the answer, because they are those of an earlier scrape while the event loop is busy. */
function metricsAnswer({ answer, ageMs }: ReportedAnswer): Answer {
  const age = [
    '# HELP tollbook_metrics_age_seconds Time since the service collected these metrics',
    '# TYPE tollbook_metrics_age_seconds gauge',
    `tollbook_metrics_age_seconds ${ageMs / 1_000}`,
    '',
  ]
  return { ...answer, body: `${answer.body.replace(/\n*$/, '\n')}${age.join('\n')}` }
}

const { take: takes } = createConnections(connectionLimits, { turnsAway: () => false, restSeconds: () => 0 })
const listener = await listen(serve, { host, port, variables: 'HEALTH_HOST, HEALTH_PORT', takes })

service.on('message', (message: HealthMessage) => {
  heardAtMs = nowMs()
  switch (message.kind) {
    case 'readiness':
      readiness = message.answer
      return
    case 'metrics':
      metrics = reported(message.answer)
      collecting.resolve()
      collecting = Promise.withResolvers()
      return
    case 'close':
      void listener.drain({ timeoutMs: 0, clock: systemClock, inFlight: () => 0 }).then(() => service.close())
      return
    default:
      assertNever(message)
  }
})
tell({ kind: 'listening', port: listener.port })

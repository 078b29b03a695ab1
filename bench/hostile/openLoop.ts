import { Agent, request } from 'node:http'
import { setInterval } from 'node:timers'
import { systemClock } from '@tollbook/core/clock'
import { createTally, type Target } from './attack.ts'

export interface SentRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const tickMs = 10
/** The flood that closed the first release used 900. */
const socketsMax = 1_000

/** Sends requests at a rate, whether or not earlier ones were answered. */
export function sendOpenLoop(
  { port, addresses }: Target,
  perSecond: number,
  next: (n: number) => SentRequest,
): () => Readonly<Record<string, number>> {
  const tally = createTally()
  const agents = addresses.map((localAddress) => {
    const maxSockets = Math.ceil(socketsMax / addresses.length)
    return new Agent({ keepAlive: true, maxSockets, scheduling: 'fifo', localAddress })
  })
  let sent = 0
  let waiting = 0
  const send = (n: number): void => {
    const agent = agents[n % agents.length]
    const { method, path, headers, body } = next(n)
    waiting++
    const outgoing = request(
      { port, host: '127.0.0.1', method, path, headers, ...(agent && { agent }) },
      (response) => {
        tally.add(String(response.statusCode))
        response.resume()
      },
    )
    outgoing.on('error', () => tally.add('broken'))
    outgoing.on('close', () => void waiting--)
    outgoing.end(body)
  }
  const startedAtMs = systemClock.monotonicMs()
  setInterval(() => {
    const due = Math.floor(((systemClock.monotonicMs() - startedAtMs) / 1000) * perSecond)
    for (; sent < due; sent++) {
      tally.add('due')
      // All connections are taken: the attacker has no more to give.
      if (waiting < socketsMax) send(sent)
      else tally.add('no connection')
    }
  }, tickMs)
  return tally.read
}

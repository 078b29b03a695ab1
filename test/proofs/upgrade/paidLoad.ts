import { systemClock } from '@tollbook/core/clock'
import { newId } from '@tollbook/core/id'
import type { Payer } from '../../support/payer.ts'
import { askQuote, present, type Presented } from '../present.ts'

/** Callers who pay and present until they are answered, through whichever instances are in rotation. */
export interface PaidLoad {
  /** Later figures count for this phase. */
  begin(phase: string): void
  /** No further purchases; resolves when those in progress have ended. */
  stop(): Promise<readonly Purchase[]>
  figures(): ReadonlyMap<string, PhaseFigures>
}

export interface Purchase {
  readonly symbol: string
  readonly proof: string
  readonly answer: Presented
}

export interface PhaseFigures {
  answers: number
  /** 503 with a documented code. */
  documented: number
  /** Other 5xx, and connections that broke. */
  readonly undocumented: string[]
  /** Longest time from the first 5xx of a request until its answer. */
  longestMs: number
}

export interface LoadDeps {
  readonly payer: Payer
  /** Instances in rotation, as a load balancer knows them by `/readyz`. */
  readonly rotation: () => readonly string[]
  readonly callers: number
}

const documentedCodes = new Set(['PAYMENT_PENDING', 'ENDPOINT_UNAVAILABLE', 'OVERLOADED'])
const retryMs = 50
const triesMax = 400

export function startPaidLoad(deps: LoadDeps): PaidLoad {
  const phases = new Map<string, PhaseFigures>()
  const purchases: Purchase[] = []
  let figures = phaseOf(phases, 'start')
  const stopping = new AbortController()
  let turn = 0
  const nextInstance = (): string => {
    const urls = deps.rotation()
    return urls[turn++ % urls.length] ?? ''
  }

  /** Repeats one request until it is answered for good, as the service says to. */
  async function untilDecided(request: (baseUrl: string) => Promise<Presented>): Promise<Presented | undefined> {
    let failingSinceMs: number | undefined
    const phase = figures
    for (let tries = 1; tries <= triesMax; tries++) {
      const answer = await request(nextInstance()).catch((error: unknown) => String(error))
      if (typeof answer === 'string' || answer.status >= 500) {
        failingSinceMs ??= systemClock.monotonicMs()
        if (typeof answer !== 'string' && answer.status === 503 && documentedCodes.has(answer.code ?? ''))
          phase.documented++
        else phase.undocumented.push(typeof answer === 'string' ? answer : `${answer.status} ${answer.code}`)
      } else if (answer.code !== 'PAYMENT_IN_PROGRESS' && answer.reason !== 'not_found') {
        if (failingSinceMs !== undefined)
          phase.longestMs = Math.max(phase.longestMs, systemClock.monotonicMs() - failingSinceMs)
        return answer
      }
      await systemClock.sleep(retryMs)
    }
    return undefined
  }

  async function buy(): Promise<void> {
    const wallet = deps.payer.address
    const symbol = `U${newId('quote').slice(-12).toUpperCase()}`
    const unpaid = await untilDecided((baseUrl) => present({ baseUrl, wallet, symbol }))
    if (unpaid?.status !== 402) return
    const payment = await deps.payer.sign(await askQuote({ baseUrl: nextInstance(), wallet, symbol }))
    await deps.payer.send(payment)
    const proof = Buffer.from(payment.signature).toString('base64')
    const answer = await untilDecided((baseUrl) => present({ baseUrl, wallet, symbol, proof }))
    if (answer === undefined) figures.undocumented.push(`${symbol}: no answer`)
    else purchases.push({ symbol, proof, answer })
    if (answer?.status === 200) figures.answers++
  }

  const running = Array.from({ length: deps.callers }, async () => {
    while (!stopping.signal.aborted) await buy().catch((error: unknown) => figures.undocumented.push(String(error)))
  })
  return {
    begin(phase) {
      figures = phaseOf(phases, phase)
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
      return purchases
    },
    figures: () => phases,
  }
}

function phaseOf(phases: Map<string, PhaseFigures>, name: string): PhaseFigures {
  const fresh: PhaseFigures = { answers: 0, documented: 0, undocumented: [], longestMs: 0 }
  phases.set(name, fresh)
  return fresh
}

import { randomUUID } from 'node:crypto'
import { systemClock } from '@tollbook/core/clock'
import type { Payer } from '../../support/payer.ts'
import { askQuote, present, type Presented, type Product } from '../present.ts'

/** A payment that was answered with 200. */
export interface Acknowledged {
  readonly signature: string
  readonly proof: string
  readonly symbol: string
}

export interface PayersOptions {
  readonly payer: Payer
  /** One of the instances, which changes with each request. */
  readonly baseUrl: () => string
  readonly count: number
  /** By default the counted endpoint. */
  readonly productOf?: (symbol: string) => Product
}

/** Payers that buy one answer after the other until they are stopped. */
export interface Payers {
  readonly acknowledged: readonly Acknowledged[]
  /** Answers that end a payment without its answer, such as `402 already_used`. */
  readonly refused: readonly string[]
  /** Payments that bought a second answer. */
  resold(): number
  longestGapMs(): number
  /** Starts a measurement; the returned function says the longest time without an answer since then. */
  startGap(): () => number
  awaitAnswers(count: number): Promise<void>
  /** Returns when each payment in progress has ended, or had its time. */
  stop(): Promise<void>
  /** Presents the payment once more, under another key; true when it bought another answer. */
  presentAgain(payment: Acknowledged): Promise<boolean>
}

const pauseMs = 150
const requestTimeoutMs = 15_000
// Longer than the longest interruption of an event.
const finishWithinMs = 60_000
// Every third payment is presented again at once.
const againEvery = 3

interface Load extends PayersOptions {
  readonly acknowledged: Acknowledged[]
  readonly refused: string[]
  readonly resold: Set<string>
  readonly answeredAtMs: number[]
  started: number
  stoppedAtMs: number | undefined
}

export function startPayers(options: PayersOptions): Payers {
  const load: Load = {
    ...options,
    acknowledged: [],
    refused: [],
    resold: new Set(),
    answeredAtMs: [systemClock.monotonicMs()],
    started: 0,
    stoppedAtMs: undefined,
  }
  const running = Array.from({ length: options.count }, () => buyUntilStopped(load))
  return {
    acknowledged: load.acknowledged,
    refused: load.refused,
    resold: () => load.resold.size,
    longestGapMs: () => longestGap(load),
    startGap() {
      const sinceMs = load.answeredAtMs.at(-1) ?? 0
      return () => longestGap(load, sinceMs)
    },
    async awaitAnswers(count) {
      const wanted = load.acknowledged.length + count
      while (load.acknowledged.length < wanted && !hasStalled(load)) await systemClock.sleep(pauseMs)
    },
    async stop() {
      load.stoppedAtMs = systemClock.monotonicMs()
      await Promise.all(running)
    },
    presentAgain: (payment) => presentAgain(load, payment),
  }
}

/** No answer for longer than any event should take. */
function hasStalled({ answeredAtMs }: Load): boolean {
  return systemClock.monotonicMs() - (answeredAtMs.at(-1) ?? 0) > finishWithinMs
}

function longestGap({ answeredAtMs, stoppedAtMs }: Load, sinceMs = 0): number {
  const ended = stoppedAtMs === undefined ? [] : [stoppedAtMs]
  const times = [...answeredAtMs, ...ended].filter((time) => time >= sinceMs)
  return Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)), 0)
}

async function buyUntilStopped(load: Load): Promise<void> {
  while (load.stoppedAtMs === undefined) {
    const number = load.started++
    const payment = await pay(load, `P${number}X${randomUUID().slice(0, 8).toUpperCase()}`)
    if (payment !== undefined && (await presentUntilAnswered(load, payment)) && number % againEvery === 0)
      await presentAgain(load, payment)
    await systemClock.sleep(pauseMs)
  }
}

async function pay(load: Load, symbol: string): Promise<Acknowledged | undefined> {
  const { payer } = load
  try {
    const signal = AbortSignal.timeout(requestTimeoutMs)
    const quote = await askQuote({
      baseUrl: load.baseUrl(),
      wallet: payer.address,
      symbol,
      signal,
      ...productOption(load),
    })
    const payment = await payer.sign(quote)
    await payer.send(payment)
    return { signature: payment.signature, proof: Buffer.from(payment.signature).toString('base64'), symbol }
  } catch {
    // No quote during an interruption: nothing was paid.
    return undefined
  }
}

/** Presents the same proof until it is answered, as the documentation tells callers. */
async function presentUntilAnswered(load: Load, payment: Acknowledged): Promise<boolean> {
  for (;;) {
    const answer = await presentOnce(load, payment)
    if (answer?.status === 200) {
      load.answeredAtMs.push(systemClock.monotonicMs())
      load.acknowledged.push(payment)
      return true
    }
    if (answer !== undefined && isFinal(answer)) {
      load.refused.push(`${answer.status} ${answer.code} ${answer.reason}`)
      return false
    }
    const { stoppedAtMs } = load
    if (stoppedAtMs !== undefined && systemClock.monotonicMs() - stoppedAtMs > finishWithinMs) {
      load.refused.push(`no answer, last ${answer?.status} ${answer?.code}`)
      return false
    }
    await systemClock.sleep(Math.min(Math.max(answer?.retryAfterMs ?? 0, pauseMs), 1_000))
  }
}

function isFinal({ status, reason }: Presented): boolean {
  return status === 402 && reason !== 'not_found' && reason !== undefined
}

async function presentAgain(load: Load, payment: Acknowledged): Promise<boolean> {
  const answer = await presentOnce(load, payment, randomUUID())
  const isResold = answer?.status === 200 && !answer.replayed
  if (isResold) load.resold.add(payment.signature)
  return isResold
}

function productOption({ productOf }: Load) {
  return productOf === undefined ? {} : { productOf }
}

/** Undefined when the connection breaks. */
async function presentOnce(
  load: Load,
  { symbol, proof }: Acknowledged,
  idempotencyKey?: string,
): Promise<Presented | undefined> {
  try {
    return await present({
      baseUrl: load.baseUrl(),
      wallet: load.payer.address,
      ...productOption(load),
      symbol,
      proof,
      signal: AbortSignal.timeout(requestTimeoutMs),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
  } catch {
    return undefined
  }
}

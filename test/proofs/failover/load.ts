import { systemClock } from '@tollbook/core/clock'
import { assertPresent } from '@tollbook/core/assert'
import type { Payer } from '../../support/payer.ts'
import { askQuote, present, type Presented } from '../present.ts'

export interface Purchase {
  readonly symbol: string
  readonly proof: string
  /** As the ledger names the payment. */
  readonly reference: string
  /** Different answers with 200, without replays of one that was sent before. */
  readonly answers: Set<string>
  isAnswered: boolean
}

/** Callers who buy without a pause and present every third proof again, at another server. */
export interface Load {
  readonly purchases: readonly Purchase[]
  /** Longest time between two new answers. */
  longestGapMs(): number
  /** Answers by status, for the table. */
  readonly tally: ReadonlyMap<string, number>
  /** Presents a proof once and remembers what it bought. */
  present(purchase: Purchase, baseUrl: string): Promise<Presented | undefined>
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly payer: Payer
  readonly baseUrls: readonly string[]
  readonly callers: number
  readonly name: string
}

const pauseMs = 150

export function startLoad(options: LoadOptions): Load {
  const state: State = { ...options, purchases: [], tally: new Map(), isOver: false, count: 0, answeredAtMs: [] }
  const running = Array.from({ length: options.callers }, () => buyWithoutPause(state))
  return {
    purchases: state.purchases,
    tally: state.tally,
    longestGapMs: () => longestGap(state.answeredAtMs),
    present: (purchase, baseUrl) => presentOnce(state, purchase, baseUrl),
    async stop() {
      state.isOver = true
      await Promise.all(running)
    },
  }
}

interface State extends LoadOptions {
  readonly purchases: Purchase[]
  readonly tally: Map<string, number>
  readonly answeredAtMs: number[]
  isOver: boolean
  count: number
}

async function buyWithoutPause(state: State): Promise<void> {
  while (!state.isOver) {
    const purchase = await pay(state)
    if (purchase === undefined) {
      await systemClock.sleep(pauseMs)
      continue
    }
    const nth = state.purchases.push(purchase)
    await presentUntilAnswered(state, purchase, nth)
    if (nth % 3 === 0) await presentOnce(state, purchase, serverOf(state, nth + 1))
  }
}

/** Undefined while no server makes an offer. */
async function pay(state: State): Promise<Purchase | undefined> {
  const nth = state.count++
  const symbol = `${state.name}${nth}`
  try {
    const baseUrl = serverOf(state, nth)
    const quote = await askQuote({ baseUrl, wallet: state.payer.address, symbol })
    const proof = await state.payer.pay(quote)
    const reference = `solana:${Buffer.from(proof, 'base64').toString()}`
    return { symbol, proof, reference, answers: new Set(), isAnswered: false }
  } catch {
    count(state, 'no offer')
    return undefined
  }
}

function serverOf({ baseUrls }: State, nth: number): string {
  return assertPresent(baseUrls[nth % baseUrls.length], 'there are servers')
}

async function presentUntilAnswered(state: State, purchase: Purchase, nth: number): Promise<void> {
  for (let attempt = 0; !state.isOver && !purchase.isAnswered; attempt++) {
    const answer = await presentOnce(state, purchase, serverOf(state, nth + attempt))
    // A final refusal: no further attempt of this payer.
    if (answer?.status === 402 && answer.reason === 'already_used') return
    if (!purchase.isAnswered) await systemClock.sleep(pauseMs)
  }
}

async function presentOnce(state: State, purchase: Purchase, baseUrl: string): Promise<Presented | undefined> {
  const { symbol, proof } = purchase
  try {
    const answer = await present({ baseUrl, wallet: state.payer.address, symbol, proof })
    count(state, `${answer.status} ${answer.reason ?? answer.code ?? (answer.replayed ? 'replayed' : '')}`.trim())
    if (answer.status !== 200) return answer
    if (!answer.replayed) purchase.answers.add(answer.data ?? '')
    if (!purchase.isAnswered) state.answeredAtMs.push(systemClock.monotonicMs())
    purchase.isAnswered = true
    return answer
  } catch {
    count(state, 'no connection')
    return undefined
  }
}

function count(state: State, answer: string): void {
  state.tally.set(answer, (state.tally.get(answer) ?? 0) + 1)
}

function longestGap(atMs: readonly number[]): number {
  return atMs.reduce((longest, at, index) => Math.max(longest, at - (atMs[index - 1] ?? at)), 0)
}

import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { evolve, type PaymentState, unknownPayment } from '../src/payment/payment.ts'
import type { PaymentChange } from '../src/payment/paymentLedger.ts'
import { type AppendItem, appendCall, appendValues, paymentItem, priceListItem } from '../src/store/appendBatch.ts'
import { makeWallet, type PayingWallet, signedSettlement } from '../test/audit/signedPayment.ts'
import { claimOf, fulfilmentOf, releaseOf, samplePrice } from '../test/store/samplePayment.ts'

export interface SeedOptions {
  readonly payments: number
  /** The payments are spread over so many days, up to now. */
  readonly daysBack: number
  /** Every so many-th payment fails once before it is delivered. */
  readonly failedEvery?: number
  readonly progress: (line: string) => void
}

// Larger batches than the service makes: this only has to be quick, and runs the same function.
const batchSize = 500
// Callers come back: each of them makes a few hundred payments of a million.
const walletCount = 1_000
const endpoints = ['/api/data/crypto', '/api/data/weather', '/api/data/stock', '/api/data/news', '/api/tools/qrcode']

/** A book of whole payments, verified, claimed and delivered, written by the one write path. Gives its events. */
export async function seedLedger(serviceUrl: string, options: SeedOptions): Promise<number> {
  const { payments, daysBack, failedEvery = 20, progress } = options
  const client = new pg.Client({ connectionString: serviceUrl })
  await client.connect()
  const append = (items: readonly AppendItem[]) => client.query(appendCall, [...appendValues(items)])
  const spanMs = daysBack * 24 * 60 * 60 * 1000
  const nowMs = systemClock.nowMs()
  const wallets = Array.from({ length: walletCount }, makeWallet)
  const prices = endpoints.map((endpoint) => samplePrice(endpoint))
  await append([priceListItem({ kind: 'PriceListPublished', source: 'fixed', prices }, { expectedVersion: 0, nowMs })])
  let events = 1
  for (let done = 0; done < payments; done += batchSize) {
    const stories = Array.from({ length: Math.min(batchSize, payments - done) }, (_, offset) => {
      const price = samplePrice(endpoints[(done + offset) % endpoints.length])
      const blockTimeMs = Math.floor(nowMs - spanMs + (spanMs * (done + offset)) / payments)
      const wallet = assertPresent(wallets[(done + offset) % walletCount], 'there are so many wallets')
      return storyOf(wallet, { blockTimeMs, price, fails: (done + offset) % failedEvery === 0 })
    })
    for (let step = 0; step < 4; step++) {
      const changes = stories.flatMap((story) => story[step] ?? [])
      if (changes.length > 0) await append(changes.map(paymentItem))
      events += changes.reduce((sum, change) => sum + change.events.length, 0)
    }
    if (done % 50_000 === 0) progress(`${done} of ${payments} payments seeded`)
  }
  await client.end()
  return events
}

interface Story {
  readonly blockTimeMs: number
  readonly price: ReturnType<typeof samplePrice>
  readonly fails: boolean
}

function storyOf(wallet: PayingWallet, { blockTimeMs, price, fails }: Story): readonly PaymentChange[] {
  const settlement = signedSettlement(wallet, { price, blockTimeMs })
  const first = claimOf(settlement)
  const claimed = after(first.change)
  if (!fails) return [first.change, fulfilmentOf(settlement, { before: claimed, attemptId: first.attemptId })]
  const release = releaseOf(settlement, { before: claimed, attemptId: first.attemptId })
  const second = claimOf(settlement, { before: after(release) })
  const end = fulfilmentOf(settlement, { before: after(second.change), attemptId: second.attemptId })
  return [first.change, release, second.change, end]
}

// Only the phase and the version matter for what is decided next, so the time of a lease may be any.
function after({ before, events }: PaymentChange): PaymentState {
  return events.reduce<PaymentState>((state, event) => evolve(state, event, 0), before ?? unknownPayment)
}

import pg from 'pg'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import type { Price } from '@tollbook/core/quote'
import { appendBatch } from '@tollbook/ledger/appendBatch'
import type { Item } from '@tollbook/ledger/item'
import type { PriceListPublished } from '../src/payment/events/settingEvents.ts'
import { evolveAll, type PaymentState } from '../src/payment/payment.ts'
import type { PaymentChange } from '../src/payment/paymentLedger.ts'
import { decidePriceList } from '../src/settings/settings.ts'
import { defaultSplit } from '../src/pricing/splitSetting.ts'
import { paymentItem } from '../src/store/paymentItem.ts'
import { settingItem } from '../src/store/settingStore.ts'
import { makeWallet, type PayingWallet, signedSettlement } from '../test/audit/signedPayment.ts'
import { claimOf, fulfilmentOf, releaseOf, samplePrice } from '../test/store/samplePayment.ts'

export interface SeedOptions {
  readonly payments: number
  /** Number of days, up to now, over which the payments are spread. */
  readonly daysBack: number
  /** Interval of payments that fail once before they are delivered. */
  readonly failedEvery?: number
  readonly progress: (line: string) => void
}

// Larger batches than the service makes: this only has to be quick, and calls the same function.
const batchSize = 500
// Callers return: each wallet makes a few hundred payments of a million.
const walletCount = 1_000
const endpoints = ['/api/data/crypto', '/api/data/weather', '/api/data/stock', '/api/data/news', '/api/tools/qrcode']

/** A ledger of whole payments, verified, claimed and delivered, written by its append. Returns the number of events. */
export async function seedLedger(serviceUrl: string, options: SeedOptions): Promise<number> {
  const { payments, daysBack, failedEvery = 20, progress } = options
  const client = new pg.Client({ connectionString: serviceUrl })
  await client.connect()
  const spanMs = daysBack * 24 * 60 * 60 * 1000
  const nowMs = systemClock.nowMs()
  const wallets = Array.from({ length: walletCount }, makeWallet)
  const prices = endpoints.map((endpoint) => samplePrice(endpoint))
  await append(client, [priceListItem(prices, nowMs)])
  let events = 1
  for (let done = 0; done < payments; done += batchSize) {
    const stories = Array.from({ length: Math.min(batchSize, payments - done) }, (_, offset) => {
      const price = assertPresent(prices[(done + offset) % prices.length], 'there are enough endpoints')
      const blockTimeMs = Math.floor(nowMs - spanMs + (spanMs * (done + offset)) / payments)
      const wallet = assertPresent(wallets[(done + offset) % walletCount], 'there are enough wallets')
      return storyOf(wallet, { blockTimeMs, price, fails: (done + offset) % failedEvery === 0 })
    })
    for (let step = 0; step < 4; step++) {
      const changes = stories.flatMap((story) => story[step] ?? [])
      if (changes.length > 0) await append(client, changes.map(paymentItem))
      events += changes.reduce((sum, change) => sum + change.events.length, 0)
    }
    if (done % 50_000 === 0) progress(`${done} of ${payments} payments seeded`)
  }
  await client.end()
  return events
}

/** Appends all items, or throws. */
export async function append(client: pg.Client, items: readonly Item[]): Promise<void> {
  const results = await appendBatch(client, items)
  assert(
    results.every(({ outcome }) => outcome === 'appended'),
    'a seed is taken whole',
  )
}

function priceListItem(prices: readonly Price[], nowMs: number): Item {
  const list: PriceListPublished = { kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices }
  return settingItem(assertPresent(decidePriceList(undefined, list), 'the first list is published'), nowMs)
}

interface Story {
  readonly blockTimeMs: number
  readonly price: Price
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

/** Only phase and version decide the next step, so the time of a lease may be any. */
function after({ before, events }: PaymentChange): PaymentState {
  return evolveAll(before, events, 0)
}

import pg from 'pg'
import { assert, assertPresent } from '@tollbook/core/assert'
import { type Address, readAddress } from '@tollbook/core/address'
import { systemClock } from '@tollbook/core/clock'
import { sampleDollarMint } from '../../../src/cli/local/provisionDollar.ts'
import { dollarPrices } from '../../../src/pricing/dollarPrices.ts'
import { split } from '../../../src/pricing/split.ts'
import { defaultSplit } from '../../../src/pricing/splitSetting.ts'
import { appendBatch } from '@tollbook/ledger/appendBatch'
import {
  decideDelivery,
  decideFinality,
  decideRefund,
  decideUnmatched,
  type FinalVerdict,
} from '../../../src/payment/finality.ts'
import { evolveAll, type PaymentDecision, type PaymentState, unknownPayment } from '../../../src/payment/payment.ts'
import type { PaymentChange } from '../../../src/payment/paymentLedger.ts'
import type { Settlement } from '../../../src/payment/settlement.ts'
import { paymentItem } from '../../../src/store/paymentItem.ts'
import { openLedgerTime } from '../../support/ledgerTime.ts'
import type { TestDatabase } from '../../support/testDatabase.ts'
import {
  claimOf,
  fulfilmentOf,
  releaseOf,
  sampleAddress,
  sampleEvidence,
  samplePrice,
  sampleSettlement,
} from '../../store/samplePayment.ts'

const products: readonly (readonly [endpoint: string, requiredBaseUnits: bigint])[] = [
  ['/api/data/crypto', 1_000_000n],
  ['/api/data/weather', 2_000_000n],
  ['/api/data/stock', 3_000_000n],
  ['/api/data/news', 4_000_000n],
  ['/api/tools/qrcode', 5_000_000n],
  ['/api/tools/screenshot', 20_000_000n],
  ['/api/ai/chat', 50_000_000n],
]
const dollarMint = assertPresent(readAddress(sampleDollarMint), 'the mint is an address')
const treasuryWallet = sampleAddress()
// More than the burns of seven sales.
const deliveredBaseUnits = 100_000_000n
const daysBack = 120
const batchMax = 500
const batchesMin = 300
const progressEvery = 50_000
const dayMs = 86_400_000
// Undelivered claims stay claimed while pages are looked at: no chain has these payments, so an ended claim would be
// reversed. Only payments of these days are left undelivered.
const leaseMs = 20 * dayMs
const undeliveredMs = 15 * dayMs
const hourMs = 3_600_000

interface SeedOptions {
  readonly mint: Address
  readonly payments: number
  /** Some sales are in dollars, and a treasury delivers the tokens for their burns. */
  readonly sellsInDollars?: boolean
  /** Seeding ends after this time with fewer payments. */
  readonly durationMaxMs?: number
  readonly onProgress?: (done: number) => void
}

/**
 * A busy ledger of made-up payments, written by the ledger's own append as if it had run for 120 days: most delivered,
 * some not, a few overpaid, with an owed burn, dropped by the chain, owed back, or unmatched. Returns the number of
 * payments.
 */
export async function seedLedger(
  { serviceUrl, adminUrl }: Pick<TestDatabase, 'serviceUrl' | 'adminUrl'>,
  { mint, payments, sellsInDollars = false, durationMaxMs = Number.POSITIVE_INFINITY, onProgress }: SeedOptions,
): Promise<number> {
  const client = new pg.Client({ connectionString: serviceUrl })
  await client.connect()
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const ledgerTime = await openLedgerTime(admin)
  const wallets = Array.from({ length: 200 }, sampleAddress)
  const startedAtMs = systemClock.monotonicMs()
  const nowMs = systemClock.nowMs()
  const firstMs = nowMs - daysBack * dayMs
  // Of a short ledger, too, a batch is recorded soon after its payments.
  const batch = Math.min(batchMax, Math.ceil(payments / batchesMin))
  let done = 0
  for (; done < payments && systemClock.monotonicMs() - startedAtMs < durationMaxMs; done += batch) {
    if (done > 0 && done % progressEvery === 0) onProgress?.(done)
    // A seed that ends early reaches today, too.
    const passed = (systemClock.monotonicMs() - startedAtMs) / durationMaxMs
    const stories = Array.from({ length: Math.min(batch, payments - done) }, (_, offset) => {
      const nth = done + offset
      // Busier at the end than at the start.
      const blockTimeMs = Math.floor(
        firstMs + daysBack * dayMs * Math.sqrt(Math.min(1, Math.max(nth / payments, passed))),
      )
      const wallet = assertPresent(wallets[(nth * 7) % wallets.length], 'there are enough wallets')
      const sale = settlementOf(nth, { mint, wallet, blockTimeMs })
      return sellsInDollars ? storyOfBoth(nth, sale) : storyOf(nth, sale)
    })
    const lastMs = Math.max(...stories.flatMap(([change]) => change?.nowMs ?? 0))
    await ledgerTime.set(Math.min(lastMs + hourMs, nowMs))
    await writeStories(client, stories)
  }
  await ledgerTime.release()
  await admin.end()
  await client.end()
  return Math.min(done, payments)
}

/** Appends of one payment, in their order. */
type Story = readonly PaymentChange[]

async function writeStories(client: pg.Client, stories: readonly Story[]): Promise<void> {
  const steps = Math.max(...stories.map(({ length }) => length))
  for (let step = 0; step < steps; step++) {
    const items = stories.flatMap((story) => story[step] ?? []).map(paymentItem)
    const results = await appendBatch(client, items)
    assert(
      results.every(({ outcome }) => outcome === 'appended'),
      'every change of the seed is the next one of its payment',
    )
  }
}

function settlementOf(
  nth: number,
  { mint, wallet, blockTimeMs }: { readonly mint: Address; readonly wallet: Address; readonly blockTimeMs: number },
): Settlement {
  const [endpoint, requiredBaseUnits] = products[(nth + Math.floor(nth / 3)) % products.length] ?? ['', 1n]
  const price = { ...samplePrice(endpoint, requiredBaseUnits), ...split(requiredBaseUnits, defaultSplit), mint }
  const burnedBaseUnits = nth % 11 === 5 ? 0n : price.burnBaseUnits
  const overpaidBaseUnits = nth % 97 === 0 ? 250_000n : 0n
  return sampleSettlement({
    price,
    wallet,
    burnedBaseUnits,
    receivedBaseUnits: price.requiredBaseUnits - burnedBaseUnits + overpaidBaseUnits,
    evidence: sampleEvidence({ blockTimeMs, transactionBase64: undefined }),
  })
}

function storyOf(nth: number, settlement: Settlement): Story {
  if (nth % 149 === 11) return [unmatched(settlement)]
  const { blockTimeMs } = settlement.evidence
  const { change, attemptId } = claimOf(settlement, { nowMs: blockTimeMs, leaseMs })
  if (nth % 41 === 0 && systemClock.nowMs() - blockTimeMs < undeliveredMs) return [change]
  const isServed = nth % 131 !== 17
  const answer = (isServed ? fulfilmentOf : releaseOf)(settlement, { before: afterOf(change), attemptId })
  const end = { ...answer, nowMs: blockTimeMs + 400 }
  const isDropped = nth % 127 === 13
  const later = changeOf(end, decideFinality(afterOf(end), isDropped ? dropped : final))
  return isServed || isDropped
    ? [change, end, later]
    : [change, end, later, changeOf(later, decideRefund(afterOf(later)))]
}

/** Every third sale is in dollars, and every seventh of those is followed by a delivery of the treasury. */
function storyOfBoth(nth: number, sale: Settlement): Story {
  if (nth % 21 === 4) return [delivery(sale)]
  return storyOf(nth, nth % 3 === 1 ? inDollars(sale) : sale)
}

function inDollars(sale: Settlement): Settlement {
  const of = { mint: dollarMint, decimals: 6, minimumMicroUsd: 1n, burn: 'token' } as const
  const price = assertPresent(dollarPrices([sale.price], of, defaultSplit)[0], 'the price is above the minimum')
  return { ...sale, price, burnedBaseUnits: 0n, receivedBaseUnits: price.requiredBaseUnits }
}

function delivery({ reference, price, evidence }: Settlement): PaymentChange {
  const treasury = { wallet: treasuryWallet, mint: price.mint }
  const transfer = { ...treasury, receivedBaseUnits: deliveredBaseUnits, slot: evidence.slot }
  const decided = assertPresent(decideDelivery(unknownPayment, transfer, treasury), 'the treasury delivers')
  return { reference, before: unknownPayment, ...decided, nowMs: evidence.blockTimeMs }
}

const final: FinalVerdict = { kind: 'finalized', slot: 1_000 }
const dropped: FinalVerdict = { kind: 'reversed', reason: 'absent', finalizedSlot: 2_000 }

function afterOf({ before, events, nowMs }: PaymentChange): PaymentState {
  return evolveAll(before, events, nowMs)
}

/** A change one hour after another change of the same payment. */
function changeOf(change: PaymentChange, decision: PaymentDecision | undefined): PaymentChange {
  const decided = assertPresent(decision, 'the payment is in a state for it')
  return { reference: change.reference, before: afterOf(change), ...decided, nowMs: change.nowMs + hourMs }
}

function unmatched({ reference, wallet, price, receivedBaseUnits, evidence }: Settlement): PaymentChange {
  const transfer = { wallet, mint: price.mint, receivedBaseUnits, slot: evidence.slot }
  const decided = assertPresent(decideUnmatched(unknownPayment, transfer), 'the ledger does not have the payment')
  return { reference, before: unknownPayment, ...decided, nowMs: evidence.blockTimeMs }
}

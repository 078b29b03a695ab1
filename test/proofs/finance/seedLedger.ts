import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { type Address } from '@tollbook/core/address'
import type { PaymentEvent } from '../../../src/payment/events.ts'
import { decideFinality, decideRefund, decideUnmatched, type FinalVerdict } from '../../../src/payment/finality.ts'
import { evolve, type PaymentState, unknownPayment } from '../../../src/payment/payment.ts'
import type { PaymentChange } from '../../../src/payment/paymentLedger.ts'
import type { Settlement } from '../../../src/payment/settlement.ts'
import { assertPresent } from '@tollbook/core/assert'
import { appendCall, appendValues, paymentItem } from '../../../src/store/appendBatch.ts'
import {
  claimOf,
  fulfilmentOf,
  releaseOf,
  sampleAddress,
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
const daysBack = 120
const batchMax = 500
const sayEvery = 100_000
const dayMs = 86_400_000
// What is not delivered stays so while anybody looks: a claim that ended would be taken back, for no chain has its payment.
const leaseMs = 7 * dayMs

/**
 * A busy book of made-up payments, through the service's own write path: most delivered, some not, a few overpaid, dropped
 * by the chain, owed back, or never asked for.
 */
export async function seedLedger(
  serviceUrl: string,
  { mint, payments, onProgress }: { mint: Address; payments: number; onProgress?: (done: number) => void },
): Promise<void> {
  const client = new pg.Client({ connectionString: serviceUrl })
  await client.connect()
  const wallets = Array.from({ length: 200 }, sampleAddress)
  const firstMs = systemClock.nowMs() - daysBack * dayMs
  for (let done = 0; done < payments; done += batchMax) {
    const claims: PaymentChange[] = []
    const ends: PaymentChange[] = []
    if (done > 0 && done % sayEvery === 0) onProgress?.(done)
    const laters: PaymentChange[][] = [[], []]
    for (let nth = done; nth < Math.min(done + batchMax, payments); nth++) {
      const [endpoint, requiredBaseUnits] = products[(nth + Math.floor(nth / 3)) % products.length] ?? ['', 1n]
      const price = { ...samplePrice(endpoint, requiredBaseUnits), mint }
      const overpaidBaseUnits = nth % 97 === 0 ? 250_000n : 0n
      // Busier at the end than at the start.
      const blockTimeMs = Math.floor(firstMs + daysBack * dayMs * Math.sqrt(nth / payments))
      const settlement = sampleSettlement({
        price,
        blockTimeMs,
        wallet: wallets[(nth * 7) % wallets.length] ?? sampleAddress(),
        receivedBaseUnits: price.requiredBaseUnits - price.burnBaseUnits + overpaidBaseUnits,
        transactionBase64: undefined,
      })
      if (nth % 149 === 11) {
        claims.push(unasked(settlement))
        continue
      }
      const { change, attemptId } = claimOf(settlement, { nowMs: blockTimeMs, leaseMs })
      claims.push(change)
      const before = afterOf(change)
      if (nth % 41 === 0) continue
      const isServed = nth % 131 !== 17
      const end = (isServed ? fulfilmentOf : releaseOf)(settlement, { before, attemptId })
      ends.push({ ...end, nowMs: blockTimeMs + 400 })
      const isDropped = nth % 127 === 13
      const later = changeOf(end, decideFinality(afterOf(end), isDropped ? dropped : final))
      laters[0]?.push(later)
      if (!isServed && !isDropped) laters[1]?.push(changeOf(later, decideRefund(afterOf(later))))
    }
    for (const changes of [claims, ends, ...laters].filter(({ length }) => length > 0))
      await client.query(appendCall, [...appendValues(changes.map(paymentItem))])
  }
  await client.end()
}

const final: FinalVerdict = { kind: 'finalized', slot: 1_000 }
const dropped: FinalVerdict = { kind: 'reversed', reason: 'absent', finalizedSlot: 2_000 }

function afterOf({ before, events, nowMs }: PaymentChange): PaymentState {
  return events.reduce((state, event) => evolve(state, event, nowMs), before)
}

/** What comes an hour after another change of the same payment. */
function changeOf(change: PaymentChange, events: readonly PaymentEvent[] | undefined): PaymentChange {
  const decided = assertPresent(events, 'the payment is in a state for it')
  return { signature: change.signature, before: afterOf(change), events: decided, nowMs: change.nowMs + 3_600_000 }
}

function unasked({ signature, wallet, price, receivedBaseUnits, slot, blockTimeMs }: Settlement): PaymentChange {
  const events = decideUnmatched(unknownPayment, { wallet, mint: price.mint, receivedBaseUnits, slot })
  const decided = assertPresent(events, 'nothing is known of it')
  return { signature, before: unknownPayment, events: decided, nowMs: blockTimeMs }
}

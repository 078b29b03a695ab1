import pg from 'pg'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type Address } from '../../../src/payment/address.ts'
import { evolve, unknownPayment } from '../../../src/payment/payment.ts'
import type { PaymentChange } from '../../../src/payment/paymentLedger.ts'
import { appendCall, appendValues, paymentItem } from '../../../src/store/appendBatch.ts'
import { claimOf, fulfilmentOf, sampleAddress, samplePrice, sampleSettlement } from '../../store/samplePayment.ts'

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

/** A busy book of made-up payments, through the service's own write path: most delivered, some not, a few overpaid. */
export async function seedLedger(
  serviceUrl: string,
  { mint, payments, onProgress }: { mint: Address; payments: number; onProgress: (done: number) => void },
): Promise<void> {
  const client = new pg.Client({ connectionString: serviceUrl })
  await client.connect()
  const wallets = Array.from({ length: 200 }, sampleAddress)
  const firstMs = systemClock.nowMs() - daysBack * dayMs
  for (let done = 0; done < payments; done += batchMax) {
    const claims: PaymentChange[] = []
    const ends: PaymentChange[] = []
    if (done > 0 && done % sayEvery === 0) onProgress(done)
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
      const { change, attemptId } = claimOf(settlement, { nowMs: blockTimeMs })
      claims.push(change)
      const before = change.events.reduce((state, event) => evolve(state, event, blockTimeMs), unknownPayment)
      if (nth % 41 !== 0) ends.push({ ...fulfilmentOf(settlement, { before, attemptId }), nowMs: blockTimeMs + 400 })
    }
    for (const changes of [claims, ends]) await client.query(appendCall, [...appendValues(changes.map(paymentItem))])
  }
  await client.end()
}

import type pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { decideUnmatched } from '../../src/payment/finality.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { mustAppend } from '../store/instance.ts'
import { sampleAddress, sampleMint, samplePrice, sampleReference } from '../store/samplePayment.ts'
import { recordBurn } from './recordBurn.ts'
import { recordPayout } from './recordPayout.ts'
import { ends, seedPayment } from './seedPayment.ts'

const endpoints = ['/api/data/weather', '/api/data/crypto', '/api/tools/qrcode'] as const

/**
 * A price list, and payments with every outcome, with and without an owed burn; then a payout and a burn. `admin`
 * replaces the logins of the payer of payouts and of the burner.
 */
export async function recordEveryOutcome(ledger: Ledger, admin: pg.Pool): Promise<void> {
  await publishPrices(ledger)
  for (const [index, end] of ends.entries())
    for (const isPaidWhole of [false, true]) {
      const endpoint = endpoints[index % endpoints.length] ?? endpoints[0]
      const amounts = { requiredBaseUnits: 10_000_000n + BigInt(index), overpaidBaseUnits: index % 2 === 0 ? 11n : 0n }
      const blockTimeMs = Date.parse('2026-11-20T23:59:54.000Z') + index * 1_000
      await seedPayment(ledger, { wallet: sampleAddress(), endpoint, ...amounts, blockTimeMs, end, isPaidWhole })
    }
  await receiveWithoutSender(ledger)
  await recordPayout(admin, {
    planId: 'payout_1',
    payments: [{ account: 'Liabilities:Share:provider', wallet: sampleAddress(), paidBaseUnits: 5_000_000n }],
    effectiveAtMs: systemClock.nowMs(),
  })
  const parts = [{ endpoint: endpoints[0], baseUnits: 1_000_000n }]
  await recordBurn(admin, { mint: sampleMint, parts, effectiveAtMs: systemClock.nowMs() })
}

export async function publishPrices(ledger: Ledger): Promise<void> {
  const prices = endpoints.map((endpoint) => samplePrice(endpoint))
  await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices })
}

async function receiveWithoutSender(ledger: Ledger): Promise<void> {
  const transfer = { wallet: undefined, mint: sampleMint, receivedBaseUnits: 250_000n, slot: 1_000 }
  const decision = assertPresent(decideUnmatched(unknownPayment, transfer), 'the ledger does not have the payment')
  const nowMs = systemClock.nowMs()
  await mustAppend(ledger, { reference: sampleReference(), before: unknownPayment, ...decision, nowMs })
}

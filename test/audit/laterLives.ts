import { silentLog } from '../../src/primitives/log.ts'
import { systemClock } from '@tollbook/core/clock'
import type { Address } from '@tollbook/core/address'
import type { PaidShare, PaymentEvent } from '../../src/payment/events.ts'
import { decideFinality, decideRefund, decideUnmatched, type FinalVerdict } from '../../src/payment/finality.ts'
import { type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import type { PaymentChange } from '../../src/payment/paymentLedger.ts'
import type { Signature } from '@tollbook/core/signature'
import { assert, assertPresent } from '@tollbook/core/assert'
import { openDatabase } from '../../src/store/database.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { recordPayout } from '../../src/store/payoutStore.ts'
import { sampleAddress, sampleMint, sampleSettlement } from '../store/samplePayment.ts'

/* What happens to the payments of an audited book after their answers, and what pays it out. */

export interface Answered {
  readonly signature: Signature
  readonly state: PaymentState
}

const finalized: FinalVerdict = { kind: 'finalized', slot: 1_000 }
const reversed: FinalVerdict = { kind: 'reversed', reason: 'absent', finalizedSlot: 2_000 }

/** The same mixture each time: most become final, some are dropped, some owed back, and some stay as they are. */
export async function liveOn(ledger: Ledger, payments: readonly Answered[]): Promise<void> {
  for (const [index, { signature, state }] of payments.entries()) {
    const add = async (before: PaymentState, events: readonly PaymentEvent[] | undefined) => {
      const decided = assertPresent(events, 'the payment is in a state for it')
      return append(ledger, { signature, before, events: decided, nowMs: systemClock.nowMs() })
    }
    if (state.phase === 'released') {
      const isRefunded = index % 4 === 2
      const after = await add(state, decideFinality(state, isRefunded ? finalized : reversed))
      if (isRefunded) await add(after, decideRefund(after))
    }
    if (state.phase === 'fulfilled' && index % 4 !== 1)
      await add(state, decideFinality(state, index % 9 === 4 ? reversed : finalized))
  }
}

export async function receiveUnmatched(ledger: Ledger, wallet: Address): Promise<void> {
  for (const receivedBaseUnits of [400n, 900n]) {
    const { signature, slot } = sampleSettlement()
    const events = decideUnmatched(unknownPayment, { wallet, mint: sampleMint, receivedBaseUnits, slot })
    const decided = assertPresent(events, 'nothing is known of it')
    await append(ledger, { signature, before: unknownPayment, events: decided, nowMs: systemClock.nowMs() })
  }
}

export async function append(ledger: Ledger, change: PaymentChange): Promise<PaymentState> {
  const appended = await ledger.payments.append(change)
  assert(appended.outcome === 'appended', 'every change of the book is the next one of its payment')
  return appended.after
}

/** Two parts of a plan, which leave something owed of everything. `adminUrl` stands in for the login of the payer. */
export async function payOut(adminUrl: string, wallet: Address): Promise<void> {
  const url = new URL(adminUrl)
  url.searchParams.set('options', '-c role=tollbook_payout')
  const desk = openDatabase({ databaseUrl: url.href, applicationName: 'payer', connectionsMax: 1, log: silentLog })
  const debt = (account: string, paidBaseUnits: bigint): PaidShare => ({ account, wallet, paidBaseUnits })
  const [provider, holders] = [sampleAddress(), sampleAddress()]
  const parts: readonly (readonly PaidShare[])[] = [
    [{ ...debt('Liabilities:Provider', 1_000n), wallet: provider }, debt(`Liabilities:RefundsDue:${wallet}`, 500n)],
    [{ ...debt('Liabilities:Holders', 700n), wallet: holders }, debt(`Liabilities:Overpaid:${wallet}`, 5n)],
  ]
  try {
    for (const [index, payments] of parts.entries()) {
      const { signature } = sampleSettlement()
      const plan = { planId: 'payout_of_the_audited_book', part: index + 1, mint: sampleMint, slot: 1_000 }
      await recordPayout(desk, { kind: 'DistributionPaid', signature, ...plan, payments }, systemClock.nowMs())
    }
  } finally {
    await desk.destroy()
  }
}

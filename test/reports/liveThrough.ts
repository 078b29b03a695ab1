import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/primitives/log.ts'
import { decideFinality, decideRefund, decideUnmatched, type FinalVerdict } from '../../src/payment/finality.ts'
import type { PaymentEvent } from '../../src/payment/events.ts'
import { evolve, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import type { PaymentChange } from '../../src/payment/paymentLedger.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { recordPayout } from '../../src/store/payoutStore.ts'
import { mustAppend } from '../store/instance.ts'
import {
  claimOf,
  fulfilmentOf,
  releaseOf,
  sampleAddress,
  sampleMint,
  samplePrice,
  sampleSettlement,
} from '../store/samplePayment.ts'

const absent: FinalVerdict = { kind: 'reversed', reason: 'absent', finalizedSlot: 1_400 }
const final: FinalVerdict = { kind: 'finalized', slot: 1_000 }

/** One of everything that can happen to a payment after its answer, and a payout. The last is recorded by another login. */
export async function liveThrough(ledger: Ledger, payoutUrl: string): Promise<void> {
  const over = () => sampleSettlement({ receivedBaseUnits: 7_000_011n })
  await end(ledger, await served(ledger, over()), (state) => decideFinality(state, final))
  await end(ledger, await served(ledger, over()), (state) => decideFinality(state, absent))
  await end(ledger, await released(ledger, over()), (state) => decideFinality(state, absent))
  const refunded = await end(ledger, await released(ledger, over()), (state) => decideFinality(state, final))
  await end(ledger, refunded, decideRefund)
  for (const wallet of [sampleAddress(), undefined]) {
    const transfer = { wallet, mint: sampleMint, receivedBaseUnits: 250_000n, slot: 1_000 }
    const unknown = { signature: sampleSettlement().signature, state: unknownPayment }
    await end(ledger, unknown, (state) => decideUnmatched(state, transfer))
  }
  await payOut(payoutUrl)
}

interface Lived {
  readonly signature: Settlement['signature']
  readonly state: PaymentState
}

async function add(ledger: Ledger, change: PaymentChange): Promise<Lived> {
  await mustAppend(ledger, change)
  const state = change.events.reduce((state, event) => evolve(state, event, 0), change.before)
  return { signature: change.signature, state }
}

async function served(ledger: Ledger, settlement: Settlement): Promise<Lived> {
  const { attemptId, change } = claimOf(settlement)
  const { state } = await add(ledger, change)
  return add(ledger, fulfilmentOf(settlement, { before: state, attemptId }))
}

async function released(ledger: Ledger, settlement: Settlement): Promise<Lived> {
  const { attemptId, change } = claimOf(settlement)
  const { state } = await add(ledger, change)
  return add(ledger, releaseOf(settlement, { before: state, attemptId }))
}

type Decide = (state: PaymentState) => readonly PaymentEvent[] | undefined

function end(ledger: Ledger, { signature, state }: Lived, decide: Decide): Promise<Lived> {
  const events = assertPresent(decide(state), 'it can happen in this state')
  return add(ledger, { signature, before: state, events, nowMs: systemClock.nowMs() })
}

async function payOut(payoutUrl: string): Promise<void> {
  const naming = { databaseUrl: payoutUrl, applicationName: 'test payout' }
  const desk = openDatabase({ ...naming, connectionsMax: 1, log: silentLog })
  const { mint } = samplePrice()
  const payments = [{ account: 'Liabilities:Provider', wallet: sampleAddress(), paidBaseUnits: 5_000_000n }]
  const { signature } = sampleSettlement()
  await recordPayout(
    desk,
    { kind: 'DistributionPaid', signature, planId: 'payout_1', part: 1, mint, slot: 1, payments },
    systemClock.nowMs(),
  )
  await desk.destroy()
}

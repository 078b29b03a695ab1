import { sql } from 'kysely'
import { silentLog } from '../../src/machine/log.ts'
import { systemClock } from '@tollbook/core/clock'
import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { PaidDebt } from '../../src/payment/events/payoutEvents.ts'
import { burnEvents } from '../../src/payment/events/burnEvents.ts'
import type { BurnEvent } from '../../src/payment/events.ts'
import { decideBurnConfirm, decideBurnSubmit, evolveBurn, unknownBurn } from '../../src/payment/burn.ts'
import { createEventCodec } from '../../src/payment/eventCodec.ts'
import {
  decideExpiry,
  decideFinality,
  decideRefund,
  decideUnmatched,
  type FinalVerdict,
} from '../../src/payment/finality.ts'
import { type PaymentDecision, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import type { PaymentChange } from '../../src/payment/paymentLedger.ts'
import { type PaymentReference, signatureOf, transactionReference } from '../../src/payment/paymentReference.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { recordPayout } from '../../src/store/payoutStore.ts'
import { sampleAddress, sampleMint, sampleReference } from '../store/samplePayment.ts'
import { type PayingWallet, signedBurn } from './signedPayment.ts'

/* Events of an audited ledger after the answers: finality, reversals, refunds, payouts and burns. */

export interface Answered {
  readonly reference: PaymentReference
  readonly state: PaymentState
}

export const finalized: FinalVerdict = { kind: 'finalized', slot: 1_000 }
export const reversed: FinalVerdict = { kind: 'reversed', reason: 'absent', finalizedSlot: 2_000 }

/** The same mixture each time: most become final, some are dropped, some owed back, and some stay as they are. */
export async function continueAfterAnswers(ledger: Ledger, payments: readonly Answered[]): Promise<void> {
  for (const [index, { reference, state }] of payments.entries()) {
    const add = (before: PaymentState, decision: PaymentDecision | undefined) =>
      decide(ledger, { reference, before }, decision)
    if (state.phase === 'claimed') {
      const expiry = decideExpiry(state, { nowMs: systemClock.nowMs(), attemptsMax: 10 })
      if (expiry !== undefined) await add(state, expiry)
    }
    if (state.phase === 'released') {
      const isRefunded = index % 4 === 2
      const after = await add(state, decideFinality(state, isRefunded ? finalized : reversed))
      if (isRefunded) await add(after, decideRefund(after))
    }
    if (state.phase === 'fulfilled' && index % 4 !== 1)
      await add(state, decideFinality(state, index % 9 === 4 || index % 9 === 8 ? reversed : finalized))
  }
}

export async function receiveUnmatched(ledger: Ledger, wallet: Address): Promise<void> {
  for (const receivedBaseUnits of [400n, 900n]) {
    const transfer = { wallet, mint: sampleMint, receivedBaseUnits, slot: 1_000 }
    const reference = sampleReference()
    await decide(ledger, { reference, before: unknownPayment }, decideUnmatched(unknownPayment, transfer))
  }
}

export function decide(
  ledger: Ledger,
  payment: { readonly reference: PaymentReference; readonly before: PaymentState },
  decision: PaymentDecision | undefined,
): Promise<PaymentState> {
  const decided = assertPresent(decision, 'the payment is in a state for it')
  return append(ledger, { ...payment, ...decided, nowMs: systemClock.nowMs() })
}

export async function append(ledger: Ledger, change: PaymentChange): Promise<PaymentState> {
  const appended = await ledger.payments.append(change)
  assert(appended.outcome === 'appended', `${change.step} is the next step of its payment`)
  return appended.after
}

/** `adminUrl` stands in for the login of another role. */
async function asRole<T>(role: string, adminUrl: string, work: (database: Database) => Promise<T>): Promise<T> {
  const url = new URL(adminUrl)
  url.searchParams.set('options', `-c role=${role}`)
  const database = openDatabase({ databaseUrl: url.href, applicationName: role, connectionsMax: 1, log: silentLog })
  try {
    return await work(database)
  } finally {
    await database.destroy()
  }
}

/** Two parts of a plan, which leave something owed of everything. */
export async function payOut(adminUrl: string, wallet: Address): Promise<void> {
  const debt = (account: string, paidBaseUnits: bigint): PaidDebt => ({ account, wallet, paidBaseUnits })
  const share = (name: string, paidBaseUnits: bigint): PaidDebt => {
    return { ...debt(`Liabilities:Share:${name}`, paidBaseUnits), wallet: sampleAddress() }
  }
  const parts: readonly (readonly PaidDebt[])[] = [
    [share('provider', 1_000n), debt(`Liabilities:RefundsDue:${wallet}`, 500n)],
    [share('holders', 700n), debt(`Liabilities:Overpaid:${wallet}`, 5n)],
  ]
  await asRole('tollbook_payout', adminUrl, async (database) => {
    for (const [index, payments] of parts.entries()) {
      const plan = { planId: 'payout_of_the_audited_ledger', part: index + 1, mint: sampleMint, slot: 1_000 }
      const signature = signatureIn(sampleReference())
      await recordPayout(database, { kind: 'DistributionPaid', signature, ...plan, payments }, systemClock.nowMs())
    }
  })
}

const burnCodec = createEventCodec<BurnEvent>(burnEvents)
const burnedBaseUnits = 1_000n

/** A round that burns a part of what is owed for one endpoint. */
export async function burnOwed(adminUrl: string, wallet: PayingWallet): Promise<void> {
  await asRole('tollbook_burner', adminUrl, async (database) => {
    const owed = await sql<{ seq: number; endpoint: string; mint: string }>`
      select e.seq, convert_from(e.body, 'UTF8')::jsonb ->> 'endpoint' as endpoint
      from ledger.events e where e.kind = 'BurnOwed' and convert_from(e.body, 'UTF8')::jsonb ->> 'mint' = ${sampleMint}
      order by e.seq limit 1`.execute(database)
    const { seq: throughPosition, endpoint } = assertPresent(owed.rows[0], 'a burn is owed')
    const parts = [{ endpoint, baseUnits: burnedBaseUnits }]
    const { signature, transactionBase64 } = signedBurn(wallet, { mint: sampleMint, baseUnits: burnedBaseUnits })
    const stream = transactionReference(signature)
    const delegate = { allowanceBaseUnits: 1_000_000_000n, lamports: 50_000n }
    const round = { round: 1, mint: sampleMint, throughPosition, parts, lastValidHeight: 900, delegate }
    const submitted = assertPresent(decideBurnSubmit(unknownBurn, { ...round, transactionBase64 }), 'it is new')
      .events[0]
    await recordBurn(database, submitted, { stream, version: 1 })
    const found = { burnedBaseUnits, slot: 1_200 }
    const confirmed = decideBurnConfirm(evolveBurn(unknownBurn, submitted), found)
    await recordBurn(database, assertPresent(confirmed, 'it is submitted').events[0], { stream, version: 2 })
  })
}

async function recordBurn(database: Database, event: BurnEvent, head: { stream: string; version: number }) {
  const body = burnCodec.encode(event, { ...head, effectiveAtMs: systemClock.nowMs() })
  const { rows } = await sql<{ refusal: string | null }>`
    select refusal from ledger.record_burn(${Buffer.from(body, 'utf8')})`.execute(database)
  assert(rows[0]?.refusal === null, `the burn is not refused as ${rows[0]?.refusal}`)
}

function signatureIn(reference: PaymentReference): Signature {
  return assertPresent(signatureOf(reference), 'a sample payment is a Solana transaction')
}

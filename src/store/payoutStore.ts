import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import { isPayable } from '../accounting/account.ts'
import type { Debt, PayoutPlan } from '../accounting/payoutPlan.ts'
import { createEventCodec } from '../payment/eventCodec.ts'
import { distributionPaid, type DistributionPaid } from '../payment/events/payoutEvents.ts'
import { solanaReference, streamIdOf } from '../payment/paymentReference.ts'
import { type Database, readOrFault } from './database.ts'
import { textOf } from './paymentItem.ts'

/** Debts of the ledger, as of its position. */
export interface Debts {
  readonly position: number
  readonly debts: readonly Debt[]
}

const codec = createEventCodec<DistributionPaid>([distributionPaid])

/**
 * The debts at one position. Overpayments of wallets with a payment that the chain could still drop wait: if it is
 * dropped, they never arrived. Shares of such payments are paid; their loss is ours in any case.
 *
 * Payments that are not final are those of the finality queue, and those of the events that the queue has not followed.
 */
export async function readDebts(database: Database, mint: string): Promise<Debts> {
  const { rows } = await readOrFault('the debts', () =>
    sql<{ seq: number; account: string | null; owed: string | null }>`
      with open as materialized (
        select stream from work.open where queue = 'finality'
        union
        select e.stream from ledger.events e where e.seq > (select upto_seq from work.progress)
      ),
      waiting as materialized (
        select 'Liabilities:Overpaid:' || p.wallet as account
        from ledger.payments p
        where p.stream in (select stream from open) and p.state in ('claimed', 'streaming', 'released', 'exhausted', 'fulfilled')
      )
      select h.seq, a.name as account, -a.balance as owed
      from ledger.head h
      left join ledger.accounts a on a.mint = ${mint} and a.balance < 0 and a.name like 'Liabilities:%'
        and a.name not in (select account from waiting)
      order by a.name`.execute(database),
  )
  const debts = rows.flatMap(({ account, owed }): Debt[] =>
    account === null || owed === null || !isPayable(account) ? [] : [{ account, baseUnits: BigInt(owed) }],
  )
  return { position: assertPresent(rows[0], 'the ledger has a head').seq, debts }
}

/** The part of a plan that a transaction has paid. */
export interface RecordedPayout {
  readonly planId: string
  readonly part: number
}

/** Signatures among these that the ledger has as payouts. */
export async function findRecorded(
  database: Database,
  signatures: readonly Signature[],
): Promise<ReadonlyMap<string, RecordedPayout>> {
  if (signatures.length === 0) return new Map()
  const ids = signatures.map((signature) => Buffer.from(streamIdOf(solanaReference(signature))))
  const rows = await readOrFault('payouts', () =>
    database
      .selectFrom('ledger.streams as stream')
      .innerJoin('ledger.events as event', 'event.seq', 'stream.stream')
      .select('event.body')
      .where('stream.id', 'in', ids)
      .where('stream.kind', '=', 'payout')
      .execute(),
  )
  return new Map(
    rows.map(({ body }) => {
      const { signature, planId, part } = codec.decode(textOf(body)).event
      return [signature, { planId, part }]
    }),
  )
}

/** The parts of a plan that the ledger has. They were recorded after the plan was made. */
export async function findRecordedParts(
  database: Database,
  plan: Pick<PayoutPlan, 'id' | 'position'>,
): Promise<ReadonlySet<number>> {
  assert(plan.position >= 0, 'a plan was made at a position')
  const rows = await readOrFault('payouts', () =>
    database
      .selectFrom('ledger.events')
      .select('body')
      .where('seq', '>', plan.position)
      .where('kind', '=', 'DistributionPaid')
      .execute(),
  )
  const paid = rows.map(({ body }) => codec.decode(textOf(body)).event)
  return new Set(paid.filter(({ planId }) => planId === plan.id).map(({ part }) => part))
}

/** `more_than_owed`: the debt was paid or reversed meanwhile, and nothing was recorded. */
export type PayoutOutcome =
  | { readonly outcome: 'recorded'; readonly position: number; readonly leafHash: string }
  | { readonly outcome: 'more_than_owed' }

/** Recording it again is harmless: the answer is the same. After a lost answer, record it again. */
export async function recordPayout(
  database: Database,
  event: DistributionPaid,
  effectiveAtMs: number,
): Promise<PayoutOutcome> {
  assert(event.payments.length > 0, 'a payout pays a debt')
  const body = codec.encode(event, { stream: solanaReference(event.signature), version: 1, effectiveAtMs })
  const row = await callRecord(database, body)
  if (row?.refusal === 'more_than_owed') return { outcome: 'more_than_owed' }
  assert(row?.refusal === null, `a payout is not refused as ${row?.refusal}`)
  const leaf = assertPresent(row.leaf_hash, 'a recorded payout has a leaf')
  return {
    outcome: 'recorded',
    position: assertPresent(row.seq, 'a recorded payout has a position'),
    leafHash: leaf.toString('hex'),
  }
}

async function callRecord(database: Database, body: string) {
  try {
    const { rows } = await sql<{ refusal: string | null; seq: number | null; leaf_hash: Buffer | null }>`
      select refusal, seq, leaf_hash from ledger.record_payout(${Buffer.from(body, 'utf8')})`.execute(database)
    return rows[0]
  } catch (error) {
    throw new Fault('the ledger did not report whether it took the payout; record it again', {
      cause: error,
      retryable: true,
    })
  }
}

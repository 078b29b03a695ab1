import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { encodeEvent } from '../payment/eventCodec.ts'
import type { DistributionPaid } from '../payment/events.ts'
import type { Signature } from '@tollbook/core/signature'
import { isPayable } from '../accounting/account.ts'
import type { Debt } from '../accounting/payoutPlan.ts'
import { type Database, readOrFault } from './database.ts'

export interface Debts {
  readonly position: number
  readonly debts: readonly Debt[]
}

/**
 * What is owed, as of one position. Overpayments of wallets with a payment that the chain could still drop wait: if it is
 * dropped, they never arrived. Shares of such payments are paid; their loss is ours in any case.
 */
export async function readDebts(database: Database, mint: string): Promise<Debts> {
  const { rows } = await readOrFault('what is owed', () =>
    sql<{ seq: number; account: string | null; owed: string | null }>`
      select h.seq, b.account, -b.balance as owed
      from ledger.head h
      left join ledger.balances b on b.mint = ${mint} and b.balance < 0 and b.account like 'Liabilities:%'
        and not exists (
          select from ledger.payments p
          where p.awaiting_finality and b.account = 'Liabilities:Overpaid:' || p.wallet)
      order by b.account`.execute(database),
  )
  const debts = rows.flatMap(({ account, owed }): Debt[] =>
    account === null || owed === null || !isPayable(account) ? [] : [{ account, baseUnits: BigInt(owed) }],
  )
  return { position: assertPresent(rows[0], 'the ledger has a head').seq, debts }
}

export interface RecordedPayout {
  readonly planId: string
  readonly part: number
}

/** Of these signatures, those that are in the book. */
export async function findRecorded(
  database: Database,
  signatures: readonly Signature[],
): Promise<ReadonlyMap<string, RecordedPayout>> {
  if (signatures.length === 0) return new Map()
  const rows = await readOrFault('payouts', () =>
    database
      .selectFrom('ledger.payouts')
      .select(['signature', 'plan_id', 'part'])
      .where('signature', 'in', [...signatures])
      .execute(),
  )
  return new Map(rows.map(({ signature, plan_id: planId, part }) => [signature, { planId, part }]))
}

/** The parts of a plan that are in the book. */
export async function findRecordedParts(database: Database, planId: string): Promise<ReadonlySet<number>> {
  const rows = await readOrFault('payouts', () =>
    database.selectFrom('ledger.payouts').select('part').where('plan_id', '=', planId).execute(),
  )
  return new Set(rows.map(({ part }) => part))
}

export type PayoutOutcome =
  | { readonly outcome: 'recorded'; readonly position: number; readonly leafHash: string }
  | { readonly outcome: 'more_than_owed' }

/** Recording it again is harmless: the answer is the same. So a lost answer is asked for by recording again. */
export async function recordPayout(
  database: Database,
  event: DistributionPaid,
  effectiveAtMs: number,
): Promise<PayoutOutcome> {
  const body = encodeEvent(event, { stream: `payout:${event.signature}`, version: 1, effectiveAtMs })
  try {
    const { rows } = await sql<{ refusal: string | null; seq: number | null; leaf_hash: Buffer | null }>`
      select refusal, seq, leaf_hash from ledger.record_payout(${Buffer.from(body, 'utf8')})`.execute(database)
    const [row] = rows
    if (row?.refusal === 'more_than_owed') return { outcome: 'more_than_owed' }
    const leaf = assertPresent(row?.leaf_hash, 'a recorded payout has a leaf')
    return {
      outcome: 'recorded',
      position: assertPresent(row?.seq, 'a recorded payout has a position'),
      leafHash: leaf.toString('hex'),
    }
  } catch (error) {
    throw new Fault('the ledger did not say whether it took the payout; record it again', {
      cause: error,
      retryable: true,
    })
  }
}

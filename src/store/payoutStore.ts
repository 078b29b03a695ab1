import { assert, assertPresent } from '@tollbook/core/assert'
import type { Signature } from '@tollbook/core/signature'
import { accounts, isPayable, unmatchedFrom } from '../accounting/account.ts'
import type { Address } from '@tollbook/core/address'
import { divideRoundingDown } from '@tollbook/core/money'
import { priceListName } from '../settings/settings.ts'
import type { PayoutPlan } from '../accounting/payoutPlan.ts'
import type { Debt } from '../accounting/planPayout.ts'
import { createEventCodec } from '../payment/eventCodec.ts'
import { distributionPaid, type DistributionPaid } from '../payment/events/payoutEvents.ts'
import { transactionReference, streamIdOf } from '../payment/paymentReference.ts'
import { type Database, readRows } from './database.ts'
import { textOf } from './paymentItem.ts'
import { recordBody } from './recordBody.ts'

export interface Debts {
  readonly position: number
  readonly debts: readonly Debt[]
  /** Overpayments that have to wait, because the chain could still drop a payment of their wallet. */
  readonly unsettled: readonly Debt[]
  /**
   * Tokens that payouts must leave in the wallet: paid and not yet delivered, owed as burns, or prepaid. Excludes burns
   * whose tokens the treasury has still to deliver. Includes tokens that the treasury delivered ahead.
   */
  readonly heldBaseUnits: bigint
}

const codec = createEventCodec<DistributionPaid>([distributionPaid])

/**
 * Reads the debts at one position. A wallet's overpayments wait while the chain could still drop a payment of this
 * wallet, because a dropped overpayment never arrived. Shares of such payments are paid at once, because the service
 * bears the loss of a dropped payment in any case.
 *
 * Payments are not final while they are in the finality queue, or have events that the queue does not cover yet.
 */
export async function readDebts(database: Database, mint: string): Promise<Debts> {
  const rows = await readRows(database, 'the debts')<DebtRow>`
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
    select h.seq, a.name as account, -a.balance as owed, a.name in (select account from waiting) as is_unsettled
    from ledger.head h
    left join ledger.accounts a on a.mint = ${mint}
      and (a.balance < 0 and a.name like 'Liabilities:%' or a.name = ${accounts.tokensToDeliver})
    order by a.name`
  const all = rows.flatMap(({ account, owed, is_unsettled: isUnsettled }) =>
    account === null || owed === null ? [] : [{ account, baseUnits: BigInt(owed), isUnsettled }],
  )
  const payable = all.filter(({ account }) => isPayable(account))
  const held = all.filter(({ account }) => !isPayable(account) && account !== unmatchedFrom(undefined))
  return {
    position: assertPresent(rows[0], 'the ledger has a head').seq,
    debts: payable.filter(({ isUnsettled }) => !isUnsettled).map(debtOf),
    unsettled: payable.filter(({ isUnsettled }) => isUnsettled).map(debtOf),
    heldBaseUnits: held.reduce((sum, { baseUnits }) => sum + baseUnits, 0n),
  }
}

interface DebtRow {
  readonly seq: number
  readonly account: string | null
  readonly owed: string | null
  readonly is_unsettled: boolean
}

function debtOf({ account, baseUnits }: Debt): Debt {
  return { account, baseUnits }
}

/**
 * Finds the wallets that earlier payouts of this mint have paid. They had a token account at that time. No second
 * account is opened for them, because a wallet keeps the rent of an account that it closes (decision 0045).
 */
export async function findPaidWallets(
  database: Database,
  mint: string,
  wallets: readonly Address[],
): Promise<ReadonlySet<string>> {
  if (wallets.length === 0) return new Set()
  const rows = await readRows(database, 'payouts')<{ wallet: string }>`
    select distinct d.debt ->> 'wallet' as wallet
    from ledger.events e
    cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as said) b
    cross join lateral jsonb_array_elements(b.said -> 'payments') as d (debt)
    where e.kind = 'DistributionPaid' and b.said ->> 'mint' = ${mint} and d.debt ->> 'wallet' = any(${wallets})`
  return new Set(rows.map(({ wallet }) => wallet))
}

/**
 * Returns the default of the smallest payout: a hundredth of the cheapest price on the newest list. A refund of any
 * purchase is then paid even if the token price has moved. 0 if the list has no price in this mint.
 */
export async function readLeastPayout(database: Database, mint: string): Promise<bigint> {
  const rows = await readRows(database, 'the newest price list')<{ cheapest: string | null }>`
    select min((price ->> 'requiredBaseUnits')::numeric)::text as cheapest
    from (
      select convert_from(s.body, 'UTF8')::jsonb as said
      from ledger.settings s
      where s.name = ${priceListName}
      order by s.number desc
      limit 1
    ) newest
    cross join lateral jsonb_array_elements(newest.said -> 'prices') as p (price)
    where price ->> 'mint' = ${mint}`
  return divideRoundingDown(BigInt(rows[0]?.cheapest ?? 0), 100n)
}

export interface RecordedPayout {
  readonly planId: string
  readonly part: number
}

export async function findRecorded(
  database: Database,
  signatures: readonly Signature[],
): Promise<ReadonlyMap<string, RecordedPayout>> {
  if (signatures.length === 0) return new Map()
  const ids = signatures.map((signature) => Buffer.from(streamIdOf(transactionReference(signature))))
  const rows = await readRows(database, 'payouts')<{ body: Buffer }>`
    select e.body
    from ledger.streams s
    join ledger.events e on e.seq = s.stream
    where s.id = any(${ids}::bytea[]) and s.kind = 'payout'`
  return new Map(
    rows.map(({ body }) => {
      const { signature, planId, part } = codec.decode(textOf(body)).event
      return [signature, { planId, part }]
    }),
  )
}

/** Searches only after the plan's position, because no part was recorded earlier. */
export async function findRecordedParts(
  database: Database,
  plan: Pick<PayoutPlan, 'id' | 'position'>,
): Promise<ReadonlySet<number>> {
  assert(plan.position >= 0, 'a plan was made at a position')
  const rows = await readRows(database, 'payouts')<{ body: Buffer }>`
    select body from ledger.events where seq > ${plan.position} and kind = 'DistributionPaid'`
  const paid = rows.map(({ body }) => codec.decode(textOf(body)).event)
  return new Set(paid.filter(({ planId }) => planId === plan.id).map(({ part }) => part))
}

/** `more_than_owed`: the debt was paid or reversed in the meantime, and nothing was recorded. */
export type PayoutOutcome =
  | { readonly outcome: 'recorded'; readonly position: number; readonly leafHash: string }
  | { readonly outcome: 'more_than_owed' }

/** Records a payout. The call is idempotent, so the caller may repeat it after a lost answer. */
export async function recordPayout(
  database: Database,
  event: DistributionPaid,
  effectiveAtMs: number,
): Promise<PayoutOutcome> {
  assert(event.payments.length > 0, 'a payout pays a debt')
  const body = codec.encode(event, { stream: transactionReference(event.signature), version: 1, effectiveAtMs })
  const recording = { call: 'record_payout', role: 'tollbook_payout', whenLost: 'record it again' } as const
  const recorded = await recordBody(database, { ...recording, bodies: [body] })
  if (recorded.refusal === 'more_than_owed') return { outcome: 'more_than_owed' }
  assert(recorded.refusal === undefined, `a payout is not refused as ${recorded.refusal}`)
  return { outcome: 'recorded', position: recorded.position, leafHash: recorded.leafHash }
}

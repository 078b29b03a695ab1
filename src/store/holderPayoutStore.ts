import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { holderPayoutCodec, type HolderPayoutEvent } from '../payment/events.ts'
import { type Database, assertRow, readRows } from './database.ts'
import { textOf } from './paymentItem.ts'
import { recordBody } from './recordBody.ts'

/** A plan for holders that has not ended. No other payout may use the amount of its unpaid parts. */
export interface OpenHolderPayout {
  readonly planId: string
  readonly account: string
  readonly amountBaseUnits: bigint
  readonly paidBaseUnits: bigint
}

/** Reads the open payout of a mint. The database refuses a second one. Undefined if no payout is open. */
export async function readOpenHolderPayout(database: Database, mint: string): Promise<OpenHolderPayout | undefined> {
  const rows = await readRows(database, 'the plan for holders')<{ body: Buffer; paid: string }>`
    select p.body, coalesce((
      select sum((d.debt ->> 'paidBaseUnits')::numeric)
      from ledger.events e
      cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as said) b
      cross join lateral jsonb_array_elements(b.said -> 'payments') as d (debt)
      where e.kind = 'DistributionPaid' and e.seq > p.seq
        and b.said ->> 'planId' = convert_from(p.body, 'UTF8')::jsonb ->> 'planId'), 0)::text as paid
    from ledger.events p
    where p.kind = 'HolderPayoutPlanned' and convert_from(p.body, 'UTF8')::jsonb ->> 'mint' = ${mint}
      and not exists (select from ledger.events e where e.kind = 'HolderPayoutEnded' and e.stream = p.seq)`
  assert(rows.length <= 1, 'at most one plan for holders is open')
  const [row] = rows
  if (row === undefined) return undefined
  const { event } = holderPayoutCodec.decode(textOf(row.body))
  assert(event.kind === 'HolderPayoutPlanned', 'the first event of a plan for holders is its plan')
  const { planId, account, amountBaseUnits } = event
  const paidBaseUnits = BigInt(row.paid)
  assert(paidBaseUnits <= amountBaseUnits, 'a plan pays no more than its amount')
  return { planId, account, amountBaseUnits, paidBaseUnits }
}

const refusals = ['plan_open', 'more_than_owed', 'transaction_unjudged'] as const

/** `transaction_unjudged`: another process has recorded a transaction of the plan that is not in `judged`. */
export type HolderPayoutOutcome = 'recorded' | (typeof refusals)[number]

export interface HolderPayoutRecording {
  readonly effectiveAtMs: number
  /** With an end: all transactions of the plan that are on record, or were judged as unable to land. */
  readonly judged?: readonly Signature[]
}

/** A repeated call returns the same outcome, so an operator can run the command again after a lost answer. */
export async function recordHolderPayout(
  database: Database,
  event: HolderPayoutEvent,
  { effectiveAtMs, judged }: HolderPayoutRecording,
): Promise<HolderPayoutOutcome> {
  const version = event.kind === 'HolderPayoutPlanned' ? 1 : 2
  const body = holderPayoutCodec.encode(event, { stream: `holders:${event.planId}`, version, effectiveAtMs })
  const recording = {
    call: 'record_holder_payout',
    role: 'tollbook_payout',
    whenLost: 'run the command again',
  } as const
  const { refusal } = await recordBody(database, { ...recording, bodies: [body], judged })
  if (refusal === undefined) return 'recorded'
  const outcome = refusals.find((known) => known === refusal)
  if (outcome !== undefined) return outcome
  throw new Fault(`the ledger refused ${event.kind} as ${refusal}`, { retryable: false })
}

export interface PayoutAttempt {
  readonly part: number
  readonly signature: Signature
  readonly lastValidHeight: number
  readonly bytes: Uint8Array
}

export async function readAttempts(database: Database, planId: string): Promise<readonly PayoutAttempt[]> {
  const rows = await readRows(database, 'the transactions of a plan')<AttemptRow>`
    select part, signature, last_valid_height, transaction from work.payout_attempts where plan_id = ${planId} order by part`
  return rows.map(attemptOf)
}

interface AttemptRow {
  readonly part: number
  readonly signature: string
  readonly last_valid_height: number
  readonly transaction: Buffer
}

function attemptOf({ part, signature, last_valid_height: lastValidHeight, transaction: bytes }: AttemptRow) {
  return {
    part,
    signature: assertPresent(readSignature(signature), 'an attempt has a signature'),
    lastValidHeight,
    bytes,
  }
}

export interface UnrecordedAttempt extends PayoutAttempt {
  readonly planId: string
}

/**
 * Reads the last transactions of the parts that the ledger has not recorded, for all plans except plans for holders. A
 * plan for holders reserves the amount that it pays, and stays open while a transaction could land.
 */
export async function readUnrecordedAttempts(database: Database): Promise<readonly UnrecordedAttempt[]> {
  const rows = await readRows(database, 'the transactions that were sent')<AttemptRow & { readonly plan_id: string }>`
    with said as materialized (
      select e.kind, b.said ->> 'planId' as plan_id, (b.said ->> 'part')::integer as part
      from ledger.events e
      cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as said) b
      where e.kind in ('DistributionPaid', 'HolderPayoutPlanned')
    )
    select a.plan_id, a.part, a.signature, a.last_valid_height, a.transaction
    from work.payout_attempts a
    where not exists (select from said s where s.kind = 'DistributionPaid' and s.plan_id = a.plan_id and s.part = a.part)
      and not exists (select from said s where s.kind = 'HolderPayoutPlanned' and s.plan_id = a.plan_id)
    order by a.plan_id, a.part`
  return rows.map((row) => ({ ...attemptOf(row), planId: row.plan_id }))
}

/**
 * Records a transaction before it is sent. False: another process has recorded a transaction for this part since
 * `replaced` was read, or has ended the plan for holders, so the caller must not send this one.
 */
export async function recordAttempt(
  database: Database,
  planId: string,
  { attempt, replaced }: { readonly attempt: PayoutAttempt; readonly replaced: Signature | undefined },
): Promise<boolean> {
  const { part, signature, lastValidHeight, bytes } = attempt
  const { is_recorded: isRecorded } = await assertRow(database, 'the transactions of a plan')<{ is_recorded: boolean }>`
    select work.record_payout_attempt(
      ${planId}, ${part}, ${signature}, ${lastValidHeight}, ${Buffer.from(bytes)}, ${replaced ?? null}
    ) as is_recorded`
  return isRecorded
}

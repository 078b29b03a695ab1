import { isoTime } from '@tollbook/core/clock'
import { burnCodec, paymentCodec } from '../payment/events.ts'
import { type PaymentReference, signatureOfStream, streamIdOf } from '../payment/paymentReference.ts'
import { readPastedReference } from './pastedReference.ts'
import { type Database, readRows } from '../store/database.ts'

export type BurnOfPayment = Readonly<{
  reference: PaymentReference
  /**
   * `inside`: the payer burned in the payment. `undelivered`: the payment contains no burn, and none is owed, because
   * no answer was delivered for it or it was a deposit on a tab. `reversed`: the chain dropped the payment.
   */
  status: 'inside' | 'undelivered' | 'owed' | 'confirmed' | 'reversed'
  baseUnits: string
  /** Null: no round has burned the amount. */
  burn: Readonly<{ round: number; signature: string; slot: number; at: string }> | null
}>

/**
 * Finds the burn of a payment. `text` is a reference or a bare signature. Undefined if the ledger has no such verified
 * payment or debit of a tab.
 */
export async function findBurnOf(database: Database, text: string): Promise<BurnOfPayment | undefined> {
  const reference = readPastedReference(text)
  return reference === undefined ? undefined : readBurnOf(database, reference)
}

async function readBurnOf(database: Database, reference: PaymentReference): Promise<BurnOfPayment | undefined> {
  const events = await readEvents(database, reference)
  const isReversed = events.some(({ kind }) => kind === 'PaymentReversed')
  const answer = (status: BurnOfPayment['status'], baseUnits: bigint, burn: BurnOfPayment['burn'] = null) => {
    return { reference, status, baseUnits: baseUnits.toString(), burn }
  }
  if (events.length === 0) return undefined
  // The charge of a debit in dollars owes no burn in them. The event after it owes the burn in the token.
  const row = events.findLast(({ kind }) => ['TokensBurned', 'TabCaptured', 'BurnOwed'].includes(kind))
  if (row === undefined) return answer(isReversed ? 'reversed' : 'undelivered', 0n)
  const { event } = paymentCodec.decode(row.body.toString('utf8'))
  if (event.kind === 'TokensBurned') return answer(isReversed ? 'reversed' : 'inside', event.burnedBaseUnits)
  if (event.kind !== 'BurnOwed' && event.kind !== 'TabCaptured') return undefined
  const owedBaseUnits = event.kind === 'BurnOwed' ? event.owedBaseUnits : event.burnBaseUnits
  if (isReversed) return answer('reversed', owedBaseUnits)
  const round = await readRound(database, event.mint, row.seq)
  return answer(round === null ? 'owed' : 'confirmed', owedBaseUnits, round)
}

interface EventRow {
  readonly seq: number
  readonly kind: string
  readonly body: Buffer
}

function readEvents(database: Database, reference: PaymentReference): Promise<readonly EventRow[]> {
  const id = Buffer.from(streamIdOf(reference))
  return readRows(database, 'the burn of a payment')<EventRow>`
    select e.seq, e.kind, e.body
    from ledger.streams s
    cross join lateral ledger.read(s.id) e
    where s.id = ${id} and s.kind in ('payment', 'tab_request')
      and e.kind in ('PaymentVerified', 'TabDebited', 'TokensBurned', 'TabCaptured', 'BurnOwed', 'PaymentReversed')
    order by e.seq`
}

/**
 * Returns the confirmed round that burned the debt, or null. A round is recorded after all debts that it burns, so only
 * later events are searched.
 */
async function readRound(database: Database, mint: string, position: number): Promise<BurnOfPayment['burn']> {
  const [confirmed] = await readRows(database, 'the round of a burn')<{ body: Buffer }>`
    select e.body
    from ledger.events e
    cross join lateral (
      select convert_from(s.body, 'UTF8')::jsonb as said from ledger.events s where s.seq = e.stream offset 0
    ) submitted
    where e.kind = 'BurnConfirmed' and e.seq > ${position} and submitted.said ->> 'mint' = ${mint}
      and (submitted.said ->> 'throughPosition')::bigint >= ${position}
    order by e.seq
    limit 1`
  if (confirmed === undefined) return null
  const { event, stream, effectiveAtMs } = burnCodec.decode(confirmed.body.toString('utf8'))
  if (event.kind !== 'BurnConfirmed') return null
  const { round, slot } = event
  return { round, signature: signatureOfStream(stream), slot, at: isoTime(effectiveAtMs) }
}

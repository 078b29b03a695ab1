import type pg from 'pg'
import { assert } from '@tollbook/core/assert'
import { leafHash } from '@tollbook/core/leaf'
import { entriesOf } from '../src/accounting/posting.ts'
import { postingsOf } from '../src/accounting/postingRules.ts'
import { encodeEvent } from '../src/payment/eventCodec.ts'
import type { PaymentEvent } from '../src/payment/events.ts'
import type { PaymentChange } from '../src/payment/paymentLedger.ts'
import { signatureBytes } from '@tollbook/core/signature'

/**
 * The same claim as most people would write it first: one interactive database transaction, one statement a row, the head
 * row locked from the first statement to the commit. The baseline that group commit in one function is measured against.
 */
export async function claimNaively(pool: pg.Pool, change: PaymentChange): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query("select set_config('ledger.writing', 'on', true)")
    const { rows } = await client.query<{ seq: string }>('select seq from ledger.head where one for update')
    const signature = Buffer.from(signatureBytes(change.signature))
    const known = await client.query('select version from ledger.payments where signature = $1', [signature])
    assert(known.rowCount === 0, 'the bench claims each payment once')
    const seqs: number[] = []
    for (const event of change.events) {
      const seq = Number(rows[0]?.seq) + seqs.length + 1
      seqs.push(seq)
      await insertEvent(client, { change, event, seq, version: seqs.length })
    }
    await client.query(
      `insert into ledger.payments (signature, version, state, wallet, endpoint, attempt, lease_until, quote_id, seqs, created_at, updated_at)
       values ($1, $2, 'claimed', 'wallet', '/api/data/weather', 1, now() + interval '1 minute', null, $3, now(), now())`,
      [signature, seqs.length, seqs],
    )
    await client.query('update ledger.head set seq = $1, recorded_at = clock_timestamp() where one', [seqs.at(-1)])
    await client.query('commit')
  } finally {
    client.release()
  }
}

interface Position {
  readonly change: PaymentChange
  readonly event: PaymentEvent
  readonly seq: number
  readonly version: number
}

async function insertEvent(client: pg.PoolClient, { change, event, seq, version }: Position): Promise<void> {
  const header = { stream: change.signature, version, effectiveAtMs: change.nowMs }
  const body = Buffer.from(encodeEvent(event, header), 'utf8')
  const leaf = Buffer.from(leafHash({ position: seq, recordedAtMs: change.nowMs, body }))
  await client.query(
    `insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
     values ($1, $2, $3, $4, 1, to_timestamp($5::numeric / 1000), now(), $6, $7)`,
    [seq, change.signature, version, event.kind, change.nowMs, body, leaf],
  )
  for (const [line, { account, mint, amountBaseUnits }] of entriesOf(postingsOf(event)).entries()) {
    const amount = amountBaseUnits.toString()
    await client.query('insert into ledger.entries (seq, line, account, mint, amount) values ($1, $2, $3, $4, $5)', [
      seq,
      line,
      account,
      mint,
      amount,
    ])
    await client.query(
      `insert into ledger.balances as known (mint, account, balance, entries, upto_seq) values ($1, $2, $3, 1, $4)
       on conflict (mint, account) do update set balance = known.balance + excluded.balance, entries = known.entries + 1, upto_seq = excluded.upto_seq`,
      [mint, account, amount, seq],
    )
  }
}

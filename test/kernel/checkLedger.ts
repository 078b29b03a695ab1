import { leafHash } from '@tollbook/core/leaf'
import type { QueryRunner } from '@tollbook/ledger/database'

/** Each question returns the rows that break it. */
const questions = {
  'positions are gapless up to the head (I22)': `
    select * from (select count(*) as n, min(seq) as first, max(seq) as last, (select seq from ledger.head) as head from ledger.events) x
    where n <> head or coalesce(last, 0) <> head or coalesce(first, 1) <> 1`,
  'the entries of an event sum to zero per mint (I17)': `
    select seq, mint from ledger.entries group by seq, mint having sum(amount) <> 0`,
  'balances are the sums of entries': `
    select a.name from ledger.accounts a
    left join (
      select mint, account, sum(amount) as balance, count(*) as entries, count(*) filter (where amount > 0) as debits
      from ledger.entries group by mint, account
    ) t on t.mint = a.mint and t.account = a.name
    where a.balance <> coalesce(t.balance, 0) or a.entries <> coalesce(t.entries, 0) or a.debit_entries <> coalesce(t.debits, 0)`,
  'no account is beyond its limits': 'select name from ledger.accounts where balance > ceiling or balance < floor',
  'tallies are the sums of entries by the hour': `
    select t.account from ledger.tallies t
    full join (
      select a.id as account, date_trunc('hour', e.effective_at, 'UTC') as hour, sum(n.amount) as amount, sum(sign(n.amount)) as entries
      from ledger.entries n join ledger.events e on e.seq = n.seq join ledger.accounts a on a.mint = n.mint and a.name = n.account
      where a.hourly group by 1, 2
    ) s on s.account = t.account and s.hour = t.hour
    where (t.amount, t.entries) is distinct from (s.amount, s.entries)`,
  'a stream has the events at its positions': `
    select s.stream from ledger.streams s
    where s.version <> (
      select count(*) from unnest(s.seqs) r join ledger.events e on e.seq >= lower(r) and e.seq < upper(r)
      where e.stream = s.stream)`,
  'the events of a stream are numbered without a gap': `
    select stream from ledger.events group by stream having count(*) <> max(version) or count(distinct version) <> count(*)`,
  'each event belongs to a stream': `
    select count(*) from ledger.events having count(*) <> (select coalesce(sum(version), 0) from ledger.streams)`,
}

interface LeafRow {
  readonly seq: number
  readonly recorded_at: Date
  readonly body: Buffer
  readonly leaf_hash: Buffer
}

/** Invariants of the ledger after any test. Returns the violated ones as sentences. */
export async function findBroken(runner: QueryRunner): Promise<readonly string[]> {
  const broken: string[] = []
  for (const [sentence, question] of Object.entries(questions)) {
    const { rows } = await runner.query<Record<string, unknown>>(question)
    if (rows.length > 0) broken.push(`${sentence}: ${JSON.stringify(rows.slice(0, 3))}`)
  }
  const { rows } = await runner.query<LeafRow>(
    'select seq, recorded_at, body, leaf_hash from ledger.events order by seq',
  )
  for (const { seq, recorded_at: recordedAt, body, leaf_hash: stored } of rows) {
    const hash = leafHash({ position: seq, recordedAtMs: recordedAt.getTime(), body })
    if (Buffer.compare(hash, stored) !== 0) broken.push(`the leaf of event ${seq} is not its hash`)
  }
  return broken
}

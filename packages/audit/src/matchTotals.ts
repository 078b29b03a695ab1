import type { DatabaseSource } from './databaseSource.ts'
import { UnreadableBody } from './bodyReader.ts'
import { readEvent } from './auditedEvent.ts'
import { burnKey } from './journal.ts'
import type { Replay } from './replay.ts'

/** Balances, burn statistics, price lists and the head: every small table that can be derived from the events. */
export async function matchTotals(replay: Replay, source: DatabaseSource): Promise<void> {
  await matchBalances(replay, source)
  await matchBurnTotals(replay, source)
  await matchPriceLists(replay, source)
  await matchHead(replay, source)
}

// Accounts of overpaying wallets are the only table here that grows with the book.
const pageRows = 5_000

async function matchBalances({ journal, findings }: Replay, source: DatabaseSource): Promise<void> {
  let last: { readonly mint: string; readonly account: string } = { mint: '', account: '' }
  let matched = 0
  for (;;) {
    const rows = await source.rows<{ mint: string; account: string; balance: string; entries: string; upto: string }>(
      `select mint, account, balance, entries, upto_seq as upto from ledger.balances
       where (mint, account) > ($1, $2) order by mint, account limit ${pageRows}`,
      [last.mint, last.account],
    )
    for (const { mint, account, ...row } of rows) {
      const derived = journal.account(mint, account)
      const position = derived?.uptoPosition ?? Number(row.upto)
      const stated = `balance ${row.balance} of ${row.entries} entries up to ${row.upto}`
      const right = `balance ${derived?.balance ?? 0n} of ${derived?.entries ?? 0} entries up to ${derived?.uptoPosition ?? 0}`
      if (derived !== undefined) matched++
      if (stated !== right) {
        findings.add('balance_differs', {
          position,
          subject: account,
          message: `${stated} is stored, the events give ${right}`,
        })
      }
    }
    const end = rows.at(-1)
    if (end === undefined) break
    last = end
  }
  const accounts = [...journal.accounts()]
  if (matched === accounts.length) return
  const stored = await source.rows<{ mint: string; account: string }>('select mint, account from ledger.balances')
  const known = new Set(stored.map(({ mint, account }) => `${mint} ${account}`))
  for (const { mint, account, balance, uptoPosition } of accounts) {
    if (known.has(`${mint} ${account}`)) continue
    const message = `no balance is stored, the events give ${balance}`
    findings.add('balance_differs', { position: uptoPosition, subject: account, message })
  }
}

interface BurnRow {
  readonly mint: string
  readonly span: string
  readonly starts_ms: string | null
  readonly endpoint: string
  readonly burned: string
  readonly payments: string
}

async function matchBurnTotals({ journal, findings }: Replay, source: DatabaseSource): Promise<void> {
  const rows = await source.rows<BurnRow>(
    `select mint, span, case when span <> 'all' then (extract(epoch from starts_at) * 1000)::bigint end as starts_ms,
       endpoint, burned, payments from ledger.burn_totals`,
  )
  const stored = new Map(
    rows.map(({ starts_ms: startsMs, ...row }) => {
      const key = burnKey({ ...row, startsAtMs: startsMs === null ? undefined : Number(startsMs) })
      return [key, `${row.burned} of ${row.payments} payments`]
    }),
  )
  const derived = journal.burns()
  for (const key of new Set([...stored.keys(), ...derived.keys()])) {
    const totals = derived.get(key)
    const right = totals === undefined ? 'nothing' : `${totals.burned} of ${totals.payments} payments`
    const found = stored.get(key) ?? 'nothing'
    if (found === right) continue
    const message = `${found} is stored, the events give ${right}`
    findings.add('burn_total_differs', { position: undefined, subject: describeSpan(key), message })
  }
}

/** The mint leads, and is the same for all. */
function describeSpan(key: string): string {
  return `burned, ${key.slice(key.indexOf(' ') + 1).trim()}`
}

async function matchPriceLists(replay: Replay, source: DatabaseSource): Promise<void> {
  const { priceLists, findings } = replay
  const rows = await source.rows<{ version: number; seq: string; effective_ms: string; body: Buffer }>(
    `select version, seq, (extract(epoch from effective_at) * 1000)::bigint as effective_ms, body
     from ledger.price_lists order by version`,
  )
  const blame = (position: number | undefined, version: number, message: string): void => {
    findings.add('price_list_differs', { position, subject: `price list ${version}`, message })
  }
  const rowsByVersion = new Map(rows.map((row) => [row.version, row]))
  for (const { version, position, digest } of priceLists) {
    const row = rowsByVersion.get(version)
    rowsByVersion.delete(version)
    if (row === undefined) blame(position, version, 'the event has no row')
    else if (Number(row.seq) !== position) blame(position, version, `the row names position ${row.seq}`)
    else if (replay.digest.of(row.body.toString('latin1')) !== digest)
      blame(position, version, 'the row has another body')
    else if (effectiveAtOf(row.body) !== Number(row.effective_ms)) blame(position, version, 'the row has another time')
  }
  for (const { version, seq } of rowsByVersion.values()) blame(Number(seq), version, 'the row has no event')
}

function effectiveAtOf(body: Buffer): number | undefined {
  try {
    return readEvent(body.toString('latin1')).effectiveAtMs
  } catch (error) {
    if (error instanceof UnreadableBody) return undefined
    throw error
  }
}

async function matchHead({ position, recordedAtMs, findings }: Replay, source: DatabaseSource): Promise<void> {
  const rows = await source.rows<{ seq: string; recorded_ms: string }>(
    'select seq, (extract(epoch from recorded_at) * 1000)::bigint as recorded_ms from ledger.head',
  )
  const [head] = rows
  const stated = Number(head?.seq ?? -1)
  if (rows.length !== 1 || stated !== position) {
    // The first position that is there and should not be, or should be there and is not.
    const message = `the head is at ${head?.seq ?? 'nothing'}, the last event at ${position}`
    findings.add('head_differs', { position: Math.min(stated, position) + 1, subject: 'head', message })
  } else if (position > 0 && Number(head?.recorded_ms) !== recordedAtMs) {
    findings.add('head_differs', { position, subject: 'head', message: 'the head was recorded at another time' })
  }
}

import { classOf } from './accountClass.ts'
import { CopyRow } from './copyRow.ts'
import type { DatabaseSource } from './databaseSource.ts'
import { hourKey, type AccountTotals } from './journal.ts'
import type { AccountRow } from './rawEvent.ts'
import type { Replay } from './replay.ts'

/* Accounts and hourly tallies against what the events give: balances, counts, classes and limits. */

/** A row of `ledger.accounts`. */
export interface StoredAccount extends AccountRow {
  readonly number: number
  readonly class: string
  readonly isHourly: boolean | undefined
  readonly floor: string
  readonly ceiling: string
  readonly balance: string
  readonly debitEntries: number
  readonly creditEntries: number
  readonly uptoPosition: number
  /** When the event at that position was recorded; undefined where there is none. */
  readonly uptoRecordedAtMs: number | undefined
}

// Amounts as text, because a limit may be absent. An append notes its last event in every account that it moved.
const accountsQuery = `select a.id, a.mint, a.name, a.class, a.hourly, coalesce(a.floor::text, '') as floor,
    coalesce(a.ceiling::text, '') as ceiling, a.balance::text as balance, a.debit_entries, a.entries - a.debit_entries,
    a.upto_seq, upto.recorded_at
  from ledger.accounts a
  left join lateral (select e.recorded_at from ledger.events e where e.seq = a.upto_seq offset 0) upto on true
  order by a.id`

/** Accounts by their number, which postings refer to. */
export async function readAccounts(source: DatabaseSource): Promise<ReadonlyMap<number, StoredAccount>> {
  const accounts = new Map<number, StoredAccount>()
  const row = new CopyRow()
  for await (const { bytes, starts, count } of source.copy(accountsQuery)) {
    for (let index = 0; index < count; index++) {
      row.open(bytes, starts[index] ?? 0)
      const account = readAccount(row)
      accounts.set(account.number, account)
    }
  }
  return accounts
}

function readAccount(row: CopyRow): StoredAccount {
  return {
    number: row.int32(),
    mint: row.text() ?? '',
    name: row.text() ?? '',
    class: row.latin1(),
    isHourly: row.boolean(),
    floor: row.latin1(),
    ceiling: row.latin1(),
    balance: row.latin1(),
    debitEntries: row.int64(),
    creditEntries: row.int64(),
    uptoPosition: row.int64(),
    uptoRecordedAtMs: row.timeMs(),
  }
}

/** Compares stored balances and limits with those of the replay, in both directions. */
export function matchAccounts({ journal, findings }: Replay, stored: ReadonlyMap<number, StoredAccount>): void {
  const seen = new Set<AccountTotals>()
  for (const row of stored.values()) {
    const derived = journal.account(row.mint, row.name)
    const differences = [...differingTotals(row, derived), ...differingRules(row, derived)]
    if (derived !== undefined && seen.has(derived)) differences.push('the account has two rows')
    if (derived !== undefined) seen.add(derived)
    if (differences.length === 0) continue
    const position = derived?.uptoPosition ?? (row.uptoPosition || undefined)
    findings.add('account_differs', { position, subject: row.name, message: `the row has ${differences.join('; ')}` })
  }
  for (const totals of journal.accounts()) {
    if (seen.has(totals)) continue
    const message = `no row is stored, and the events give a balance of ${totals.balanceBaseUnits}`
    findings.add('account_differs', { position: totals.uptoPosition, subject: totals.account, message })
  }
}

/** An account that no event moves may have been opened by an append that was refused. */
function differingTotals(row: StoredAccount, derived: AccountTotals | undefined): string[] {
  const {
    balanceBaseUnits: balance = 0n,
    debitEntries = 0,
    creditEntries = 0,
    uptoPosition = 0,
    uptoRecordedAtMs,
  } = derived ?? {}
  const isUptoRight =
    derived === undefined
      ? row.uptoPosition === 0
      : row.uptoPosition >= uptoPosition && row.uptoRecordedAtMs === uptoRecordedAtMs
  return [
    row.balance !== balance.toString() && `balance ${row.balance}, the events give ${balance}`,
    row.debitEntries !== debitEntries && `${row.debitEntries} debits, the events give ${debitEntries}`,
    row.creditEntries !== creditEntries && `${row.creditEntries} credits, the events give ${creditEntries}`,
    !isUptoRight && `its last event at ${row.uptoPosition}, the events give ${uptoPosition}`,
  ].filter((difference) => difference !== false)
}

function differingRules(row: StoredAccount, derived: AccountTotals | undefined): string[] {
  const known = classOf(row.name)
  // Only a stream of a kind that is not known moves an account of a class that is not.
  if (known === undefined && derived !== undefined) return []
  if (known === undefined) return [`the name ${row.name}, which no event gives an account`]
  const [floor, ceiling] = [known.floorBaseUnits?.toString() ?? '', known.ceilingBaseUnits?.toString() ?? '']
  return [
    row.class !== known.class && `the class ${row.class}, not ${known.class}`,
    row.isHourly !== known.isHourly && 'another rule for its tallies',
    row.floor !== floor && `the floor ${row.floor || 'none'}, not ${floor || 'none'}`,
    row.ceiling !== ceiling && `the ceiling ${row.ceiling || 'none'}, not ${ceiling || 'none'}`,
  ].filter((difference) => difference !== false)
}

interface TallyRow {
  readonly account: number
  readonly starts_ms: string | null
  readonly amount: string
  readonly entries: string
}

/** Hours are at most 8,784 a year and mint. */
export async function matchTallies(
  { journal, findings }: Replay,
  source: DatabaseSource,
  accounts: ReadonlyMap<number, AccountRow>,
): Promise<void> {
  const rows = await source.rows<TallyRow>(
    'select account, (extract(epoch from hour) * 1000)::text as starts_ms, amount, entries from ledger.tallies',
  )
  const stored = new Map<string, string>()
  for (const { account, starts_ms: startsAtMs, amount, entries } of rows) {
    const { mint, name } = accounts.get(account) ?? { mint: '', name: `number ${account}` }
    if (classOf(name) === undefined && journal.account(mint, name) !== undefined) continue
    const key = hourKey({ mint, account: name, startsAtMs: Number(startsAtMs ?? Number.NaN) })
    if (stored.has(key)) findings.add('tally_differs', { ...subjectOf(key), message: 'the hour has two rows' })
    stored.set(key, `${amount} of ${entries} entries`)
  }
  const derived = journal.hours()
  for (const key of new Set([...stored.keys(), ...derived.keys()])) {
    const totals = derived.get(key)
    const right = totals === undefined ? 'nothing' : `${totals.amountBaseUnits} of ${totals.entries} entries`
    const found = stored.get(key) ?? 'nothing'
    if (found === right) continue
    findings.add('tally_differs', { ...subjectOf(key), message: `${found} is stored, the events give ${right}` })
  }
}

function subjectOf(key: string): { readonly position: undefined; readonly subject: string } {
  const [account, startsAtMs] = key.split(' ').slice(-2)
  const hour = new Date(Number(startsAtMs))
  // No calendar has an hour that far away.
  const hourText = Number.isNaN(hour.getTime()) ? startsAtMs : hour.toISOString()
  return { position: undefined, subject: `${account} in the hour ${hourText}` }
}

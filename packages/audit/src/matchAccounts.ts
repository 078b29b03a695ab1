import { classOf } from './accountClass.ts'
import type { AuditState, StateRow } from './auditState.ts'
import { readRows } from './copyRow.ts'
import type { DatabaseSource } from './databaseSource.ts'
import { idOf } from './postingReplay.ts'
import type { AccountRow } from './rawEvent.ts'
import type { Replay } from './replay.ts'

/*
 * Compares the stored accounts and hourly tallies with the totals of the replay: balances, counts, classes and limits.
 */

// Read limits and balances as text, as the replay stores them. A limit of null becomes ''. `upto_seq` is the position
// of the last event that moved the account.
const accountsQuery = `select a.id, a.mint, a.name, a.class, a.hourly, coalesce(a.floor::text, '') as floor,
    coalesce(a.ceiling::text, '') as ceiling, a.balance::text as balance, a.debit_entries, a.entries - a.debit_entries,
    a.upto_seq, upto.recorded_at
  from ledger.accounts a
  left join lateral (select e.recorded_at from ledger.events e where e.seq = a.upto_seq offset 0) upto on true
  order by a.id`

const rules = ['class', 'isHourly', 'floor', 'ceiling']
const sums = ['balance', 'debits', 'credits', 'upto', 'uptoRecordedAtMs']

export type AccountsByNumber = (number: number) => AccountRow | undefined

// Maximum of cached accounts. It is bounded, because a ledger may have as many accounts as wallets.
const recentMax = 10_000

/**
 * Stores the accounts for `matchAccounts`. Returns a function that finds an account by its number, because postings
 * contain only the number.
 */
export async function readAccounts(state: AuditState, source: DatabaseSource): Promise<AccountsByNumber> {
  const add = state.found('foundAccounts', ['number', 'id', 'mint', 'name', ...rules, ...sums])
  await readRows(source.copy(accountsQuery), (row) => {
    const [number, mint, name] = [row.int32(), row.text() ?? '', row.text() ?? '']
    const [className, isHourly] = [row.latin1(), row.boolean()]
    const limits = [className, isHourly === undefined ? null : Number(isHourly), row.latin1(), row.latin1()]
    const totals = [row.latin1(), row.int64(), row.int64(), row.int64(), row.timeMs() ?? null]
    add(number, idOf(mint, name), mint, name, ...limits, ...totals)
  })
  state.execute('create index temp.accountsByNumber on foundAccounts (number)')
  const find = state.prepare('select mint, name from temp.foundAccounts where number = ?')
  const recent = new Map<number, AccountRow | undefined>()
  return (number) => {
    if (recent.has(number)) return recent.get(number)
    const found = find(number)
    const account = found === undefined ? undefined : { mint: String(found['mint']), name: String(found['name']) }
    if (recent.size >= recentMax) recent.clear()
    recent.set(number, account)
    return account
  }
}

export function matchAccounts({ state, findings }: Replay): void {
  state.execute('create index temp.accountsById on foundAccounts (id)')
  const pairs = state.select(`
    select f.*, a.account, a.balanceBaseUnits, a.debitEntries, a.creditEntries, a.uptoPosition,
      a.uptoRecordedAtMs as rightRecordedAtMs,
      exists (select 1 from temp.foundAccounts o where o.id = f.id and o.number < f.number) as hasRow
    from main.accounts a full join temp.foundAccounts f on f.id = a.id`)
  for (const row of pairs) {
    const [found, derived, upto] = [row['name'], row['account'], Number(row['uptoPosition'] ?? row['upto'])]
    const differences =
      found === null ? ['nothing: no row is stored'] : [...differingTotals(row), ...differingRules(row)]
    if (row['hasRow'] === 1) differences.push('the account has two rows')
    if (differences.length === 0) continue
    const message = `the row has ${differences.join('; ')}`
    const subject = String(derived ?? found)
    findings.add('account_differs', { position: upto === 0 ? undefined : upto, subject, message })
  }
}

/** Returns the totals of a row that differ from the replay. An account from a refused append has zero totals. */
function differingTotals(row: StateRow): string[] {
  const isMoved = row['account'] !== null
  const right = [row['balanceBaseUnits'] ?? '0', row['debitEntries'] ?? 0, row['creditEntries'] ?? 0]
  const [upto, uptoPosition] = [Number(row['upto']), Number(row['uptoPosition'] ?? 0)]
  const isUptoRight = isMoved
    ? upto >= uptoPosition && row['uptoRecordedAtMs'] === row['rightRecordedAtMs']
    : upto === 0
  return [
    ...['balance', 'debits', 'credits'].map((column, index) => {
      return row[column] !== right[index] && `${column} ${String(row[column])}, the events give ${String(right[index])}`
    }),
    !isUptoRight && `its last event at ${upto}, the events give ${uptoPosition}`,
  ].filter((difference) => difference !== false)
}

function differingRules(row: StateRow): string[] {
  const known = classOf(String(row['name']))
  // Accept an account of an unknown class if an event moves it, because its stream then has an unknown kind too.
  if (known === undefined) return row['account'] === null ? ['a name that no event gives an account'] : []
  const right = {
    class: known.class,
    isHourly: Number(known.isHourly),
    floor: known.floor ?? '',
    ceiling: known.ceiling ?? '',
  }
  return Object.entries(right)
    .filter(([column, value]) => row[column] !== value)
    .map(([column, value]) => `${column} ${String(row[column]) || 'none'}, not ${value || 'none'}`)
}

const talliesQuery = 'select account, hour, amount::text, entries::text from ledger.tallies'
const derivedHour = `h.amountBaseUnits || ' of ' || cast(h.entries as integer)`

/** Compares the hourly tallies with the replay. Every tab may have a row for every hour, so the rows stay on disk. */
export async function matchTallies(
  { state, postings, findings }: Replay,
  source: DatabaseSource,
  accounts: AccountsByNumber,
): Promise<void> {
  const add = state.found('foundTallies', ['id', 'content'])
  const isJudged = ({ mint, name }: AccountRow): boolean => classOf(name) !== undefined || !postings.has(mint, name)
  await readRows(source.copy(talliesQuery), (row) => {
    const number = row.int32()
    const own = accounts(number) ?? { mint: '', name: `number ${number}` }
    const [startsAtMs = Number.NaN, amount, entries] = [row.timeMs(), row.latin1(), row.latin1()]
    if (isJudged(own)) add(`${idOf(own.mint, own.name)} ${startsAtMs}`, `${amount} of ${entries}`)
  })
  state.execute('create index temp.talliesById on foundTallies (id)')
  const pairs = state.select(`
    select coalesce(h.id, f.id) as id, f.content as found, ${derivedHour} as right,
      exists (select 1 from temp.foundTallies o where o.id = f.id and o.rowid < f.rowid) as hasRow
    from main.hours h full join temp.foundTallies f on f.id = h.id
    where found is not ${derivedHour} or hasRow`)
  for (const { id, found, right, hasRow } of pairs) {
    const [stored, derived] = [found, right].map((content) =>
      content === null ? 'nothing' : `${String(content)} entries`,
    )
    const message = hasRow === 1 ? 'the hour has two rows' : `${stored} is stored, the events give ${derived}`
    findings.add('tally_differs', { ...subjectOf(String(id)), message })
  }
}

function subjectOf(key: string): { readonly position: undefined; readonly subject: string } {
  const [account, startsAtMs] = key.split(' ').slice(-2)
  const hour = new Date(Number(startsAtMs))
  // A stored time may be invalid, and `toISOString` would throw then.
  const hourText = Number.isNaN(hour.getTime()) ? startsAtMs : hour.toISOString()
  return { position: undefined, subject: `${account} in the hour ${hourText}` }
}

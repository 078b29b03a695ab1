import { type RawBuilder, sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { type Chunk, type EntryRow, entryPages } from './exportRows.ts'
import { tokenPrices } from '../dayPrice.ts'
import { readLedgerMints } from '../../store/ledgerMints.ts'
import type { ExportScope } from './exportScope.ts'
import { journalAccount, type JournalFormat } from './journalAccount.ts'
import { type Decimals, decimalsOf } from './table.ts'
import type { Database } from '../../store/database.ts'

/**
 * Plain-text accounting. Each event with entries becomes a transaction in tokens. A file that starts at position 1 ends
 * with an assertion of every account's balance, so that beancount and hledger verify the sums themselves.
 */

interface Journal {
  readonly format: JournalFormat
  readonly decimals: Decimals
  readonly commodity: (mint: string) => string
  readonly mints: readonly string[]
}

const dayMs = 24 * 60 * 60 * 1000

export async function journalChunks(
  snapshot: Database,
  scope: ExportScope,
  format: JournalFormat,
): Promise<AsyncIterable<Chunk>> {
  const known = await readLedgerMints(snapshot)
  const names = new Map(known.map(({ mint, name }) => [mint, name]))
  const commodity = (mint: string) => assertPresent(names.get(mint), `the ledger has an account in ${mint}`)
  const mints = known.map(({ mint }) => mint)
  return write(snapshot, scope, { format, decimals: decimalsOf(known), commodity, mints })
}

async function* write(snapshot: Database, scope: ExportScope, journal: Journal): AsyncGenerator<Chunk> {
  const before = scope.fromPosition - 1
  yield { chunk: headText(scope, journal), upto: before }
  yield { chunk: await pricesText(snapshot, scope, journal), upto: before }
  // Declare accounts for hledger, because its strict mode requires declarations. beancount opens accounts at their
  // first use.
  if (journal.format === 'hledger') {
    for await (const names of accountPages(snapshot))
      yield { chunk: names.map((name) => `account ${journalAccount(name, journal.format)}\n`).join(''), upto: before }
    yield { chunk: '\n', upto: before }
  }
  let lastMs = 0
  for await (const { rows, upto } of entryPages(snapshot, scope)) {
    for (const { effectiveAtMs } of rows) lastMs = Math.max(lastMs, effectiveAtMs)
    const events = Map.groupBy(rows, ({ position }) => position)
    yield { chunk: [...events.values()].map((entries) => eventText(entries, journal)).join(''), upto }
  }
  // Assert balances only if the export starts at position 1. Otherwise the export lacks the balances before its start.
  if (scope.fromPosition > 1 || lastMs === 0) return
  // Beancount checks a balance at the start of its day, so assert it on the day after the last entry.
  const day = dayOf(lastMs + dayMs)
  if (journal.format === 'hledger')
    yield { chunk: `${day} * balances after position ${scope.toPosition}\n`, upto: scope.toPosition }
  for await (const balances of closingBalances(snapshot, scope)) {
    const lines = balances.map((balance) => `${balanceText(balance, { ...journal, day })}\n`)
    yield { chunk: lines.join(''), upto: scope.toPosition }
  }
}

function headText(scope: ExportScope, { format, mints, decimals, commodity }: Journal) {
  const lines = [
    `; Tollbook ledger, positions ${scope.fromPosition} to ${scope.toPosition}`,
    `; tree size ${scope.treeSize}, root ${scope.root}`,
    ...(scope.checkpoint?.split('\n').map((line) => `; ${line}`) ?? []),
    '',
    // Let beancount open accounts at their first use, because each wallet may have an account.
    ...(format === 'beancount' ? ['option "title" "Tollbook"', 'plugin "beancount.plugins.auto_accounts"', ''] : []),
    ...mints.flatMap((mint) => commodityLines(format, { mint, name: commodity(mint), decimals: decimals(mint) })),
    '',
  ]
  return `${lines.join('\n')}\n`
}

/** Writes the price of each day, so that the reader can value balances: `hledger bal -X USD`. */
async function pricesText(
  snapshot: Database,
  { isValued }: ExportScope,
  { format, mints, decimals, commodity }: Journal,
): Promise<string> {
  if (!isValued) return '; no prices: the reports have not reached the end of this export\n\n'
  const lines = format === 'hledger' ? ['commodity 1.000000 USD'] : []
  for (const mint of mints)
    for (const { day, usd } of await tokenPrices(snapshot, { mint, decimals: decimals(mint) }))
      lines.push(
        format === 'hledger' ? `P ${day} ${commodity(mint)} ${usd} USD` : `${day} price ${commodity(mint)} ${usd} USD`,
      )
  return `${lines.join('\n')}\n\n`
}

function commodityLines(
  format: JournalFormat,
  { mint, name, decimals }: { readonly mint: string; readonly name: string; readonly decimals: number },
): readonly string[] {
  if (format === 'hledger')
    return [`commodity ${decimals === 0 ? '1.' : `1.${'0'.repeat(decimals)}`} ${name}  ; mint: ${mint}`]
  return [`1970-01-01 commodity ${name}`, `  mint: "${mint}"`, `  decimals: ${decimals}`]
}

function eventText(entries: readonly EntryRow[], journal: Journal): string {
  const [first] = entries
  if (first === undefined) return ''
  const { position, kind, stream, effectiveAtMs, recordedAtMs } = first
  const day = dayOf(effectiveAtMs)
  const head =
    journal.format === 'beancount'
      ? [`${day} * "${kind}" ^${linkName(stream)}`, `  position: ${position}`, `  recorded: "${isoTime(recordedAtMs)}"`]
      : [`${day} * (${position}) ${kind}  ; payment: ${stream}`, `    ; recorded: ${isoTime(recordedAtMs)}`]
  const lines = entries.map(
    (entry) => `    ${journalAccount(entry.account, journal.format)}  ${amountText(entry, journal)}`,
  )
  return `${[...head, ...lines].join('\n')}\n\n`
}

/**
 * Returns the link of a payment. Colons become dashes, because a link of beancount cannot contain the colons of a
 * reference.
 */
function linkName(stream: string): string {
  return stream.replaceAll(':', '-')
}

function amountText(entry: Pick<EntryRow, 'mint' | 'amountBaseUnits'>, { decimals, commodity }: Journal): string {
  return `${allDecimals(entry.amountBaseUnits, decimals(entry.mint))} ${commodity(entry.mint)}`
}

/** Writes all decimals, because beancount tolerates a difference of half a unit of the last written decimal. */
function allDecimals(amountBaseUnits: bigint, decimals: number): string {
  const digits = (amountBaseUnits < 0n ? -amountBaseUnits : amountBaseUnits).toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
  return amountBaseUnits < 0n ? `-${text}` : text
}

interface Balance {
  readonly account: string
  readonly mint: string
  readonly sum: string
}

// Rows per page. The balances are read by page, because each wallet that overpaid has its own account.
const pageRows = 1_000

async function* accountPages(snapshot: Database): AsyncGenerator<readonly string[]> {
  const names = sql`select distinct name from ledger.accounts where name not like 'Memo:%' order by name`
  for await (const rows of pages<{ name: string }>(snapshot, { cursor: 'accounts', query: names }))
    yield rows.map(({ name }) => name)
}

/**
 * Sums the entries up to the end of the export. The balances in ledger.accounts include later entries, so they cannot
 * be used.
 */
function closingBalances(snapshot: Database, { toPosition }: ExportScope): AsyncGenerator<readonly Balance[]> {
  const query = sql`
    select account, mint, sum(amount)::text as sum
    from ledger.entries
    where seq <= ${sql.lit(toPosition)} and account not like 'Memo:%'
    group by account, mint
    order by account, mint`
  return pages<Balance>(snapshot, { cursor: 'closing', query })
}

interface Paged {
  readonly cursor: string
  readonly query: RawBuilder<unknown>
}

/** Reads with a cursor, because one answer would hold a row for each wallet in memory. */
async function* pages<Row>(snapshot: Database, { cursor, query }: Paged): AsyncGenerator<readonly Row[]> {
  await sql`declare ${sql.id(cursor)} no scroll cursor for ${query}`.execute(snapshot)
  for (let isMore = true; isMore;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(pageRows)} from ${sql.id(cursor)}`.execute(snapshot)
    yield rows
    isMore = rows.length === pageRows
  }
  await sql`close ${sql.id(cursor)}`.execute(snapshot)
}

function balanceText({ account, mint, sum }: Balance, journal: Journal & { readonly day: string }): string {
  const { day, format } = journal
  const amount = amountText({ mint, amountBaseUnits: BigInt(sum) }, journal)
  const name = journalAccount(account, format)
  return format === 'beancount'
    ? `${day} balance ${name}  ${amount}`
    : `    ${name}  0 ${journal.commodity(mint)} = ${amount}`
}

function dayOf(ms: number): string {
  return isoTime(ms).slice(0, 10)
}

import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { assert, assertPresent } from '@tollbook/core/assert'
import { decideRelease } from '../../src/payment/attempt.ts'
import { exportFormats, exportLedger, type ExportQuestion } from '../../src/reports/export/exportLedger.ts'
import { readBound } from '../../src/reports/export/exportRange.ts'
import type { ExportScope } from '../../src/reports/export/exportScope.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { readCheckpoint, signCheckpoint, verifierKeyText } from '@tollbook/core/checkpoint'
import { ed25519Signer } from '@tollbook/core/ed25519'
import type { TreeHead } from '@tollbook/core/merkle'
import { rollUp } from '../../src/reports/rollUp.ts'
import { rootAt, sealNext } from '../../src/store/sealer.ts'
import { readCsv } from './readCsv.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { mustAppend, openInstance, openSessions } from '../store/instance.ts'
import { tamper } from '../store/tamper.ts'
import { claimOf, fulfilmentOf, samplePrice, sampleSettlement } from '../store/samplePayment.ts'
import { recordEveryOutcome } from './everyOutcome.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const admin = openSessions(adminUrl)
const ledger = await openInstance(serviceUrl)
const signer = ed25519Signer(makeReceiptKey())
const verifierKey = verifierKeyText({ name: 'tollbook/exported', publicKey: signer.publicKey })
const injected = '=HYPERLINK("http://evil.example","free")'
let claimed: number

beforeAll(async () => {
  await recordEveryOutcome(ledger, admin)
  const sign = (tree: TreeHead) => signCheckpoint({ origin: 'tollbook/exported', ...tree }, signer)
  while ((await sealNext({ ...ledger, sign })).sealedEvents > 0);
  // A name that a spreadsheet would run, where callers choose the text.
  const settlement = sampleSettlement({
    price: samplePrice(injected),
    quoteId: '@SUM(A1)',
    receivedBaseUnits: 7_000_011n,
  })
  const claim = claimOf(settlement)
  const { after, leaves } = await mustAppend(ledger, claim.change)
  claimed = leaves.at(-1)?.position ?? 0
  await mustAppend(ledger, fulfilmentOf(settlement, { before: after, attemptId: claim.attemptId }))
  while ((await sealNext({ ...ledger, sign })).sealedEvents > 0);
})

interface Exported {
  readonly bytes: Buffer
  readonly text: string
  readonly scope: ExportScope
}

async function exported(
  given: Partial<ExportQuestion> & Pick<ExportQuestion, 'format'>,
  source = ledger,
): Promise<Exported> {
  const chunks: Buffer[] = []
  const scope = await exportLedger(source.database, {
    table: 'entries',
    from: undefined,
    to: undefined,
    verifierKey,
    signal: new AbortController().signal,
    write: async (chunk) => void chunks.push(Buffer.from(chunk)),
    ...given,
  })
  const bytes = Buffer.concat(chunks)
  return { bytes, text: bytes.toString('utf8'), scope }
}

function at(position: number) {
  return { kind: 'position', position } as const
}

describe('a csv', () => {
  test('of entries has every entry, debits and credits that add up, and no figure with a sign', async () => {
    const { text } = await exported({ format: 'csv' })
    const rows = readCsv(text)
    const { rows: stored } = await admin.query(
      `select seq, line, account, amount from ledger.entries where account not like 'Memo:%' order by seq, line`,
    )
    expect(
      rows.map((row) => ({
        seq: Number(row['position']),
        line: Number(row['line']),
        account: row['account'],
        amount: row['debit_base_units'] === '' ? `-${row['credit_base_units']}` : row['debit_base_units'],
      })),
    ).toEqual(stored.map((row) => ({ ...row, seq: Number(row.seq) })))
    expect(rows.every((row) => (row['debit_tokens'] === '') !== (row['credit_tokens'] === ''))).toBe(true)
  })

  test('has no cell that a spreadsheet would run, whatever a caller has chosen', async () => {
    const { text } = await exported({ format: 'csv', table: 'payments' })
    const rows = readCsv(text)
    expect(rows.flatMap((row) => Object.values(row)).filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([])
    expect(rows.at(-1)).toMatchObject({ endpoint: `'${injected}`, quote: "'@SUM(A1)", state: 'fulfilled' })
  })

  test('ties each row to the root of the tree it ends at', async () => {
    const { text, scope } = await exported({ format: 'csv', to: at(50) })
    const root = Buffer.from(await rootAt(ledger.database, 50)).toString('base64')
    expect(scope).toMatchObject({ treeSize: 50, root })
    const ties = new Set(readCsv(text).map((row) => `${row['tree_size']} ${row['tree_root']}`))
    expect([...ties]).toEqual([`50 sha256:${root}`])
  })

  test('has the newest checkpoint that its own tree contains', async () => {
    const checkpointOf = async (given: Partial<ExportQuestion>) =>
      readCheckpoint((await exported({ format: 'csv', ...given })).scope.checkpoint ?? '')?.size
    const { rows } = await admin.query<{ size: number }>('select size::int from ledger.checkpoints order by size desc')
    const [newest, earlier] = rows
    expect(await checkpointOf({})).toBe(newest?.size)
    expect(await checkpointOf({ to: at(claimed) })).toBe(earlier?.size)
    expect(await checkpointOf({ to: at((rows.at(-1)?.size ?? 0) - 1) })).toBeUndefined()
  })

  test('of payments has the burned and the owed tokens of the ledger, and nothing that the chain dropped', async () => {
    const rows = readCsv((await exported({ format: 'csv', table: 'payments' })).text)
    const sumOf = (column: string) => rows.reduce((sum, row) => sum + BigInt(row[column] ?? ''), 0n)
    const { rows: stored } = await admin.query<{ account: string; sum: string }>(
      `select split_part(name, ':', 2) as account, sum(balance)::text as sum from ledger.accounts group by 1`,
    )
    const balanceOf = (account: string) => BigInt(stored.find((row) => row.account === account)?.sum ?? 0)
    // One burn of 1,000,000 was confirmed afterwards.
    expect(sumOf('burned_base_units')).toBe(balanceOf('Burned') - 1_000_000n)
    expect(sumOf('burn_owed_base_units')).toBe(-balanceOf('BurnOwed') + 1_000_000n)
    expect(rows.filter(({ state }) => state === 'reversed').map((row) => row['received_base_units'])).toContain('0')
  })

  test('of payments says how each stood at the end of the range, not how it stands now', async () => {
    const [then, now] = [
      readCsv((await exported({ format: 'csv', table: 'payments', to: at(claimed) })).text).at(-1),
      readCsv((await exported({ format: 'csv', table: 'payments' })).text).at(-1),
    ]
    expect(then).toMatchObject({ state: 'claimed', attempts: '1', fulfilled_position: '', provider_base_units: '0' })
    expect(now).toMatchObject({
      state: 'fulfilled',
      fulfilled_position: String(claimed + 1),
      provider_base_units: '5000000',
    })
  })
})

describe('a range', () => {
  test('of positions has these and no others', async () => {
    const { text } = await exported({ format: 'csv', table: 'events', from: at(7), to: at(11) })
    expect(readCsv(text).map((row) => Number(row['position']))).toEqual([7, 8, 9, 10, 11])
  })

  test('of moments has what was recorded from the first and before the last', async () => {
    const { rows } = await admin.query('select seq::int, recorded_at from ledger.events order by seq')
    const [from, to] = [rows[20], rows[60]]
    const moment = (row: { recorded_at: Date }) => ({ kind: 'moment', ms: row.recorded_at.getTime() }) as const
    const { text } = await exported({ format: 'csv', table: 'events', from: moment(from), to: moment(to) })
    const expected = rows.filter((row) => row.recorded_at >= from.recorded_at && row.recorded_at < to.recorded_at)
    expect(readCsv(text).map((row) => Number(row['position']))).toEqual(expected.map((row) => row.seq))
  })

  test('may be written as a position, a day that is in it, or a moment; anything else is none', () => {
    expect(readBound('42', 'from')).toEqual(at(42))
    expect(readBound('2026-11-21', 'from')).toEqual({ kind: 'moment', ms: Date.UTC(2026, 10, 21) })
    expect(readBound('2026-11-21', 'to')).toEqual({ kind: 'moment', ms: Date.UTC(2026, 10, 22) })
    expect(readBound('2026-11-21T10:00+02:00', 'to')).toEqual({ kind: 'moment', ms: Date.UTC(2026, 10, 21, 8) })
    for (const text of [
      '0',
      '-1',
      '1.5',
      'yesterday',
      '2026-13-01',
      '2026-02-30',
      '2026-06-31T10:00Z',
      '21.11.2026',
      '',
    ]) {
      expect(readBound(text, 'from'), text).toBeUndefined()
    }
  })

  test.each(exportFormats)(
    'that is empty, of one event or beyond the head is written as %s with just what it has',
    async (format) => {
      const head = (await exported({ format })).scope.toPosition
      for (const [from, to, rows] of [
        [head + 1, undefined, 0],
        [2, 2, 1],
        [head, head + 100, 1],
      ] as const) {
        const question = { format, table: 'events', from: at(from), to: to === undefined ? undefined : at(to) } as const
        const { bytes, text, scope } = await exported(question)
        expect(scope).toMatchObject({ fromPosition: from, toPosition: Math.min(to ?? head, head) })
        if (format === 'csv') expect(readCsv(text)).toHaveLength(rows)
        if (format === 'jsonl') expect(text.trimEnd().split('\n')).toHaveLength(rows + 2)
        if (format === 'parquet') expect(await readParquet(bytes)).toHaveLength(rows)
      }
      await expect(exported({ format, from: at(head + 2) })).rejects.toThrow('the range is empty')
    },
  )

  test.each(exportFormats)('of a ledger without an event is written as %s', async (format) => {
    const { serviceUrl: emptyUrl } = await createTestDatabase()
    const { text, bytes, scope } = await exported({ format }, await openInstance(emptyUrl))
    expect(scope).toMatchObject({ fromPosition: 1, toPosition: 0, treeSize: 0 })
    if (format === 'parquet') expect(await readParquet(bytes)).toEqual([])
    else expect(text).not.toBe('')
  })

  test('that begins behind its end is refused', async () => {
    await expect(exported({ format: 'csv', from: at(40), to: at(20) })).rejects.toThrow('the range is empty')
  })
})

function arrayBufferOf(bytes: Buffer): ArrayBuffer {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  assert(file instanceof ArrayBuffer, 'a Buffer of ours is not shared')
  return file
}

async function readParquet(bytes: Buffer) {
  return parquetReadObjects({ file: arrayBufferOf(bytes) })
}

test('a parquet file has the rows of the csv, and the tree and its checkpoint in its metadata', async () => {
  const { bytes, scope } = await exported({ format: 'parquet' })
  const csv = readCsv((await exported({ format: 'csv' })).text)
  const rows = await readParquet(bytes)
  expect(rows).toHaveLength(csv.length)
  for (const [index, row] of rows.entries()) {
    expect(String(row['position'])).toBe(csv[index]?.['position'])
    expect(row['account']).toBe(csv[index]?.['account'])
    expect(String(row['debit_base_units'] ?? '')).toBe(csv[index]?.['debit_base_units'])
    expect(row['recorded_at']).toEqual(new Date(csv[index]?.['recorded_at'] ?? ''))
  }
  const metadata = new Map(
    parquetMetadata(arrayBufferOf(bytes)).key_value_metadata?.map(({ key, value }) => [key, value]),
  )
  expect(metadata.get('tollbook.tree_root')).toBe(`sha256:${scope.root}`)
  expect(metadata.get('tollbook.checkpoint')).toBe(scope.checkpoint)
})

describe.each(['beancount', 'hledger'] as const)('a %s journal', (format) => {
  const closing =
    format === 'beancount' ? /^\S+ balance (\S+) {2}(-?[\d.]+) TOKEN$/gm : /^ {4}(\S+) {2}0 TOKEN = (-?[\d.]+) TOKEN$/gm
  const balancesOf = (text: string) =>
    new Map([...text.matchAll(closing)].map(([, account = '', amount = '']) => [account, unitsOf(amount)]))

  test('of a part asserts the balances at the end of the part, after its last day, or none if it begins later', async () => {
    const { text } = await exported({ format, to: at(50) })
    const sums = new Map<string, bigint>()
    const postings = format === 'beancount' ? text : text.replace(/^\S+ \* balances[^]*/m, '')
    for (const [, account = '', amount = ''] of postings.matchAll(/^ {4}([A-Z]\S+) {2}(-?[\d.]+) TOKEN$/gm))
      sums.set(account, (sums.get(account) ?? 0n) + unitsOf(amount))
    expect(sums.size).toBeGreaterThan(3)
    expect(balancesOf(text)).toEqual(sums)
    const days = (journal: string, form: RegExp) => [...journal.matchAll(form)].map(([, day = '']) => day).toSorted()
    const { text: whole } = await exported({ format })
    const closed = days(whole, /^(\S+) (?:balance|\* balances) /gm)
    expect(
      days(whole, /^(\d{4}-\d\d-\d\d) \* (?!balances)/gm)
        .at(-1)
        ?.localeCompare(closed[0] ?? ''),
    ).toBe(-1)
    const { text: later } = await exported({ format, from: at(2) })
    expect([...balancesOf(later)]).toEqual([])
  })

  test('has balanced transactions only, and ends by asserting the balances of the ledger', async () => {
    const { text, scope } = await exported({ format })
    expect(text).toContain(`; tree size ${scope.treeSize}, root ${scope.root}`)
    const transactions = text
      .split('\n\n')
      .filter((block) => /^\d{4}-\d\d-\d\d \* .*(Payment|Burn|Distribution|RefundDue|TransferReceived)/.test(block))
    const sums = new Map<string, bigint>()
    for (const block of transactions) {
      const postings = [...block.matchAll(/^ {4}([A-Z]\S+) {2}(-?[\d.]+) TOKEN$/gm)]
      const amounts = postings.map(([, account = '', amount = '']) => ({ account, units: unitsOf(amount) }))
      expect(amounts.reduce((sum, { units }) => sum + units, 0n)).toBe(0n)
      for (const { account, units } of amounts) sums.set(account, (sums.get(account) ?? 0n) + units)
    }
    expect(balancesOf(text)).toEqual(sums)
    const kinds = [...sums.keys()].map((account) => account.split(':').slice(0, 2).join(':'))
    expect(kinds).not.toContain('Memo:Exposed')
    expect(kinds).toEqual(
      expect.arrayContaining(['Liabilities:Overpaid', 'Liabilities:RefundsDue', 'Liabilities:Unmatched']),
    )
    // Beancount takes these characters in a link and stops at any other.
    for (const [, link] of text.matchAll(/^\S+ \* "\w+" \^(.*)$/gm)) expect(link).toMatch(/^[\w./-]+$/)
  })
})

/** Verdict of a journal's own tool; undefined on a machine without that tool. */
async function judge([tool, ...words]: readonly string[], file: string): Promise<string | undefined> {
  const run = promisify(execFile)(
    tool ?? '',
    words.map((word) => (word === 'FILE' ? file : word)),
    // The checkpoint at the top has a dash that is not ASCII, which hledger reads only where the locale says UTF-8.
    { env: { ...process.env, LC_ALL: 'C.UTF-8' } },
  )
  return run.then(
    ({ stderr }) => stderr,
    (error: NodeJS.ErrnoException & { stderr?: string }) =>
      // EACCES: a folder of the PATH is closed to this user.
      error.code === 'ENOENT' || error.code === 'EACCES' ? undefined : `${error.message}${error.stderr}`,
  )
}

const tools = {
  beancount: ['bean-check', 'FILE'],
  hledger: ['hledger', '-f', 'FILE', 'check', '--strict'],
} as const

test.each(['beancount', 'hledger'] as const)(
  'a %s journal of everything that can happen is well-formed',
  async (format) => {
    const other = await createTestDatabase()
    const source = await openInstance(other.serviceUrl)
    const otherAdmin = openSessions(other.adminUrl)
    await recordEveryOutcome(source, otherAdmin)
    const unpriced = await exported({ format }, source)
    expect(unpriced.text).toContain('; no prices: the reports have not reached the end of this export')
    while ((await rollUp(source.database)) > 0);
    // The payments of this ledger may be of a closed month by now, and those give no day a price.
    await otherAdmin.query(
      `insert into reports.day_prices select mint, '2026-01-31', 10000, 3000000, 1 from reports.daily_totals group by mint`,
    )
    const { text } = await exported({ format }, source)
    const price = format === 'hledger' ? 'P 2026-01-31 TOKEN' : '2026-01-31 price TOKEN'
    expect(text).toContain(`${price} 0.003333333333333333 USD\n`)
    const { text: entries } = await exported({ format: 'csv' }, source)
    const [head = '', ...lines] = entries.split('\r\n')
    expect(head).toContain(',usd_at_quoted_price,usd_at_day_price,')
    expect(lines.every((line) => line === '' || /,(\d+(\.\d+)?)?,\d+(\.\d+)?,\d+,sha256:/.test(line))).toBe(true)
    for (const kind of [
      'PaymentReversed',
      'RefundDue',
      'TransferReceived',
      'DistributionPaid',
      'BurnReversed',
      'BurnConfirmed',
    ])
      expect(text).toContain(kind)
    // A link of beancount ends at the first other character, and what follows is an error.
    const links = [...text.matchAll(/^\S+ \* "\w+" \^(.*)$/gm)].map(([, link]) => link)
    expect(links).toHaveLength(format === 'beancount' ? (text.match(/^\S+ \* /gm)?.length ?? 0) : 0)
    expect(links.filter((link) => !/^[A-Za-z0-9/_.-]+$/.test(link ?? ''))).toEqual([])
    const file = `${await makeScratchDirectory()}/journal.${format}`
    await writeFile(file, text)
    expect((await judge(tools[format], file)) ?? '').toBe('')
  },
)

/** Base units of an amount with 6 decimals. */
function unitsOf(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.replace('-', '').split('.')
  const units = BigInt(whole + fraction.padEnd(6, '0'))
  return amount.startsWith('-') ? -units : units
}

test('an export is of one moment: what is appended while it is written is not in it', async () => {
  let appended = 0
  const { text, scope } = await exported({
    format: 'jsonl',
    onProgress: () => void appended++,
    write: async () => void (await mustAppend(ledger, claimOf(sampleSettlement()).change)),
  })
  expect(text).toBe('')
  expect(appended).toBeGreaterThan(0)
  const later = await exported({ format: 'jsonl' })
  expect(later.scope.toPosition).toBeGreaterThan(scope.toPosition)
})

test('a damaged ledger is not exported', async () => {
  const copy = await createTestDatabase()
  const other = await openInstance(copy.serviceUrl)
  await mustAppend(other, claimOf(sampleSettlement()).change)
  const session = openSessions(copy.adminUrl)
  await tamper(session, `update ledger.events set body = '\\x7b7d' where seq = (select max(seq) from ledger.events)`)
  const question = { format: 'jsonl', table: 'events', from: undefined, to: undefined, verifierKey: undefined } as const
  const signal = new AbortController().signal
  await expect(exportLedger(other.database, { ...question, signal, write: async () => undefined })).rejects.toThrow(
    'differ',
  )
})

test('a payment whose attempts are exhausted has that state', async () => {
  const settlement = sampleSettlement()
  const { attemptId, change } = claimOf(settlement)
  const { after: before } = await mustAppend(ledger, change)
  const decision = decideRelease(before, { attemptId, reason: 'upstream_failed', attemptsMax: 1 })
  const { reference } = settlement
  await mustAppend(ledger, { reference, before, ...assertPresent(decision, 'it is live'), nowMs: Date.now() })
  const { text } = await exported({ format: 'csv', table: 'payments' })
  expect(readCsv(text).at(-1)).toMatchObject({ payment: reference, state: 'exhausted' })
})

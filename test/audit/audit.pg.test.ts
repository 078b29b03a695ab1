import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { audit, type AuditOptions } from '@tollbook/audit/audit'
import { AuditInterrupted } from '@tollbook/audit/auditRun'
import { exitCodeOf } from '@tollbook/audit/auditReport'
import { aspects } from '@tollbook/audit/findings'
import { systemClock } from '@tollbook/core/clock'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { sampleOf } from '../support/rounds.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { ledgerKey, growLedger } from './auditedLedger.ts'
import { exportTamperings } from './tamperedExport.ts'
import {
  auditDatabase,
  type AuditedFixture,
  exportWhole,
  tryExportTampering,
  tryTampering,
  withCopy,
} from './tamperingFixture.ts'
import { withTamperedLedger } from './tampering.ts'
import { lies } from './tamperedShapes.ts'
import { tamperings } from './tamperings.ts'

// Enough for a full tile, and for payments of every kind.
const payments = 42

const ledger = await createTestDatabase()
const directory = await makeTemporaryDirectory()
afterFile(directory.remove)
const file = { path: `${directory.path}/ledger.jsonl`, tampered: `${directory.path}/tampered.jsonl` }
let fixture: AuditedFixture

beforeAll(async () => {
  fixture = { ledger, note: await growLedger({ ...ledger, payments, isNew: true }) }
  await exportWhole(ledger, file.path)
})

function auditLedger(given: Partial<AuditOptions> = {}) {
  return audit({
    source: { kind: 'database', url: ledger.serviceUrl },
    verifierKeys: [ledgerKey],
    ownCheckpoints: [{ name: 'the checkpoint that was kept', note: fixture.note }],
    transactions: true,
    chain: undefined,
    resumeFile: undefined,
    clock: systemClock,
    ...given,
  })
}

describe('an untouched ledger', () => {
  test('holds in everything that can be asked without a chain', async () => {
    const report = await auditLedger()
    expect(report.findings).toEqual([])
    expect(aspects.map((aspect) => report.verdicts[aspect].status)).toEqual(['holds', 'holds', 'holds', 'not_checked'])
    expect(report.verdicts.integrity.notChecked).toEqual([])
    expect(exitCodeOf(report)).toBe(0)
  })

  test('without any checkpoint its integrity is not proven', async () => {
    const { serviceUrl: url } = await createTestDatabase()
    const report = await auditLedger({ source: { kind: 'database', url }, ownCheckpoints: [] })
    expect(report.findings).toEqual([])
    expect(report.verdicts.integrity).toMatchObject({
      status: 'not_checked',
      notChecked: [expect.stringContaining('no checkpoint could be compared')],
    })
  })

  test('can be audited by a role that may only read', async () => {
    const url = new URL(ledger.adminUrl)
    url.searchParams.set('options', '-c role=tollbook_reader')
    const report = await auditLedger({ source: { kind: 'database', url: url.href } })
    expect(report.findings).toEqual([])
  })

  test('has the same tree, balances and payments when it is audited from its export', async () => {
    const [live, exported] = [await auditLedger(), await auditLedger({ source: { kind: 'export', path: file.path } })]
    expect(exported.findings).toEqual([])
    const { root, events, payments, balances } = live
    expect(exported).toMatchObject({ root, events, payments, balances })
  })

  test('without a key the roots are compared, and the report says that the signatures are not', async () => {
    const { verdicts } = await auditLedger({ verifierKeys: [] })
    expect(verdicts.integrity.status).toBe('holds')
    expect(verdicts.integrity.notChecked).toEqual([expect.stringMatching(/signatures of \d+ checkpoints/)])
  })
})

// The whole list is `npm run proof tampering`; in CI a part of it, with all receipts and lies, here a sample of those.
const receipts = tamperings.filter(({ name }) => name.includes('receipt of a payment'))
const some = sampleOf([...new Set([...tamperings.filter((_, index) => index % 11 === 1), ...receipts, ...lies])])

test.each(some.map((tampering) => [tampering.name, tampering] as const))('an audit finds %s', async (_, tampering) => {
  expect(await tryTampering(fixture, tampering)).toBeUndefined()
})

test.each(exportTamperings.map((tampering) => [tampering.name, tampering] as const))(
  'an audit finds %s',
  async (_, tampering) => {
    expect(await tryExportTampering(fixture, tampering, file)).toBeUndefined()
  },
)

// One row of each compared table, and the finding for its absence, in groups that do not hide one another. Postgres
// itself keeps the kinds, which steps refer to.
const deletions = {
  'the ledger': [
    ['ledger.streams', `kind = 'payment'`, 'stream_missing'],
    ['ledger.streams', `kind = 'payout'`, 'stream_missing'],
    ['ledger.streams', `kind = 'burn'`, 'stream_missing'],
    ['ledger.tallies', 'true', 'tally_differs'],
    ['ledger.settings', `name = 'origin'`, 'setting_differs'],
    ['ledger.keys', 'until is null', 'key_differs'],
    ['ledger.tiles', 'true', 'tile_differs'],
    ['ledger.steps', 'true', 'declaration_differs step'],
    ['ledger.classes', 'true', 'declaration_differs class'],
    ['ledger.head', 'true', 'head_differs'],
  ],
  'the reports': [
    ['reports.daily_totals', 'true', 'report_differs reports.daily_totals'],
    ['reports.wallet_totals', 'true', 'report_differs reports.wallet_totals'],
    ['reports.payment_totals', 'true', 'report_differs reports.payment_totals'],
    ['reports.payments', 'true', 'report_differs reports.payments'],
    ['reports.payouts', 'true', 'report_differs reports.payouts'],
  ],
  'the accounts and the progress of the reports': [
    ['ledger.accounts', `name = 'Expenses:ReversedPayments'`, 'account_differs'],
    ['reports.progress', 'true', 'report_differs'],
  ],
} as const

test.each(Object.entries(deletions))('an audit misses no row that was deleted from %s', async (_, rows) => {
  const { findings } = await withCopy(ledger, async (url) => {
    const statements = rows.map(
      ([table, where]) =>
        `delete from ${table} where ctid = (select ctid from ${table} where ${where} order by ctid limit 1)`,
    )
    await withTamperedLedger(url, (tampered) => tampered.sql(statements.join('; ')))
    return auditDatabase(url, fixture.note)
  })
  const unexplained = findings.map(({ code, subject }) => `${code} ${subject}`)
  const missed = rows.filter(([, , expected]) => {
    const at = unexplained.findIndex((found) => `${found} `.startsWith(`${expected} `))
    if (at !== -1) unexplained.splice(at, 1)
    return at === -1
  })
  expect(missed, findings.map(({ code, subject }) => `${code} ${subject}`).join('\n')).toEqual([])
})

// Changes of one column where the rest of the row is right, and the finding of each.
const changes = [
  [`update ledger.settings set valid_from = valid_from - interval '1 hour' where name = 'origin'`, 'another time'],
  [`update ledger.keys set digest = sha256('a') where until is null`, 'has a digest'],
] as const

test('an audit names each column that was changed', async () => {
  await withCopy(ledger, async (url) => {
    await withTamperedLedger(url, (tampered) => tampered.sql(changes.map(([change]) => change).join('; ')))
    const { findings } = await auditDatabase(url, fixture.note)
    const missed = changes.filter(([, part]) => !findings.some(({ message }) => message.includes(part)))
    expect(missed).toEqual([])
  })
})

describe('an audit with a resume file', () => {
  const resumeFile = `${directory.path}/audit.state`

  test('continues where it was interrupted, and reports the same as an uninterrupted one', async () => {
    const interrupted = auditLedger({ resumeFile, signal: AbortSignal.abort() })
    await expect(interrupted).rejects.toThrow(AuditInterrupted)
    const { durationMs: _, resumedAfter, ...resumed } = await auditLedger({ resumeFile })
    const { durationMs: __, resumedAfter: ___, ...whole } = await auditLedger()
    expect(resumedAfter).toBeGreaterThan(0)
    expect({ ...resumed, verdicts: undefined }).toEqual({ ...whole, verdicts: undefined })
    expect(aspects.map((aspect) => resumed.verdicts[aspect].status)).toEqual(
      aspects.map((aspect) => whole.verdicts[aspect].status),
    )
  })

  test('checks the events that were added, and still every derived table', async () => {
    await withCopy(ledger, async (url) => {
      const state = `${directory.path}/grown.state`
      const source = { kind: 'database', url } as const
      const { events } = await auditLedger({ source, resumeFile: state })
      await growLedger({ serviceUrl: url, payments: 9, isNew: false })
      const grown = await auditLedger({ source, resumeFile: state })
      expect(grown.findings).toEqual([])
      expect(grown.resumedAfter).toBe(events)
      expect(grown.root).toBe((await auditLedger({ source })).root)
    })
  })

  test('compares a tile that no checkpoint covered at the end of the first audit', async () => {
    await withCopy(ledger, async (url) => {
      const state = `${directory.path}/unsealed.state`
      const source = { kind: 'database', url } as const
      const parts = ['tiles', 'checkpoints']
      await withTamperedLedger(url, async (tampered) => {
        for (const part of parts)
          await tampered.sql(`create table kept_${part} as select * from ledger.${part}; delete from ledger.${part}`)
      })
      expect((await auditLedger({ source, resumeFile: state })).findings).toEqual([])
      await withTamperedLedger(url, async (tampered) => {
        for (const part of parts)
          await tampered.sql(`insert into ledger.${part} overriding system value select * from kept_${part}`)
        await tampered.sql(`update ledger.tiles set hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1)`)
      })
      const { findings } = await auditLedger({ source, resumeFile: state })
      expect(findings.map(({ code, position }) => [code, position])).toEqual([['tile_differs', 2]])
    })
  })

  test('refuses a damaged file, and a file of another ledger', async () => {
    const bytes = await readFile(resumeFile)
    // The type of the second page. SQLite does not notice changed text within a row.
    bytes.writeUInt8(bytes.readUInt8(4_096) ^ 1, 4_096)
    await writeFile(`${resumeFile}.damaged`, bytes)
    await expect(auditLedger({ resumeFile: `${resumeFile}.damaged` })).rejects.toThrow('is damaged')
    const other = await createTestDatabase()
    await growLedger({ serviceUrl: other.serviceUrl, payments: 45, isNew: true })
    const source = { kind: 'database', url: other.serviceUrl } as const
    await expect(auditLedger({ source, resumeFile, ownCheckpoints: [] })).rejects.toThrow('the resume file ends with')
  })
})

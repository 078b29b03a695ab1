import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { audit, type AuditOptions } from '@tollbook/audit/audit'
import { AuditInterrupted } from '@tollbook/audit/auditRun'
import { exitCodeOf } from '@tollbook/audit/auditReport'
import { aspects } from '@tollbook/audit/findings'
import { systemClock } from '@tollbook/core/clock'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { bookKey, growBook } from './auditBook.ts'
import { exportTamperings } from './tamperedExport.ts'
import { exportBook, type Ground, tryExportTampering, tryTampering, withCopy } from './tamperGround.ts'
import { tamperings } from './tamperings.ts'

// Enough for a full tile, and for payments of every kind.
const payments = 42

const book = await createTestDatabase()
const directory = await makeTemporaryDirectory()
afterFile(directory.remove)
const file = { path: `${directory.path}/book.jsonl`, tampered: `${directory.path}/tampered.jsonl` }
let ground: Ground

beforeAll(async () => {
  ground = { book, note: await growBook({ ...book, payments, isNew: true }) }
  await exportBook(book, file.path)
})

function auditBook(given: Partial<AuditOptions> = {}) {
  return audit({
    source: { kind: 'database', url: book.serviceUrl },
    verifierKeys: [bookKey],
    keptCheckpoints: [{ name: 'the checkpoint that was kept', note: ground.note }],
    transactions: true,
    chain: undefined,
    resumeFile: undefined,
    clock: systemClock,
    ...given,
  })
}

describe('a book that nobody has touched', () => {
  test('holds in everything that can be asked without a chain', async () => {
    const report = await auditBook()
    expect(report.findings).toEqual([])
    expect(aspects.map((aspect) => report.verdicts[aspect].status)).toEqual(['holds', 'holds', 'holds', 'not_checked'])
    expect(report.verdicts.integrity.notChecked).toEqual([])
    expect(exitCodeOf(report)).toBe(0)
  })

  test('is read whole by a role that may only read', async () => {
    const url = new URL(book.adminUrl)
    url.searchParams.set('options', '-c role=tollbook_reader')
    const report = await auditBook({ source: { kind: 'database', url: url.href } })
    expect(report.findings).toEqual([])
  })

  test('has the same tree, balances and payments when it is audited from its export', async () => {
    const [live, exported] = [await auditBook(), await auditBook({ source: { kind: 'export', path: file.path } })]
    expect(exported.findings).toEqual([])
    const { root, events, payments, balances } = live
    expect(exported).toMatchObject({ root, events, payments, balances })
  })

  test('without a key the roots are compared, and the report says that the signatures are not', async () => {
    const { verdicts } = await auditBook({ verifierKeys: [] })
    expect(verdicts.integrity.status).toBe('holds')
    expect(verdicts.integrity.notChecked).toEqual([expect.stringMatching(/signatures of \d+ checkpoints/)])
  })
})

// The whole list is `npm run proof:tampering`; here a part of it that takes a second or two.
const some = tamperings.filter((_, index) => index % 11 === 1)

test.each(some.map((tampering) => [tampering.name, tampering] as const))('an audit finds %s', async (_, tampering) => {
  expect(await tryTampering(ground, tampering)).toBeUndefined()
})

test.each(exportTamperings.map((tampering) => [tampering.name, tampering] as const))(
  'an audit finds %s',
  async (_, tampering) => {
    expect(await tryExportTampering(ground, tampering, file)).toBeUndefined()
  },
)

describe('an audit with a resume file', () => {
  const resumeFile = `${directory.path}/audit.state`

  test('that is interrupted goes on where it was, and reports as one that was not', async () => {
    const interrupted = auditBook({ resumeFile, signal: AbortSignal.abort() })
    await expect(interrupted).rejects.toThrow(AuditInterrupted)
    const { durationMs: _, resumedAfter, ...resumed } = await auditBook({ resumeFile })
    const { durationMs: __, resumedAfter: ___, ...whole } = await auditBook()
    expect(resumedAfter).toBeGreaterThan(0)
    expect({ ...resumed, verdicts: undefined }).toEqual({ ...whole, verdicts: undefined })
    expect(aspects.map((aspect) => resumed.verdicts[aspect].status)).toEqual(
      aspects.map((aspect) => whole.verdicts[aspect].status),
    )
  })

  test('checks what a book has grown by, and still every derived table', async () => {
    await withCopy(book, async (url) => {
      const state = `${directory.path}/grown.state`
      const source = { kind: 'database', url } as const
      const { events } = await auditBook({ source, resumeFile: state })
      await growBook({ serviceUrl: url, payments: 9, isNew: false })
      const grown = await auditBook({ source, resumeFile: state })
      expect(grown.findings).toEqual([])
      expect(grown.resumedAfter).toBe(events)
      expect(grown.root).toBe((await auditBook({ source })).root)
    })
  })

  test('refuses a file that is damaged, and one of another book', async () => {
    const bytes = await readFile(resumeFile)
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
    await writeFile(`${resumeFile}.damaged`, bytes)
    await expect(auditBook({ resumeFile: `${resumeFile}.damaged` })).rejects.toThrow('is damaged')
    const other = await createTestDatabase()
    await growBook({ serviceUrl: other.serviceUrl, payments: 45, isNew: true })
    const source = { kind: 'database', url: other.serviceUrl } as const
    await expect(auditBook({ source, resumeFile, keptCheckpoints: [] })).rejects.toThrow('the resume file ends with')
  })
})

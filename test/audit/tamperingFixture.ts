import { readFile, writeFile } from 'node:fs/promises'
import { audit } from '@tollbook/audit/audit'
import type { AuditReport } from '@tollbook/audit/auditReport'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { exportLedger } from '../../src/reports/export/exportLedger.ts'
import { openDatabase } from '../../src/store/database.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { databaseUrl, newDatabaseName } from '../support/databaseTemplate.ts'
import type { TestDatabase } from '../support/testDatabase.ts'
import { ledgerKey, ledgerKeyText } from './auditedLedger.ts'
import type { ExportTampering } from './tamperedExport.ts'
import { type Found, type Tampering, withTamperedLedger } from './tampering.ts'

/** An audited ledger. */
export interface AuditedFixture {
  readonly ledger: TestDatabase
  /** The auditor's own checkpoint, of the whole ledger. */
  readonly note: string
}

/** Undefined when the audit found the expected finding at the expected position; otherwise its findings. */
export type Shortfall = string | undefined

/** Tampers with a copy of the ledger, and audits it. */
export function tryTampering(fixture: AuditedFixture, tampering: Tampering): Promise<Shortfall> {
  return withCopy(fixture.ledger, async (url) => {
    const found = await withTamperedLedger(url, (tampered) => tampering.run(tampered))
    return judge(await auditDatabase(url, fixture.note), found)
  })
}

export async function tryExportTampering(
  { note }: AuditedFixture,
  { run }: ExportTampering,
  file: { readonly path: string; readonly tampered: string },
): Promise<Shortfall> {
  const lines = (await readFile(file.path, 'utf8')).trimEnd().split('\n')
  const { lines: changed, found } = run(lines)
  await writeFile(file.tampered, `${changed.join('\n')}\n`)
  return judge(await auditFile(file.tampered, note), found)
}

function judge({ verdicts, findings }: AuditReport, { aspect, code, position }: Found): Shortfall {
  const { status, firstBad } = verdicts[aspect]
  // A report states a hundred findings of an aspect, in the order in which they were found, and always the first by
  // position.
  const matches = [firstBad, ...findings].some((finding) => finding?.code === code && finding.position === position)
  if (status === 'broken' && firstBad?.position === position && matches) return undefined
  const said = findings.map((finding) => `${finding.aspect} ${finding.code} at ${finding.position}`).slice(0, 8)
  return `expected ${aspect} ${code} at ${position}, found ${said.join(', ') || 'nothing'}`
}

export function auditDatabase(url: string, note: string): Promise<AuditReport> {
  return audit({ ...question(note), source: { kind: 'database', url } })
}

export function auditFile(path: string, note: string): Promise<AuditReport> {
  return audit({ ...question(note), source: { kind: 'export', path } })
}

function question(note: string) {
  return {
    verifierKeys: [ledgerKey],
    ownCheckpoints: [{ name: 'the checkpoint that was kept', note }],
    transactions: true,
    chain: undefined,
    resumeFile: undefined,
    clock: systemClock,
  }
}

/** The whole ledger as JSONL. */
export async function exportWhole({ serviceUrl }: TestDatabase, path: string): Promise<void> {
  const database = openDatabase({
    databaseUrl: serviceUrl,
    applicationName: 'export',
    connectionsMax: 1,
    log: silentLog,
  })
  const chunks: (string | Uint8Array)[] = []
  try {
    await exportLedger(database, {
      format: 'jsonl',
      table: 'events',
      from: undefined,
      to: undefined,
      verifierKey: ledgerKeyText,
      signal: new AbortController().signal,
      write: async (chunk) => void chunks.push(chunk),
    })
  } finally {
    await database.destroy()
  }
  await writeFile(path, chunks.map(String).join(''))
}

/** A copy of the data files takes a tenth of a second and leaves the ledger as it is. */
export async function withCopy<T>(ledger: TestDatabase, work: (adminUrl: string) => Promise<T>): Promise<T> {
  const name = newDatabaseName('tollbook_audited')
  const serverUrl = databaseUrl(ledger.adminUrl, 'postgres')
  await withAdminSession(serverUrl, (admin) => admin.query(`create database ${name} template ${ledger.name}`))
  try {
    return await work(databaseUrl(ledger.adminUrl, name))
  } finally {
    await withAdminSession(serverUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`))
  }
}

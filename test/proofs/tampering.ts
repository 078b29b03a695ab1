import { growLedger } from '../audit/auditedLedger.ts'
import { exportTamperings } from '../audit/tamperedExport.ts'
import {
  auditDatabase,
  auditFile,
  type AuditedFixture,
  exportWhole,
  tryExportTampering,
  tryTampering,
  withCopy,
} from '../audit/tamperingFixture.ts'
import { tamperings } from '../audit/tamperings.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { startLedgerServer } from './ledgerServer.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * An audit finds every change that a superuser makes to a ledger with all triggers off, and every change to an export:
 * it names the broken question and the first bad position. The untouched ledger passes.
 */

const command = proofCommand('tampering', 'An audit finds every change to a ledger or an export, and names it.')
  .option('--payments <n>', 'payments in the ledger', wholeNumber, 120)
  .option('--only <pattern>', 'changes whose name matches', '')
const { payments, only } = command.parse().opts<{ payments: number; only: string }>()
const isTried = ({ name }: { readonly name: string }) => new RegExp(only).test(name)
const tried = tamperings.filter(isTried)
const triedExports = exportTamperings.filter(isTried)

await using server = await startLedgerServer()
const directory = await makeTemporaryDirectory()
const ledger = await server.createDatabase()
const wrong: string[] = []

const older = await growLedger({ ...ledger, payments: Math.floor(payments / 2), isNew: true })
const file = { path: `${directory.path}/ledger.jsonl`, tampered: `${directory.path}/tampered.jsonl` }
await withCopy(ledger, async (backupUrl) => {
  const note = await growLedger({ ...ledger, payments: Math.ceil(payments / 2), isNew: false })
  const fixture: AuditedFixture = { ledger, note }
  await exportWhole(ledger, file.path)
  await checkUntouched(fixture)
  const restored = await auditDatabase(backupUrl, note)
  const { status, firstBad } = restored.verdicts.completeness
  const size = restored.treeSize
  report(
    'an older backup restored',
    status === 'broken' && firstBad?.position === size + 1 ? undefined : `completeness is ${status}`,
  )
  const untouchedBackup = await auditDatabase(backupUrl, older)
  if (untouchedBackup.findings.length > 0) wrong.push('the backup as it was then does not pass')
  for (const tampering of tried) report(tampering.name, await tryTampering(fixture, tampering))
  for (const tampering of triedExports) report(tampering.name, await tryExportTampering(fixture, tampering, file))
})
await directory.remove()
concludeProof({
  holds: wrong.length === 0,
  lines: [`${1 + tried.length + triedExports.length} tamperings, ${wrong.length} not found as expected`, ...wrong],
})

async function checkUntouched(fixture: AuditedFixture): Promise<void> {
  for (const audited of [
    await auditDatabase(ledger.adminUrl, fixture.note),
    await auditFile(file.path, fixture.note),
  ]) {
    const { source, events, findings } = audited
    say(`the untouched ${source}: ${events} events, ${findings.length} findings`)
    if (findings.length > 0) wrong.push(`the untouched ${source} does not pass: ${JSON.stringify(findings[0])}`)
  }
}

function report(name: string, shortfall: string | undefined): void {
  say(`${shortfall === undefined ? 'found ' : 'MISSED'}  ${name}${shortfall === undefined ? '' : `: ${shortfall}`}`)
  if (shortfall !== undefined) wrong.push(`${name}: ${shortfall}`)
}

import { growLedger } from '../audit/auditedLedger.ts'
import { exportTamperings } from '../audit/tamperedExport.ts'
import {
  auditDatabase,
  auditFile,
  exportBook,
  type Ground,
  tryExportTampering,
  tryTampering,
  withCopy,
} from '../audit/tamperingFixture.ts'
import { tamperings } from '../audit/tamperings.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { startLedgerServer } from './ledgerServer.ts'
import { concludeProof, readOptions, say } from './verdict.ts'

/*
 * Whatever a superuser does to a book with every trigger off, or anybody to an export, an audit names it: which of the
 * four questions it answers with no, and the first bad position. The untouched book passes.
 */

const { payments } = readOptions({ payments: 120 })

await using server = await startLedgerServer()
const directory = await makeTemporaryDirectory()
const book = await server.createDatabase()
const wrong: string[] = []

const older = await growLedger({ ...book, payments: Math.floor(payments / 2), isNew: true })
const file = { path: `${directory.path}/book.jsonl`, tampered: `${directory.path}/tampered.jsonl` }
await withCopy(book, async (backupUrl) => {
  const note = await growLedger({ ...book, payments: Math.ceil(payments / 2), isNew: false })
  const ground: Ground = { book, note }
  await exportBook(book, file.path)
  await checkUntouched(ground)
  const restored = await auditDatabase(backupUrl, note)
  const { status, firstBad } = restored.verdicts.completeness
  const size = restored.treeSize
  report(
    'an older backup restored',
    status === 'broken' && firstBad?.position === size + 1 ? undefined : `completeness is ${status}`,
  )
  const untouchedBackup = await auditDatabase(backupUrl, older)
  if (untouchedBackup.findings.length > 0) wrong.push('the backup as it was then does not pass')
  for (const tampering of tamperings) report(tampering.name, await tryTampering(ground, tampering))
  for (const tampering of exportTamperings) report(tampering.name, await tryExportTampering(ground, tampering, file))
})
await directory.remove()
concludeProof({
  holds: wrong.length === 0,
  lines: [
    `${1 + tamperings.length + exportTamperings.length} tamperings, ${wrong.length} not found as they had to be`,
    ...wrong,
  ],
})

async function checkUntouched(ground: Ground): Promise<void> {
  for (const audited of [await auditDatabase(book.adminUrl, ground.note), await auditFile(file.path, ground.note)]) {
    const { source, events, findings } = audited
    say(`the untouched ${source}: ${events} events, ${findings.length} findings`)
    if (findings.length > 0) wrong.push(`the untouched ${source} does not pass: ${JSON.stringify(findings[0])}`)
  }
}

function report(name: string, shortfall: string | undefined): void {
  say(`${shortfall === undefined ? 'found ' : 'MISSED'}  ${name}${shortfall === undefined ? '' : `: ${shortfall}`}`)
  if (shortfall !== undefined) wrong.push(`${name}: ${shortfall}`)
}

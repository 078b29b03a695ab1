import '@tollbook/core/quietBindings'
import { seedLedger } from '../../bench/seedLedger.ts'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { buy } from '../support/ask.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { openEnvironment, type ProofEnvironment } from './proofEnvironment.ts'
import { spawnServer } from './spawnServer.ts'
import { type Finding, finding } from './transparency/finding.ts'
import { checkForeignLog, foreignLog } from './transparency/foreignLog.ts'
import { buildGoChecker, type GoChecker } from './transparency/goChecker.ts'
import { verifyForeign } from './transparency/verifyForeign.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * The seal of a real service on a long ledger, checked over HTTP by an independent implementation: Go's checksum
 * database
 * (golang.org/x/mod/sumdb). Then the other direction: a log made by Go, checked by our verifiers.
 */

// 14,000 payments are some 71,000 events, and a tile of the third level begins at 65,536.
const command = proofCommand('transparency', "Go's checksum database and our verifiers check each other's logs.")
  .option(
    '--payments <n>',
    'payments in the ledger; 52000 is enough for tiles past the thousandth',
    wholeNumber,
    14_000,
  )
  .option('--proofs <n>', 'proofs of each kind', wholeNumber, 400)
  .option('--seed <n>', 'seed that picks the proofs', wholeNumber, systemClock.nowMs() % 1_000_000)
const { payments, proofs, seed } = command.parse().opts<{ payments: number; proofs: number; seed: number }>()
const picking = ['-proofs', String(proofs), '-seed', String(seed)]
// A sealer takes less than a second for 16,384 events, and one query here a tenth of that.
const looksMax = 600
const problems: string[] = []
let checks = 0

await using opened = new AsyncDisposableStack()
const scratch = await makeTemporaryDirectory()
opened.defer(scratch.remove)
const checker = await buildGoChecker(scratch.path)
if ('missing' in checker) couldNotRun(checker.missing)
else await prove(checker)

async function prove(checker: GoChecker): Promise<void> {
  say(`seed ${seed}`)
  const environment = opened.use(await openEnvironment())
  await checkService(environment, checker)
  for await (const line of checker.run('make', ...picking)) {
    const log = foreignLog.parse(JSON.parse(line))
    for (const found of checkForeignLog(log)) report(found)
    report(await verifyForeign(log, scratch.path))
  }
  concludeProof({ holds: problems.length === 0, lines: [`${checks} checks, ${problems.length} problems`] })
}

async function checkService({ database, env, payer, directory }: ProofEnvironment, checker: GoChecker): Promise<void> {
  const events = await seedLedger(database.serviceUrl, { payments, daysBack: 30, progress: say })
  const runsFile = `${directory}/runs`
  const server = await spawnServer({ env: { ...env, LEDGER_ENTRIES: 'public', NEWS_POLLING: '0' }, runsFile })
  opened.defer(() => server.stop())
  await sealedUpTo(server.baseUrl, events)
  say(`${events} events seeded and sealed`)
  const checkpointPath = `${scratch.path}/kept`
  await runChecks(checker, 'check', '-url', server.baseUrl, '-keep', checkpointPath, ...picking)
  const { receipt } = await buy({ baseUrl: server.baseUrl, payer })
  await sealedUpTo(server.baseUrl, receipt.ledger.position)
  const leaf = `${receipt.ledger.position}:${receipt.ledger.leafHash}`
  await runChecks(checker, 'visit', '-url', server.baseUrl, '-kept', checkpointPath, '-leaf', leaf)
}

async function runChecks(checker: GoChecker, ...words: readonly string[]): Promise<void> {
  try {
    for await (const line of checker.run(...words)) report(finding.parse(JSON.parse(line)))
  } catch (error) {
    report({ what: `look that was broken off: ${words[0] ?? ''}`, checked: 1, failed: [describeError(error)] })
  }
}

function report({ what, checked, failed }: Finding): void {
  // A property without checks does not hold.
  checks += checked
  const holds = checked > 0 && failed.length === 0
  say(`${holds ? 'ok    ' : 'BROKEN'} ${String(checked).padStart(6)} ${what}`)
  if (holds) return
  for (const problem of failed) say(`              ${problem}`)
  problems.push(what)
}

async function sealedUpTo(baseUrl: string, position: number): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    const checkpoint = readCheckpoint(await (await fetch(`${baseUrl}/checkpoint`)).text())
    if (checkpoint !== undefined && checkpoint.size >= position) return
    await systemClock.sleep(100)
  }
  assert(false, `event ${position} is sealed within a minute`)
}

import { readFile, writeFile } from 'node:fs/promises'
import { systemClock } from '@tollbook/core/clock'
import type { Payer } from '../support/payer.ts'
import { type CrashStep, crashSteps } from './crashStep.ts'
import { awaitQuote, present, type Presented } from './present.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { readProofLedger } from './proofLedger.ts'
import { type SpawnedServer, spawnServer } from './spawnServer.ts'
import { families } from './spellings.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * A server that dies at any step between claim and answer loses no payment: with a new process, the same proof and the
 * same Idempotency-Key, the caller gets exactly one answer (I1, I4, I5, I26).
 */

const command = proofCommand('crash', 'A server that dies at any step between claim and answer loses no payment.')
  .option('--runs <n>', 'kills at each step', wholeNumber, 20)
  .option('--every <n>', 'kill at every n-th step only: 3 is the first, the fourth and the last', wholeNumber, 1)
const { runs, every } = command.parse().opts<{ runs: number; every: number }>()
const steps = crashSteps.filter((_, index) => index % every === 0)
const triesMax = 40

await using environment = await openEnvironment()
const runsFile = `${environment.directory}/runs`
await writeFile(runsFile, '')
// Short leases, so that a dead attempt is taken over soon; the handler is quicker than that.
const env = { ...environment.env, HANDLER_TIMEOUT_MS: '500' }
say(`${steps.length} steps, ${runs} runs each`)

const wrong: string[] = []
let server = await spawnServer({ env, runsFile })
for (const step of steps) {
  const tries: number[] = []
  let replays = 0
  for (let run = 0; run < runs; run++) {
    const outcome = await buyThroughCrash({ payer: environment.payer, step, run })
    tries.push(outcome.tries)
    if (outcome.first.replayed) replays++
  }
  say(`${step}: ${runs} answers bought, at most ${Math.max(...tries)} tries after the crash, ${replays} by replay`)
}
await server.stop()

const ledger = await readProofLedger(environment.database.adminUrl)
const handled = (await readFile(runsFile, 'utf8')).split('\n').filter((line) => line !== '').length
const expected = steps.length * runs
if (ledger.fulfilled !== expected) wrong.push(`${ledger.fulfilled} RequestFulfilled for ${expected} payments`)
if (ledger.payments !== expected) wrong.push(`${ledger.payments} payments fulfilled of ${expected}`)
if (ledger.unbalanced !== 0) wrong.push(`${ledger.unbalanced} sums of entries are not zero`)
if (ledger.gaps !== 0) wrong.push(`${ledger.gaps} gaps in the positions`)
concludeProof({
  holds: wrong.length === 0,
  lines: [
    `${expected} crashes: ${ledger.fulfilled} RequestFulfilled, ${handled} handler runs (a handler may run again, its answer is sold once), ${ledger.gaps} gaps, ${ledger.unbalanced} unbalanced`,
    ...wrong.slice(0, 20),
  ],
})

interface Purchase {
  readonly payer: Payer
  readonly step: CrashStep
  readonly run: number
}

/** Pays, loses the server, and goes on with a new one until the answer is there; then asks once more for the same. */
async function buyThroughCrash({ payer, step, run }: Purchase): Promise<{ tries: number; first: Presented }> {
  const symbol = `C${crashSteps.indexOf(step)}R${run}`
  const key = { wallet: payer.address, symbol, idempotencyKey: `key-${symbol}` }
  const family = families[run % families.length]
  const quote = await awaitQuote({ baseUrl: server.baseUrl, ...key })
  const payment = await payer.sign(quote, { bound: family?.bound === true })
  if (family?.landed === true) await payer.send(payment)
  const request = { ...key, proof: family?.spell(payment)[0] ?? '' }

  const doomed: SpawnedServer = server
  await doomed.arm(step)
  const [lost, how] = await Promise.all([
    present({ baseUrl: doomed.baseUrl, ...request }).catch(() => undefined),
    doomed.gone,
  ])
  if (lost !== undefined || how !== 'SIGKILL')
    wrong.push(`${step} ${run}: the server did not die at its step (${lost?.status}, ${how})`)
  server = await spawnServer({ env, runsFile })

  const { tries, answer: first } = await presentUntilAnswered({ baseUrl: server.baseUrl, ...request })
  if (first.status !== 200) wrong.push(`${step} ${run}: ended with ${first.status} ${first.code} ${first.reason}`)
  const again = await present({ baseUrl: server.baseUrl, ...request })
  if (!again.replayed || again.data !== first.data)
    wrong.push(`${step} ${run}: the same request again was not the same answer`)
  const keyless = await present({ baseUrl: server.baseUrl, wallet: payer.address, symbol, proof: request.proof })
  // A payment with a secret gets its answer for two minutes more.
  const isRight = family?.bound === true ? keyless.replayed : keyless.reason === 'already_used'
  if (!isRight) wrong.push(`${step} ${run}: the proof alone was answered ${keyless.status}`)
  return { tries, first }
}

/** Retries like a client, while the attempt is in progress or its outcome unknown. */
async function presentUntilAnswered(
  request: Parameters<typeof present>[0],
): Promise<{ tries: number; answer: Presented }> {
  for (let tries = 1; ; tries++) {
    const answer = await present(request)
    const isPassing =
      answer.code === 'PAYMENT_IN_PROGRESS' || answer.code === 'PAYMENT_PENDING' || answer.reason === 'not_found'
    if (!isPassing || tries === triesMax) return { tries, answer }
    await systemClock.sleep(200)
  }
}

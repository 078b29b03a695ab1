import { readFile, writeFile } from 'node:fs/promises'
import { systemClock } from '@tollbook/core/clock'
import { type CrashStep, crashSteps } from './crashStep.ts'
import { openLossyProxy } from './lossyProxy.ts'
import { awaitQuote, present, type Presented } from './present.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { readProofLedger } from './proofLedger.ts'
import { spawnServer } from './spawnServer.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * Callers without an Idempotency-Key lose no answer: a fulfilment whose commit acknowledgement is lost for longer than
 * the read-back, and a server that is killed at any step between claim and answer, end with exactly one answer for each
 * payer.
 */

interface Options {
  readonly losses: number
  readonly group: number
  readonly runs: number
  readonly from: number
  readonly to: number
}

const steps = crashSteps.map((step, index) => `  ${index + 1}  ${step}`).join('\n')
const command = proofCommand(
  'lost',
  'Lost acknowledgements and killed servers lose no answer, without an Idempotency-Key.',
)
  .option('--losses <n>', 'fulfilments whose acknowledgement is lost', wholeNumber, 100)
  .option('--group <n>', 'callers at once who lose an acknowledgement', wholeNumber, 25)
  .option('--runs <n>', 'kill -9 of the server at each step', wholeNumber, 20)
  .option('--from <step>', 'first step to kill at', wholeNumber, 1)
  .option('--to <step>', 'last step to kill at', wholeNumber, crashSteps.length)
  .addHelpText('after', `\nSteps:\n${steps}`)
const { losses, group, runs, from, to } = command.parse().opts<Options>()
const triesMax = 200
// A service that is closed for a moment says so before it reads a proof.
const passingCodes = new Set(['PAYMENT_IN_PROGRESS', 'PAYMENT_PENDING', 'ENDPOINT_UNAVAILABLE'])
const tryEveryMs = 200

await using environment = await openEnvironment()
const runsFile = `${environment.directory}/runs`
await writeFile(runsFile, '')
const { payer } = environment
const wrong: string[] = []
const table: string[] = []

interface Purchase {
  readonly baseUrl: string
  readonly wallet: string
  readonly symbol: string
  readonly proof: string
}

async function pay(baseUrl: string, symbol: string): Promise<Purchase> {
  const wallet = payer.address
  const payment = await payer.sign(await awaitQuote({ baseUrl, wallet, symbol }))
  await payer.send(payment)
  return { baseUrl, wallet, symbol, proof: Buffer.from(payment.signature).toString('base64') }
}

/** Repeats the same request with the same proof, as a caller does who is told to. */
async function untilAnswered(purchase: Purchase): Promise<Presented> {
  for (let tries = 1; ; tries++) {
    const answer = await present(purchase)
    const isPassing = passingCodes.has(answer.code ?? '') || answer.reason === 'not_found'
    if (!isPassing || tries === triesMax) return answer
    await systemClock.sleep(tryEveryMs)
  }
}

/** The answer of one purchase after its fault; a second one must not exist. */
async function collect(purchase: Purchase): Promise<Presented> {
  const answer = await untilAnswered(purchase)
  if (answer.status !== 200)
    wrong.push(`${purchase.symbol}: ended with ${answer.status} ${answer.code} ${answer.reason}`)
  const again = await untilAnswered(purchase)
  if (again.reason !== 'already_used') wrong.push(`${purchase.symbol}: asked again, got ${again.status} ${again.code}`)
  return answer
}

async function loseAcknowledgements(): Promise<void> {
  await using proxy = await openLossyProxy(environment.database.serviceUrl)
  const server = await spawnServer({ env: { ...environment.env, DATABASE_URL: proxy.databaseUrl }, runsFile })
  let pending = 0
  let replays = 0
  for (let first = 0; first < losses; first += group) {
    const symbols = Array.from({ length: Math.min(group, losses - first) }, (_, index) => `L${first + index}`)
    const purchases = await Promise.all(symbols.map((symbol) => pay(server.baseUrl, symbol)))
    // All handlers end together, so that each caller's own fulfilment is lost, and no claim that shares a batch with
    // one.
    await server.hold()
    const presenting = purchases.map(present)
    await untilHandled(first + symbols.length)
    proxy.lose('RequestFulfilled')
    await server.letGo()
    const lost = await Promise.all(presenting)
    proxy.lose(undefined)
    pending += lost.filter(({ code }) => code === 'PAYMENT_PENDING').length
    const answers = await Promise.all(purchases.map(collect))
    replays += answers.filter(({ replayed }) => replayed).length
    say(`${first + symbols.length} acknowledgements lost, ${pending} callers got 503, ${replays} got the stored answer`)
  }
  await server.stop()
  if (pending !== losses) wrong.push(`${pending} of ${losses} callers got that the outcome is unknown`)
  if (replays !== losses) wrong.push(`${replays} of ${losses} answers were the stored ones`)
  const handled = await countRuns((symbol) => symbol.startsWith('L'))
  if (handled.runs !== losses || handled.most !== 1) wrong.push(`${handled.runs} handler runs for ${losses} answers`)
  table.push(`lost acknowledgement | ${losses} | ${losses} | ${replays} | ${handled.runs}`)
}

async function untilHandled(handlers: number): Promise<void> {
  while ((await countRuns((symbol) => symbol.startsWith('L'))).runs < handlers) await systemClock.sleep(tryEveryMs)
}

// Short leases, so that a dead attempt is taken over soon; the handler is quicker than that.
const shortLease = { HANDLER_TIMEOUT_MS: '500' }

async function killServers(): Promise<void> {
  const env = { ...environment.env, ...shortLease }
  let server = await spawnServer({ env, runsFile })
  for (const [index, step] of crashSteps.entries()) {
    if (index + 1 < from || index + 1 > to) continue
    let replays = 0
    for (let run = 0; run < runs; run++) {
      const purchase = await pay(server.baseUrl, `K${index}R${run}`)
      await killAt(server, step, purchase)
      server = await spawnServer({ env, runsFile })
      const answer = await collect({ ...purchase, baseUrl: server.baseUrl })
      replays += Number(answer.replayed)
    }
    await judgeRuns(step, { index, replays })
  }
  await server.stop()
}

async function killAt(
  server: Awaited<ReturnType<typeof spawnServer>>,
  step: CrashStep,
  purchase: Purchase,
): Promise<void> {
  await server.arm(step)
  const [lost, how] = await Promise.all([present(purchase).catch(() => undefined), server.gone])
  if (lost !== undefined || how !== 'SIGKILL')
    wrong.push(`${purchase.symbol}: the server did not die ${step} (${lost?.status}, ${how})`)
}

/** A handler whose result was not recorded before the kill has to run again; one whose result was recorded has not. */
async function judgeRuns(
  step: CrashStep,
  { index, replays }: { readonly index: number; readonly replays: number },
): Promise<void> {
  const handled = await countRuns((symbol) => symbol.startsWith(`K${index}R`))
  const rerun = handled.runs - runs
  if (rerun < 0 || handled.most > 2) wrong.push(`${step}: ${handled.runs} handler runs for ${runs} answers`)
  if (step === 'after the handler, before the fulfilment is sent' && rerun !== runs)
    wrong.push(`${step}: ${rerun} reruns`)
  if (step === 'after the fulfilment, before the answer' && (rerun !== 0 || replays !== runs))
    wrong.push(`${step}: ${rerun} reruns, ${replays} stored answers`)
  table.push(`kill -9 ${step} | ${runs} | ${runs} | ${replays} | ${handled.runs}`)
  say(`${step}: ${runs} answers, ${replays} of them stored ones, ${handled.runs} handler runs`)
}

async function countRuns(isCounted: (symbol: string) => boolean): Promise<{ runs: number; most: number }> {
  const symbols = (await readFile(runsFile, 'utf8')).split('\n').filter((line) => line !== '' && isCounted(line))
  const bySymbol = Map.groupBy(symbols, (symbol) => symbol)
  return { runs: symbols.length, most: Math.max(0, ...[...bySymbol.values()].map((list) => list.length)) }
}

if (losses > 0) await loseAcknowledgements()
if (runs > 0) await killServers()

const payments = losses + runs * Math.max(0, to - from + 1)
const ledger = await readProofLedger(environment.database.adminUrl)
if (ledger.fulfilled !== payments || ledger.payments !== payments)
  wrong.push(`${ledger.fulfilled} RequestFulfilled in ${ledger.payments} payments, and ${payments} were made`)
if (ledger.unbalanced !== 0) wrong.push(`${ledger.unbalanced} sums of entries are not zero`)
if (ledger.gaps !== 0) wrong.push(`${ledger.gaps} gaps in the positions`)
concludeProof({
  holds: wrong.length === 0,
  lines: [
    'fault | payments | answers | of them stored ones | handler runs',
    ...table,
    `${payments} payments without Idempotency-Key, ${ledger.fulfilled} RequestFulfilled, ${ledger.gaps} gaps, ${ledger.unbalanced} unbalanced`,
    ...wrong.slice(0, 20),
  ],
})

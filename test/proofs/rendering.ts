import { systemClock } from '@tollbook/core/clock'
import { type QuoteBody, quoteBody } from '@tollbook/core/wire'
import { createService } from '../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../src/config.ts'
import { createLog } from '../../src/machine/log.ts'
import { type Counter, ask } from '../support/ask.ts'
import { type AttemptLine, attemptLine, tallyAttempts } from './rendering/attemptReport.ts'
import { fundPayers } from './rendering/fundPayers.ts'
import { memoryOf, renderingProcesses, stillRunning, workerCount } from './rendering/renderingProcesses.ts'
import { attackerHost, honestHost, startSites } from './rendering/sites.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * Callers whose pages hang cannot close rendering for others: each attacker has its own wallet and site, pays, and
 * presents its payment for a page that never answers, lacks an image, computes without end, fills memory, ends the
 * browser, or arrives a byte at a time, as often as the service permits. An honest caller buys screenshots meanwhile.
 */

const command = proofCommand('rendering', 'One honest caller buys screenshots while others pay for pages that hang.')
  .option('--attackers <n>', 'callers with pages that hang', wholeNumber, 12)
  .option('--purchases <n>', 'purchases of the honest caller', wholeNumber, 20)
const { attackers: attackerCount, purchases } = command.parse().opts<{ attackers: number; purchases: number }>()
const successMin = 0.95
const settleMs = 5_000
const purchasesAlone = 5
const workerTriesMax = 100
// A browser that has rendered for a while keeps more than a new one.
const memoryGrowthMax = 1.5
const renderSecondsMax = 30
const path = '/api/tools/screenshot'

await using environment = await openEnvironment()
say('the chain and the database are ready')
await using sites = await startSites()
const hosts = Array.from({ length: attackerCount }, (_, nth) => attackerHost(nth)).concat(honestHost)
const config = readConfig({
  ...environment.env,
  RENDER_CONCURRENCY: '2',
  EGRESS_ALLOW_HOSTS: hosts.map((host) => `${host}:${sites.port}`).join(','),
})
if (!isServiceConfig(config)) throw new Error('the service is configured')
// The worker ends a page that outlives its deadline by so much.
const graceSeconds = 5
/** Attempts of all callers in the order of their ends. */
const pageAttempts: AttemptLine[] = []
const log = createLog({
  name: 'proof',
  level: 'debug',
  destination: {
    write(line: string) {
      if (line.includes('"page_attempt_ended"')) pageAttempts.push(attemptLine.parse(JSON.parse(line)))
    },
  },
})
const service = await createService(config, { log })
const baseUrl = `http://127.0.0.1:${service.port}`
say('the service listens')
const payers = await fundPayers(environment, attackerCount)

say(`${payers.length} wallets have tokens`)

interface Attack {
  attempts: number
  busyMs: number
  end: string
}
const attacks: Attack[] = []
const stopping = new AbortController()

async function attack(nth: number, counter: Counter): Promise<void> {
  const body = { url: sites.urlOf(attackerHost(nth), nth), width: 800, height: 600 }
  while (!stopping.signal.aborted) {
    const quoted = await ask(counter, { path, body })
    if (quoted.status !== 402) {
      await systemClock.sleep(1_000)
      continue
    }
    const proof = await payOrRunOut(counter, quoteBody.parse(quoted.body))
    if (proof === undefined) return
    attacks.push(await useUp(counter, { path, body, proof }))
  }
}

/** Undefined when the attacker has no token left. */
async function payOrRunOut({ payer }: Counter, quote: QuoteBody): Promise<string | undefined> {
  try {
    return await payer.pay(quote)
  } catch (error) {
    if (/insufficient funds/.test(String(error))) return undefined
    throw error
  }
}

/** Presents one payment until it buys or is ended. */
async function useUp(counter: Counter, order: Parameters<typeof ask>[1]): Promise<Attack> {
  const attempt: Attack = { attempts: 0, busyMs: 0, end: 'interrupted' }
  while (!stopping.signal.aborted) {
    const startedAtMs = systemClock.monotonicMs()
    const { status, body } = await ask(counter, order)
    attempt.attempts++
    attempt.busyMs += systemClock.monotonicMs() - startedAtMs
    const isLast = String(body['error']).includes('last permitted attempt')
    if (status === 200 || status === 402 || isLast) return { ...attempt, end: isLast ? 'owed back' : `HTTP ${status}` }
  }
  return attempt
}

const quoteTriesMax = 3
let refusedQuotes = 0

async function buyHonestly(counter: Counter, nth: number): Promise<string> {
  const body = { url: sites.urlOf(honestHost, nth), width: 800, height: 600 }
  let quoted = await ask(counter, { path, body })
  // A client repeats a 503 after its Retry-After; nothing has been paid by then.
  for (let tries = 2; quoted.status === 503 && tries <= quoteTriesMax; tries++) {
    refusedQuotes++
    await systemClock.sleep(Number(quoted.headers.get('retry-after') ?? 1) * 1_000)
    quoted = await ask(counter, { path, body })
  }
  if (quoted.status !== 402) return `no quote: ${quoted.status} ${String(quoted.body['error'])}`
  const proof = await counter.payer.pay(quoteBody.parse(quoted.body))
  const { status, body: answer } = await ask(counter, { path, body, proof })
  return status === 200 ? 'sold' : `${status} ${String(answer['error'])}`
}

const honest: Counter = { baseUrl, payer: environment.payer }
let first = await ask(honest, { path, body: { url: sites.urlOf(honestHost, 0) } })
while (/being started/.test(String(first.body['error']))) {
  await systemClock.sleep(200)
  first = await ask(honest, { path, body: { url: sites.urlOf(honestHost, 0) } })
}
if (first.status === 402) await run()
else {
  couldNotRun(String(first.body['error']))
  await service.close()
}

async function run(): Promise<void> {
  say(`${attackerCount} attackers, ${purchases} honest purchases, 2 pages at once`)
  await startBothWorkers()
  const aloneMs = await buyAlone()
  const before = renderingProcesses()
  const memoryBefore = memoryOf(before)
  const attacking = payers.map((payer, nth) => attack(nth, { baseUrl, payer }))
  // The attackers have filled every place before the honest caller comes.
  await systemClock.sleep(3_000)
  const tally = new Map<string, number>()
  const durationsMs: number[] = []
  for (let nth = 0; nth < purchases; nth++) {
    const startedAtMs = systemClock.monotonicMs()
    const outcome = await buyHonestly(honest, nth)
    durationsMs.push(systemClock.monotonicMs() - startedAtMs)
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1)
    if ((nth + 1) % 5 === 0) say(`${nth + 1} of ${purchases} honest purchases`)
  }
  stopping.abort()
  const during = new Set([...before, ...renderingProcesses()])
  const memoryDuring = memoryOf(renderingProcesses())
  await Promise.allSettled(attacking)
  // Pages of callers who have gone are closed at their next event, and the browser frees memory a little later.
  await systemClock.sleep(settleMs)
  const memoryAfter = memoryOf(renderingProcesses())
  await service.close()
  await systemClock.sleep(settleMs)
  const orphans = stillRunning([...during]).length
  conclude({ tally, aloneMs, durationsMs, memory: [memoryBefore, memoryDuring, memoryAfter], orphans })
}

/** The second page of a customer starts the second worker. The memory before the attack is that of both. */
async function startBothWorkers(): Promise<void> {
  for (let nth = 0; nth < 2; nth++) say(`a purchase before all others: ${await buyHonestly(honest, purchases)}`)
  for (let tries = 0; workerCount() < 2 && tries < workerTriesMax; tries++) await systemClock.sleep(200)
  await systemClock.sleep(settleMs)
}

/** Durations without attackers, on this machine at this time. */
async function buyAlone(): Promise<readonly number[]> {
  const durationsMs: number[] = []
  for (let nth = 0; nth < purchasesAlone; nth++) {
    const startedAtMs = systemClock.monotonicMs()
    const outcome = await buyHonestly(honest, purchases + nth)
    if (outcome !== 'sold') say(`WITHOUT ATTACKERS: ${outcome}`)
    durationsMs.push(systemClock.monotonicMs() - startedAtMs)
  }
  return durationsMs
}

interface Results {
  readonly tally: ReadonlyMap<string, number>
  /** Durations of the honest purchases without attackers. */
  readonly aloneMs: readonly number[]
  readonly durationsMs: readonly number[]
  /** Megabytes of worker and browser before, during and after the attack. */
  readonly memory: readonly [before: number, during: number, after: number]
  readonly orphans: number
}

function conclude({ tally, aloneMs, durationsMs, memory, orphans }: Results): void {
  const [before, during, after] = memory
  const success = (tally.get('sold') ?? 0) / purchases
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  const ends = Map.groupBy(attacks, ({ end }) => end)
  const ofHonest = pageAttempts.filter(({ payer }) => payer === honest.payer.address)
  const ofAttackers = pageAttempts.filter(({ payer }) => payer !== honest.payer.address)
  const spent = [...new Map(pageAttempts.map(({ payment, paymentTimeMs }) => [payment, paymentTimeMs])).values()]
  const mostSpent = Math.max(0, ...spent)
  const isBounded = mostSpent <= (renderSecondsMax + graceSeconds) * 1000
  concludeProof({
    holds: success >= successMin && isBounded && orphans === 0 && after <= before * memoryGrowthMax,
    lines: [
      `honest success ${(success * 100).toFixed(0)} %, goal at least ${successMin * 100} %; slowest ${seconds(Math.max(...durationsMs))} s`,
      `an honest purchase without attackers takes ${seconds(median(aloneMs))} s, with them ${seconds(median(durationsMs))} s (medians)`,
      `memory of worker and browser: during the attack ${(during / before).toFixed(1)} times, after it ${(after / before).toFixed(1)} times that before, goal at most ${memoryGrowthMax}; processes left behind ${orphans}`,
      `quotes that the honest caller asked for again after a 503: ${refusedQuotes}`,
      ...[...tally].map(([outcome, count]) => `honest, ${outcome}: ${count}`),
      ...tallyAttempts(ofHonest).map((line) => `attempts of the honest caller: ${line}`),
      ...[...ends].map(([end, some]) => `payments of attackers, ${end}: ${some.length}`),
      `browser time of a payment: most ${seconds(mostSpent)} s, on average ${seconds(spent.reduce((sum, ms) => sum + ms, 0) / spent.length)} s over ${spent.length} payments; bound ${renderSecondsMax} s and ${graceSeconds} s to end the last page`,
      ...tallyAttempts(ofAttackers).map((line) => `attempts of attackers: ${line}`),
      `most attempts with one payment ${Math.max(0, ...attacks.map(({ attempts }) => attempts))}, most time ${seconds(Math.max(0, ...attacks.map(({ busyMs }) => busyMs)))} s, waiting included`,
    ],
  })
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN
}

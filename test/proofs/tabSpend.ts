import '@tollbook/core/quietBindings'
import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { ask, askForQuote } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { closeTab, debitProof, newSessionKey, type OpenedTab, readOpenedTab } from '../tabs/tabClient.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { auditTabs } from './tabs/auditTabs.ts'
import { findUnequal, readTabSums } from './tabs/readTabSums.ts'
import { openTabFleet } from './tabs/tabFleet.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * Debits on 1, 10 and 1,000 tabs over four instances, while kill -9 ends instances and Postgres. To the base unit, what
 * was captured, owed back and is left equals the deposits; each number is delivered once, and repeated brings the same
 * answer; no tab is ever below zero.
 */

const { debits, everyMs, callers } = proofCommand('spend', 'Debits on tabs survive kills of servers and of Postgres.')
  // 100,000 take hours on a machine that is busy with other work: 5 a second were measured there.
  .option('--debits <n>', 'debits in all, a third on each number of tabs; 100000 for a release', wholeNumber, 20_000)
  .option('--every-ms <n>', 'pause between two kills; each fourth kills Postgres', wholeNumber, 6_000)
  .option('--callers <n>', 'callers at once', wholeNumber, 64)
  .parse()
  .opts<{ debits: number; everyMs: number; callers: number }>()

const rounds = [1, 10, 1_000]
// Every tenth number is asked for again at once, and each number whose first answer was lost.
const repeatedEvery = 10
// At least 200 s: what a killed server had claimed waits for the end of its lease of a minute.
const triesMax = 2_000

await using fleet = await openTabFleet({
  // A token for a dollar, and 100 base units a debit: one tab of 20 dollars pays for 200,000.
  TOKEN_PRICE_USD: '1',
  PRICES_USD: '/api/data/crypto=0.0001',
})
const { environment, runsFile } = fleet
const { payer, database } = environment
await writeFile(runsFile, '')

interface Sold {
  readonly receipt: string
  readonly data: string
}

const sale = z.object({ data: z.unknown(), receipt: z.object({ id: z.string() }) })
const sold = new Map<string, Sold>()
const answers = new Map<string, number>()
const wrong: string[] = []
const killed = { servers: 0, postgres: 0 }
let repeated = 0
let lostOnce = 0

/** Repeats one number at one instance after the other until its answer is there, like a client. */
async function debit(tab: OpenedTab, number: number, first: number): Promise<{ sale: Sold; tries: number }> {
  const order = { path: `/api/data/crypto?symbol=${symbolOf(tab, number)}` }
  for (let tries = 1; ; tries++) {
    // Nearly as long as the service permits: a request may wait for a minute while Postgres recovers.
    const proof = debitProof(tab, order, { number, validUntilMs: Date.now() + 9 * 60_000 })
    const counter = { baseUrl: fleet.baseUrl(first + tries), payer }
    const reply = await ask(counter, { ...order, proof }).catch(() => undefined)
    if (reply?.status === 200) {
      const { data, receipt } = sale.parse(reply.body)
      return { sale: { receipt: receipt.id, data: JSON.stringify(data) }, tries }
    }
    const said =
      reply === undefined ? 'no answer' : `${reply.status} ${String(reply.body['reason'] ?? reply.body['code'])}`
    answers.set(said, (answers.get(said) ?? 0) + 1)
    if (reply?.status === 402 || tries === triesMax)
      throw new Error(`${symbolOf(tab, number)}: ${said} at try ${tries}`)
    await systemClock.sleep(100)
  }
}

const symbolOf = ({ tab }: OpenedTab, number: number) => `${tab}N${number}`

async function spend(tab: OpenedTab, number: number): Promise<void> {
  const { sale: first, tries } = await debit(tab, number, number)
  sold.set(symbolOf(tab, number), first)
  if (tries > 1) lostOnce++
  if (tries === 1 && number % repeatedEvery !== 0) return
  repeated++
  const { sale: again } = await debit(tab, number, number + 1)
  if (again.receipt !== first.receipt || again.data !== first.data)
    wrong.push(`${symbolOf(tab, number)} brought another answer the second time`)
}

/** Opens a tab, and presents the deposit again while a busy instance does not answer in time. */
async function openUntilThere(first: number, depositUsd: number): Promise<OpenedTab> {
  const key = newSessionKey()
  const order = { path: '/api/tabs', body: { depositUsd, sessionKey: key.address } }
  const counter = (tries: number) => ({ baseUrl: fleet.baseUrl(first + tries), payer })
  const proof = await payer.pay(await askForQuote(counter(0), order), 'boundSignature')
  for (let tries = 0; ; tries++) {
    const { status, body } = await ask(counter(tries), { ...order, proof })
    if (status === 200) return { ...readOpenedTab(body), key }
    if (tries === triesMax || status === 402)
      throw new Error(`a deposit was answered ${status}: ${JSON.stringify(body)}`)
    await systemClock.sleep(100)
  }
}

async function killAll(signal: AbortSignal): Promise<void> {
  for (let turn = 1; ; turn++) {
    await systemClock.sleep(everyMs, signal).catch(() => undefined)
    if (signal.aborted) return
    if (turn % 4 === 0) await fleet.killPostgres()
    else await fleet.killServer(turn)
    killed[turn % 4 === 0 ? 'postgres' : 'servers']++
  }
}

/** Calls `work` for 0 to `count` - 1, `atOnce` at a time. */
async function forEach(count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const caller = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index)
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
}

async function spendRound(tabCount: number, share: number): Promise<void> {
  const tabs: OpenedTab[] = []
  await forEach(tabCount, 16, async (index) => {
    tabs.push(await openUntilThere(index, tabCount === 1 ? 20 : 1))
  })
  const over = new AbortController()
  const killing = killAll(over.signal)
  const startedAtMs = systemClock.monotonicMs()
  let done = 0
  await forEach(share, callers, async (index) => {
    const tab = assertPresent(tabs[index % tabCount], 'the tab was opened')
    await spend(tab, Math.floor(index / tabCount) + 1)
    done++
    if (done % 5_000 === 0)
      say(
        `${done} of ${share} debits on ${tabCount} tabs, ${killed.servers} servers and ${killed.postgres} Postgres killed`,
      )
  })
  const seconds = (systemClock.monotonicMs() - startedAtMs) / 1000
  over.abort()
  await killing
  // Every second tab is closed, so that a rest is owed as well.
  await forEach(tabCount, 8, async (index) => {
    const tab = assertPresent(tabs[index], 'the tab was opened')
    if (index % 2 === 1 && (await closeTab(fleet.baseUrl(index), tab)).status !== 200)
      wrong.push(`${tab.tab} was not closed`)
  })
  say(
    `${share} debits on ${tabCount} tabs in ${seconds.toFixed(0)} s: ${(share / seconds).toFixed(0)} a second, with kills`,
  )
}

const share = Math.ceil(debits / rounds.length)
say(`4 instances, ${callers} callers, ${share} debits on each of ${rounds.join(', ')} tabs, a kill every ${everyMs} ms`)
for (const tabCount of rounds) await spendRound(tabCount, share)

await awaitThat('no hold of a dead process is left', async () => (await readTabSums(database.adminUrl)).open === 0)
const sums = await readTabSums(database.adminUrl)
wrong.push(...findUnequal(sums))
const expected = share * rounds.length
if (sold.size !== expected || sums.capturedNumbers !== expected)
  wrong.push(`${sold.size} numbers were answered and ${sums.capturedNumbers} captured, of ${expected}`)
const receipts = new Set([...sold.values()].map(({ receipt }) => receipt))
if (receipts.size !== sold.size) wrong.push('two numbers have one receipt')
const runs = (await readFile(runsFile, 'utf8')).split('\n').filter((line) => line !== '')
if (new Set(runs).size !== expected) wrong.push(`${new Set(runs).size} orders were handled, of ${expected}`)

const report = await auditTabs(fleet, 60_000)
wrong.push(...report.wrong)

const { deposited, captured, owedBack, balance, held, returned } = sums
concludeProof({
  holds: wrong.length === 0,
  lines: [
    `${killed.servers} servers and ${killed.postgres} Postgres killed under ${expected} debits on ${rounds.join(', ')} tabs`,
    `${captured} captured + ${owedBack} owed back + ${balance} on tabs = ${captured + owedBack + balance} of ${deposited} deposited`,
    `${held} held = ${captured} captured + ${returned} returned; ${sums.unequalTabs} tabs unequal, ${sums.belowZero} times below zero`,
    `${sold.size} numbers answered, ${sums.soldTwice} sold twice, ${runs.length - expected} handlers ran again for a dead process`,
    `${lostOnce} numbers had no answer at first, ${repeated} were asked for again: ${wrong.length === 0 ? 'the same answer' : 'see below'}`,
    `other answers: ${JSON.stringify(Object.fromEntries(answers))}`,
    report.line,
    ...wrong.slice(0, 20),
  ],
})

import '@tollbook/core/quietBindings'
import type { Page } from 'puppeteer'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { tryAccountingTools } from './finance/accountingTools.ts'
import { auditSeed } from './finance/auditSeed.ts'
import { sumsOfCsv } from './finance/csvSums.ts'
import { openFinanceLedgers } from './finance/financeLedgers.ts'
import type { FinanceService } from './finance/financeService.ts'
import { proveMonth } from './finance/monthOfBoth.ts'
import { openBrowser } from './finance/openBrowser.ts'
import { createChecks, createPageLooks, type Size } from './finance/pageLooks.ts'
import { compareDrawing, firstPaintOf, type Look, serveBarePage } from './finance/paint.ts'
import { timeQueries } from './finance/queryTimes.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The finance page and the burn page, in a real browser, on a seeded ledger with real sales
 * on top: all are drawn, axe finds nothing serious, a keyboard is enough, no other host is contacted, and the sums of
 * the CSV are the trial balance. Drawing and each question take hardly longer with all payments than with a short
 * ledger. Foreign tools accept the exports.
 */

const command = proofCommand('finance', 'The finance page and the burn page in a real browser, on a seeded ledger.')
  .option('--payments <n>', 'payments in the long ledger, about', wholeNumber, 100_000)
  .option('--appended <n>', 'payments of the short ledger, which the long one repeats', wholeNumber, 10_000)
  .option(
    '--ledger <folder>',
    'keeps the ledgers there; the next run with it seeds nothing. 7 GB for a million payments',
  )
  .option('--audit', 'audit the long ledger too: about a minute for each million events', false)
  .option('--no-pages', 'questions and tools only')
  .option('--only-month', 'a month of both currencies by the steps of docs/finance.md, and nothing else', false)
  .option('--no-tools', 'without hledger, bean-check and DuckDB')
  .option('--pictures <prefix>', 'write a picture of each page to PREFIX-<name>.png')
const flags = command.parse().opts<{
  payments: number
  appended: number
  ledger?: string
  audit: boolean
  pages: boolean
  onlyMonth: boolean
  tools: boolean
  pictures?: string
}>()
const slowerMax = 1.5
const csvFirstMaxMs = 1_000
// Each box of a text is a line of it.
const areFiguresWhole = `[...document.querySelectorAll('.cards dt + dd')].every((figure) => {
  const text = document.createRange()
  text.selectNodeContents(figure)
  return text.getClientRects().length <= 1
})`

const checks = createChecks()
const { check } = checks
await proveMonth(check)
if (flags.onlyMonth) {
  concludeProof({ holds: checks.problems.length === 0, lines: ['a month of both currencies', ...checks.problems] })
  process.exit()
}

await using opened = new AsyncDisposableStack()
const appended = Math.min(flags.appended, flags.payments)
const factor = Math.round(flags.payments / appended)
const ledgers = opened.use(await openFinanceLedgers({ folder: flags.ledger, appended, factor }))
const { short: small, long: service } = ledgers
const { baseUrl, financeToken, signature, ask, dataOf, payments } = service
const { browser, end } = await openBrowser()
opened.defer(end)
const looks = await createPageLooks({ browser, checks, pictures: flags.pictures })
const { openPage, judge, fits, firstPaintMs } = looks

await timeQueries({ long: service, short: small }, check)
await timeCsv()
if (flags.pages) {
  await lookAtFinance('light', { width: 1280, height: 900 })
  await lookAtFinance('dark', { width: 1280, height: 900 })
  await lookAtFinance('light', { width: 390, height: 844 })
  await lookAtBurns('light', { width: 1280, height: 900 })
  await lookAtBurns('dark', { width: 390, height: 844 })
  await refuseStrangers()
  await comparePages()
}
if (flags.tools) await tryAccountingTools(small, check)
if (flags.audit) await auditSeed(ledgers.longUrl, check)
await compareCsv()
concludeProof({
  holds: checks.problems.length === 0,
  lines: [`${payments + 1} payments, two pages, ${checks.problems.length} problems`, ...checks.problems],
})

async function comparePages(): Promise<void> {
  const bare = opened.use(await serveBarePage())
  const bareMs = await firstPaintOf(browser, bare.url)
  const drawn: Readonly<Record<string, (service: Pick<FinanceService, 'baseUrl' | 'financeToken'>) => Look>> = {
    finance: (service) => ({
      url: `${service.baseUrl}/finance#token=${service.financeToken}`,
      until: ['#reports tbody tr', '#chart-liabilities meter', '#chart-distribution svg'],
    }),
    burn: (service) => ({ url: `${service.baseUrl}/burn`, until: ['figure svg'] }),
  }
  for (const [name, look] of Object.entries(drawn)) {
    const paintMs = await firstPaintOf(browser, look(service).url)
    say(`       ${name}: first paint ÷ that of a bare page: ${(paintMs / bareMs).toFixed(2)} (${paintMs} ms)`)
    const pages = { short: look(small), long: look(service) }
    const { ratio, longMs } = await compareDrawing(browser, pages)
    check(
      ratio <= slowerMax,
      `${name}: whole at ${payments} payments ÷ at ${small.payments}: ${ratio.toFixed(2)} (${Math.round(longMs)} ms)`,
    )
  }
}

/** The first bytes come at once; the last ones are those of a file of many megabytes. */
async function timeCsv(): Promise<void> {
  for (const path of ['payments?format=csv', 'burns?format=csv&by=wallet', 'refunds?format=csv']) {
    const startedAtMs = systemClock.monotonicMs()
    const reader = (await ask(path)).body?.getReader()
    await reader?.read()
    const firstMs = systemClock.monotonicMs() - startedAtMs
    await reader?.cancel()
    check(firstMs <= csvFirstMaxMs, `${path}: the first rows after ${firstMs.toFixed(0)} ms`)
  }
}

async function lookAtFinance(scheme: 'light' | 'dark', size: Size): Promise<void> {
  const name = `finance-${scheme}-${size.width}`
  const { page, asked, errors } = await openPage(scheme, size)
  await page.goto(`${baseUrl}/finance#token=${financeToken}`)
  await page.waitForSelector('#reports tbody tr', { timeout: 8_000 }).catch(async (error: unknown) => {
    say(await page.$eval('#status', (status) => status.textContent ?? ''))
    throw error
  })
  await page.waitForSelector('#chart-liabilities meter')
  check(
    !page.url().includes('token'),
    `${name}: the token is not in the address (first paint after ${await firstPaintMs(page)} ms)`,
  )
  // Each chart has a separate request.
  const areDrawn = page.waitForFunction(`document.querySelectorAll('figure :is(svg, table:has(meter))').length === 4`, {
    timeout: 8_000,
  })
  check(await areDrawn.then(Boolean, () => false), `${name}: four charts are drawn`)
  check(await fits(page), `${name}: the page is not wider than its window`)
  check(Boolean(await page.evaluate(areFiguresWhole)), `${name}: no figure of a card is broken over two lines`)
  await judge(page, name)
  if (size.width > 1000) {
    await byKeyboard(page, name)
    await byState(page, name)
    await byAddress(page, name)
  }
  await page.close()
  check(
    asked.every((url) => url.startsWith(baseUrl) || url.startsWith('data:')),
    `${name}: no other host was contacted`,
  )
  check(!asked.some((url) => url.includes(financeToken)), `${name}: no address had the token`)
  check(errors.length === 0, `${name}: no errors in the console ${errors.join('; ')}`)
}

/** Payments of a state are found by its word, and the dialog explains the state. */
async function byState(page: Page, name: string): Promise<void> {
  for (const [state, word] of [
    ['refund_due', 'refund due'],
    ['reversed', 'reversed'],
    ['unmatched', 'unmatched'],
  ] as const) {
    await page.select('#reports [name=report]', 'payments')
    await page.select('#reports [name=state]', state)
    await page.waitForFunction(`document.querySelector('#reports:not([aria-busy]) tbody .badge.${state}') !== null`)
    const words = await page.$$eval('#reports tbody .badge', (badges) => badges.map((badge) => badge.textContent))
    check(words.length > 0 && words.every((shown) => shown === word), `${name}: payments that are ${word} are found`)
    await page.click('#reports tbody a.link')
    await page.waitForSelector('dialog[open] .events li')
    const meaning = await page.$eval('dialog .meaning', (note) => note.textContent ?? '')
    check(meaning.length > 40, `${name}: and one of them says "${meaning}"`)
    if (state === 'refund_due') await judge(page, `${name}-payment-refund`)
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog:not([open])')
  }
}

/** Filters and payments have addresses, and no column of any report is cut off. */
async function byAddress(page: Page, name: string): Promise<void> {
  for (const report of ['payments', 'refunds', 'distributions', 'burns', 'payouts', 'trial-balance', 'liabilities']) {
    await page.goto(`${baseUrl}/finance?report=${report}&month=2026-10`)
    await page.waitForSelector('#reports:not([aria-busy]) thead th')
    const isShown = await page.$eval('#reports [name=report]', (field) => field.value)
    const isWhole = await page.$eval('#reports .scroll', (box) => box.scrollWidth <= box.clientWidth)
    check(isShown === report && isWhole, `${name}: ${report} is shown by its address, with columns that fit`)
  }
  await page.goto(`${baseUrl}/finance?payment=${signature}`)
  const diagnosis = await page.waitForSelector('dialog[open] .explanation .staff')
  const words = (await diagnosis?.evaluate((note) => note.textContent)) ?? ''
  check(words.includes('delivered'), `${name}: a payment opens by its address, with its diagnosis`)
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog:not([open])')
  check(!page.url().includes('payment='), `${name}: and its address ends with it`)
}

/** A payment is opened and closed, and the next page turned, without a mouse. */
async function byKeyboard(page: Page, name: string): Promise<void> {
  const row = await page.waitForSelector(`#reports tbody ::-p-text(${signature.slice(0, 8)})`)
  await row?.focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog[open] .events li')
  const kinds = await page.$$eval('dialog .events h3', (titles) => titles.map((title) => title.textContent))
  check(
    kinds.some((kind) => kind?.includes('DistributionAllocated') === true),
    `${name}: the payment shows its events`,
  )
  await judge(page, `${name}-payment`)
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog:not([open])')
  await page.focus('#reports .next')
  await page.keyboard.press('Enter')
  await page.waitForFunction('document.querySelector("#reports .page").textContent === "Page 2"')
  await page.select('#reports [name=report]', 'trial-balance')
  await page.waitForFunction('document.querySelector("#reports caption").textContent.startsWith("Trial")')
  await judge(page, `${name}-trial-balance`)
}

async function lookAtBurns(scheme: 'light' | 'dark', size: Size): Promise<void> {
  const name = `burn-${scheme}-${size.width}`
  const { page, asked, errors } = await openPage(scheme, size)
  await page.goto(`${baseUrl}/burn`)
  await page.waitForSelector('figure svg')
  check(
    await fits(page),
    `${name}: the page is not wider than its window (first paint after ${await firstPaintMs(page)} ms)`,
  )
  await judge(page, name)
  await page.close()
  check(
    asked.every((url) => url.startsWith(baseUrl) || url.startsWith('data:')),
    `${name}: no other host was contacted`,
  )
  check(errors.length === 0, `${name}: no errors in the console ${errors.join('; ')}`)
}

async function refuseStrangers(): Promise<void> {
  const { page } = await openPage('light', { width: 800, height: 600 })
  await page.goto(`${baseUrl}/finance#token=abc`)
  await page.waitForFunction('document.querySelector("#status").textContent.startsWith("Not signed in")')
  check(
    await page.$eval('#ledger', (ledger) => ledger.hasAttribute('hidden')),
    'an unauthenticated user sees no figures, and gets the reason',
  )
  await judge(page, 'finance-sign-in')
  await page.close()
}

async function compareCsv(): Promise<void> {
  const { rows } = await dataOf(
    'trial-balance',
    z.object({ rows: z.array(z.record(z.string(), z.union([z.string(), z.number()]))) }),
  )
  const closing = (account: string, side: 'Debit' | 'Credit') =>
    BigInt(rows.find((row) => row['account'] === account)?.[`closing${side}BaseUnits`] ?? 0)
  const sums = await sumsOf('payments')
  const expected = {
    burnedBaseUnits: closing('Expenses:Burned', 'Debit'),
    receivedBaseUnits: closing('Assets:PaymentWallet', 'Debit'),
    burnOwedBaseUnits: closing('Liabilities:BurnOwed', 'Credit'),
    unearnedBaseUnits: closing('Liabilities:Unearned', 'Credit'),
    providerBaseUnits: closing('Liabilities:Share:provider', 'Credit'),
    holdersBaseUnits: closing('Liabilities:Share:holders', 'Credit'),
    treasuryBaseUnits: closing('Liabilities:Share:treasury', 'Credit'),
    lostBaseUnits: closing('Expenses:ReversedPayments', 'Debit'),
    owedBaseUnits: ['Overpaid', 'RefundsDue', 'Unmatched'].reduce(
      (sum, kind) => sum + closing(`Liabilities:${kind}`, 'Credit'),
      0n,
    ),
  }
  for (const [column, amount] of Object.entries(expected))
    check(
      sums.get(column) === amount && amount > 0n,
      `payments.csv: ${column} sums to ${amount}, as the trial balance closes`,
    )
  const liabilities = await sumsOf('liabilities')
  const debts = rows.filter(({ account }) => String(account).startsWith('Liabilities:'))
  const credits = debts.reduce((sum, row) => sum + BigInt(row['closingCreditBaseUnits'] ?? 0), 0n)
  check(
    liabilities.get('owedBaseUnits') === credits,
    `liabilities.csv: what is owed sums to ${credits}, as the trial balance closes`,
  )
}

async function sumsOf(report: string): Promise<ReadonlyMap<string, bigint>> {
  const { sums, rows } = await sumsOfCsv(await ask(`${report}?format=csv`))
  say(`       ${report}.csv: ${rows} rows`)
  return sums
}

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { z } from 'zod'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { signedClosing } from '@tollbook/core/closingStatement'
import { openHome } from '../../../src/cli/local/home.ts'
import { isPayable } from '../../../src/accounting/account.ts'
import { recordBurn } from '../../reports/recordBurn.ts'
import { recordPayout } from '../../reports/recordPayout.ts'
import { openEnvironment } from '../proofEnvironment.ts'
import { runTollbook } from '../restore/tollbook.ts'
import { say } from '../verdict.ts'
import { tryAccountingTools } from './accountingTools.ts'
import { type FinanceService, serveFinance } from './financeService.ts'
import type { Checks } from './pageLooks.ts'
import { seedLedger } from './seedLedger.ts'

const payments = 2_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const run = promisify(execFile)
const summary = z.object({ mints: z.array(z.object({ mint: z.string(), name: z.string(), decimals: z.int() })) })
const trialBalance = z.object({
  rows: z.array(
    z.object({ account: z.string(), closingDebitBaseUnits: z.string(), closingCreditBaseUnits: z.string() }),
  ),
})

/**
 * A ledger with months of sales in the token and in dollars, refunds, payouts, burns and deliveries of the treasury.
 * The steps of the walk-through in docs/finance.md close one of them, once for each mint, and foreign tools read the
 * exports.
 */
export async function proveMonth(check: Checks['check']): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const environment = opened.use(await openEnvironment())
  const mint = assertPresent(readAddress(environment.env['TOKEN_MINT'] ?? ''), 'a mint')
  await seedLedger(environment.database, { mint, payments, sellsInDollars: true })
  await payAndBurn(environment.database.adminUrl, mint)
  const home = await openHome(join(environment.directory, 'home'))
  const service = opened.use(await serveFinance({ environment, home, payments }))
  // The month before is closed, and the running one has the payouts and the burn.
  const months = [32 * dayMs, hourMs].map((agoMs) => isoTime(systemClock.nowMs() - agoMs).slice(0, 7))
  const { mints } = await service.dataOf('summary', summary)
  check(
    mints.map(({ name }) => name).join() === 'TOKEN,USDC',
    `the ledger has the mints ${mints.map(({ name }) => name).join()}`,
  )
  const steps = { service, folder: environment.directory, check }
  for (const month of months) for (const { mint: of, name } of mints) await closeMonth(steps, { mint: of, name, month })
  await compareHledger(steps, mints)
  await tryAccountingTools(service, check)
}

/** One payout of each mint for a part of each share, and one burn of the tokens that the treasury has delivered. */
async function payAndBurn(adminUrl: string, token: NonNullable<ReturnType<typeof readAddress>>): Promise<void> {
  const admin = new pg.Pool({ connectionString: adminUrl, max: 2 })
  const { rows } = await admin.query<{ mint: string; account: string; owed: string }>(
    "select mint, name as account, (-balance)::text as owed from ledger.accounts where name like 'Liabilities:Share:%' and balance < 0",
  )
  const paidAtMs = systemClock.nowMs() - hourMs
  for (const [index, [mint, debts]] of [...Map.groupBy(rows, (row) => row.mint)].entries()) {
    const payable = debts.flatMap(({ account, owed }) => (isPayable(account) ? [{ account, owed: BigInt(owed) }] : []))
    const payments = payable.map(({ account, owed }) => ({ account, wallet: token, paidBaseUnits: owed / 2n }))
    const planId = `payout_${String(index).padStart(32, '0')}`
    await recordPayout(admin, {
      planId,
      payments,
      effectiveAtMs: paidAtMs,
      mint: assertPresent(readAddress(mint), 'a mint'),
    })
  }
  await recordBurn(admin, {
    mint: token,
    parts: [{ endpoint: '/api/data/crypto', baseUnits: 1_000n }],
    effectiveAtMs: paidAtMs,
  })
  await admin.end()
}

interface Steps {
  readonly service: FinanceService
  readonly folder: string
  readonly check: Checks['check']
}

interface MintMonth {
  readonly mint: string
  readonly name: string
  readonly month: string
}

/** Closing statement, its verification, and the trial balance behind it. */
async function closeMonth({ service, folder, check }: Steps, { mint, name, month }: MintMonth): Promise<void> {
  const words = ['report', 'closing', '--month', month, '--mint', name, '--format', 'json']
  const closed = await runTollbook(words, service.env)
  check(
    closed.exitCode === 0,
    `tollbook ${words.join(' ')} ends with ${closed.exitCode} ${closed.exitCode === 0 ? '' : closed.output}`,
  )
  const file = join(folder, `${month}-${name}.json`)
  await writeFile(file, closed.output)
  const keys = join(folder, 'jwks.json')
  await writeFile(keys, await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).text())
  const verified = await runTollbook(['verify', file, '--key', keys], service.env)
  check(
    verified.exitCode === 0,
    `tollbook verify of ${name} ends with ${verified.exitCode} ${verified.exitCode === 0 ? '' : verified.output}`,
  )
  const { statement } = signedClosing.parse(JSON.parse(await readFile(file, 'utf8')))
  check(statement.mint === mint, `the statement of ${month} is in ${name}, ${statement.status}`)
  const lastDay = statement.closingPrice?.day ?? ''
  const { rows } = await service.dataOf(`trial-balance?month=${month}&mint=${name}`, trialBalance)
  const closing = new Map(
    rows.map((row) => [row.account, BigInt(row.closingDebitBaseUnits) - BigInt(row.closingCreditBaseUnits)]),
  )
  const differing = statement.accounts.filter(
    ({ account, closingBaseUnits }) => closing.get(account) !== BigInt(closingBaseUnits),
  )
  check(
    differing.length === 0 && statement.accounts.length > 5,
    `${statement.accounts.length} balances in ${name} are those of the trial balance ${differing.map(({ account }) => account).join()}`,
  )
  const { received, allocated, paidOut, burned, burnConfirmed } = statement.totals
  say(
    `       ${name}: received ${received.baseUnits}, ${received.atDayPriceMicroUsd} micro dollars; allocated ${allocated.baseUnits}, paid out ${paidOut.baseUnits}, burned ${burned.baseUnits} and ${burnConfirmed.baseUnits}; price of ${lastDay}`,
  )
  if (name === 'USDC') check(burned.baseUnits === '0' && burnConfirmed.baseUnits === '0', 'no dollar is burned')
}

/** The balances of hledger, one commodity at a time, are the trial balances of all time. */
async function compareHledger(
  { service, folder, check }: Steps,
  mints: z.output<typeof summary>['mints'],
): Promise<void> {
  const file = join(folder, 'month.hledger')
  const exported = await runTollbook(['export', 'hledger', '--output', file], service.env)
  check(
    exported.exitCode === 0,
    `export hledger ends with ${exported.exitCode} ${exported.exitCode === 0 ? '' : exported.output}`,
  )
  for (const { name, decimals } of mints) {
    const query = ['-f', file, 'balance', `cur:^${name}$`, '--flat', '--no-total', '--output-format', 'csv', '-V']
    const env = { ...process.env, LC_ALL: 'C.UTF-8' }
    const found = await run('hledger', query.slice(0, -1), { env, maxBuffer: 64_000_000 }).catch(String)
    if (typeof found === 'string') return say(`not run: ${found.slice(0, 100)}`)
    const wallet = /"Assets:PaymentWallet","([^" ]+)/.exec(found.stdout)?.[1] ?? ''
    const { rows } = await service.dataOf(`trial-balance?mint=${name}`, trialBalance)
    const expected = rows.find(({ account }) => account === 'Assets:PaymentWallet')?.closingDebitBaseUnits ?? ''
    const [whole = '', fraction = ''] = wallet.split('.')
    const baseUnits = BigInt(`${whole}${fraction.padEnd(decimals, '0')}`).toString()
    check(baseUnits === expected, `hledger: the payment wallet has ${wallet} ${name}, as the trial balance says`)
    const valued = await run('hledger', [...query.slice(0, -2), 'csv', '-X', 'USD'], { env, maxBuffer: 64_000_000 })
    check(valued.stdout.includes('USD'), `hledger values ${name} in USD`)
  }
}

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { runTollbook } from '../restore/tollbook.ts'
import { makeTemporaryDirectory } from '../../support/temporaryDirectory.ts'
import { say } from '../verdict.ts'
import type { FinanceService } from './financeService.ts'
import type { Checks } from './pageLooks.ts'

const duckdb = 'duckdb==1.5.6'

const run = promisify(execFile)
const installMs = 60_000
const outputMax = 64 * 1024 * 1024
const journals = {
  hledger: ['hledger', '-f', 'FILE', 'check', '--strict'],
  beancount: ['bean-check', 'FILE'],
} as const
const balances = z.array(z.object({ mint: z.string(), account: z.string(), balance: z.string() }))
const summary = z.object({ mints: z.array(z.object({ mint: z.string(), name: z.string() })) })
const trialBalance = z.object({
  rows: z.array(
    z.object({ account: z.string(), closingDebitBaseUnits: z.string(), closingCreditBaseUnits: z.string() }),
  ),
})

/** The exports of the ledger in the accountants' own tools. Names each tool that this machine lacks. */
export async function tryAccountingTools(service: FinanceService, check: Checks['check']): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const { path: folder, remove } = await makeTemporaryDirectory()
  opened.defer(remove)
  const write = async (format: string): Promise<string> => {
    const file = join(folder, `ledger.${format}`)
    const { exitCode, output } = await runTollbook(['export', format, '--output', file], service.env)
    check(exitCode === 0, `export ${format} ends with ${exitCode} ${exitCode === 0 ? '' : output}`)
    return file
  }
  for (const [format, [tool, ...words]] of Object.entries(journals)) {
    if (!(await isInstalled(tool))) {
      say(`not run: this machine has no ${tool}`)
      continue
    }
    const file = await write(format)
    const given = words.map((word) => (word === 'FILE' ? file : word))
    const verdict = await run(tool, given, { env: { ...process.env, LC_ALL: 'C.UTF-8' }, maxBuffer: outputMax }).then(
      ({ stdout, stderr }) => `${stdout}${stderr}`,
      String,
    )
    check(verdict.trim() === '', `${tool} accepts the journal ${verdict.slice(0, 300)}`)
  }
  const python = await pythonWithDuckdb(folder)
  if (python !== undefined) await compareSums(service, { check, python, file: await write('parquet') })
}

async function isInstalled(tool: string): Promise<boolean> {
  return run(tool, ['--version']).then(
    () => true,
    () => false,
  )
}

async function pythonWithDuckdb(folder: string): Promise<string | undefined> {
  try {
    await run('python3', ['-m', 'venv', join(folder, 'python')])
    const words = ['install', '--retries', '1', '--only-binary', ':all:', duckdb]
    await run(join(folder, 'python', 'bin', 'pip'), words, { timeout: installMs })
    return join(folder, 'python', 'bin', 'python')
  } catch (error) {
    say(`not run: this machine cannot install ${duckdb}: ${String(error).trim().split('\n').at(-1)}`)
    return undefined
  }
}

// One line for the accounts of all wallets, and for all burns, as in the trial balance.
const sumsInDuckdb = `
import duckdb, json, sys
rows = duckdb.sql(f"""
  select mint, case when account like 'Liabilities:Share:%' then account
    else array_to_string(str_split(account, ':')[1:2], ':') end as shown,
    sum(coalesce(debit_base_units, 0)) - sum(coalesce(credit_base_units, 0)) as balance
  from read_parquet('{sys.argv[1]}') where account not like 'Memo:%' group by mint, shown order by mint, shown""").fetchall()
print(json.dumps([{'mint': mint, 'account': line, 'balance': str(int(balance))} for mint, line, balance in rows]))`

interface SumsQuestion {
  readonly check: Checks['check']
  readonly python: string
  readonly file: string
}

async function compareSums(service: FinanceService, { check, python, file }: SumsQuestion): Promise<void> {
  const { stdout } = await run(python, ['-c', sumsInDuckdb, file], { maxBuffer: outputMax })
  const sums = balances.parse(JSON.parse(stdout))
  assertPresent(sums[0], 'the ledger has accounts')
  const { mints } = await service.dataOf('summary', summary)
  for (const { mint, name } of mints) {
    const found = sums.filter((line) => line.mint === mint)
    await compareMint(service, { mint, name, found, check })
  }
}

interface MintSums {
  readonly mint: string
  readonly name: string
  readonly found: z.output<typeof balances>
  readonly check: Checks['check']
}

async function compareMint(service: FinanceService, { mint, name, found, check }: MintSums): Promise<void> {
  const { rows } = await service.dataOf(`trial-balance?mint=${mint}`, trialBalance)
  for (const { account, balance } of found) {
    const row = rows.find((line) => line.account === account)
    const closing =
      row === undefined ? undefined : BigInt(row.closingDebitBaseUnits) - BigInt(row.closingCreditBaseUnits)
    check(closing === BigInt(balance), `DuckDB over the Parquet: ${name} ${account} closes with ${balance}`)
  }
  const missing = rows.filter(({ account }) => !found.some((line) => line.account === account))
  check(
    missing.length === 0,
    `DuckDB has every line of the trial balance in ${name} ${missing.map(({ account }) => account).join(', ')}`,
  )
}

import { Argument, Command, Option } from 'commander'
import type { ReceiptSigningKey } from '../config.ts'
import { Fault } from '@tollbook/core/fault'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { silentLog } from '../machine/log.ts'
import { UnknownMint } from '../store/ledgerMints.ts'
import { ledgerToken } from '../reports/ledgerToken.ts'
import { hasBegun, isProblems, limitMax, type ReportQuestion } from '../reports/reportQuestion.ts'
import { UnknownColumn, describeReport, readQuestion, type ReportName, reportNames } from '../reports/readReport.ts'
import { createReports, type Reports } from '../reports/reports.ts'
import type { ReportPosition } from '../reports/rollUp.ts'
import { openDatabase } from '../store/database.ts'
import type { CommandDeps } from './commandDeps.ts'
import { closingText } from './reportClosing.ts'
import { brokenOffExitCode, openStandardOutput } from './output.ts'
import { jsonLines, textTable } from './reportText.ts'
import { rollUpAll } from './rollUpAll.ts'
import { exitCodeOf, usageExitCode } from './runCommand.ts'

interface ReportFlags {
  readonly format: string
  readonly mint?: string
}

export interface ReportCommandDeps extends Pick<
  CommandDeps,
  'stdout' | 'stderr' | 'interrupted' | 'setExitCode' | 'clock'
> {
  readonly databaseUrl: () => Promise<string>
  readonly receiptKey: () => Promise<ReceiptSigningKey>
}

export function reportCommand(deps: ReportCommandDeps): Command {
  return new Command('report')
    .description(
      'burns, payments, refunds, liabilities, tabs, the trial balance or the closing statement of a month, from the ledger',
    )
    .addArgument(new Argument('<report>').choices(names))
    .argument('[signature]', 'signature of the payment, payout or burn; for the report "payment"')
    .option('--from <day>', 'first UTC day, for example 2026-11-01')
    .option('--to <day>', 'last UTC day, included')
    .option('--month <month>', 'instead of both, for example 2026-11')
    .option('--quarter <quarter>', 'instead of both, for example 2026-Q4')
    .option('--by <group>', 'burns and distributions: day, endpoint or wallet')
    .option('--endpoint <path>', 'payments of one endpoint')
    .option('--wallet <address>', 'payments of one wallet')
    .option('--state <state>', 'payments in one state, such as released')
    .option('--refund <state>', 'refunds in one state: due, approved, part_paid or paid')
    .option('--owed-to <whom>', 'liabilities: all, shares, or wallets for the refunds due')
    .option('--mint <mint>', 'mint of all figures: its name such as USDC, or its address (default: the token)')
    .option('--tab <id>', 'tab-statement: the tab')
    .option('--columns <names>', 'only these columns, separated by commas')
    .option('--limit <rows>', `maximum rows of a table or JSON, at most ${limitMax}; CSV has all rows`)
    .addOption(new Option('--format <format>').choices(formats).default('table'))
    .addHelpText(
      'after',
      '\nREPORTS_DATABASE_URL, which may be a standby, or DATABASE_URL is a login of tollbook_service or tollbook_reader.\n' +
        'Local mode is detected automatically.\n' +
        'closing: RECEIPT_SIGNING_KEY signs the statement; check it with `tollbook verify FILE --key KEY`.\n' +
        exitHelp,
    )
    .action(async (...[name, reference, { format, mint, ...given }, command]: ReportArguments) => {
      const refuse = (text: string) => command.error(`error: ${text}`, { exitCode: usageExitCode })
      const call = { name, reference, format, mint, given, refuse }
      const run = () => {
        if (isReport(name) && reference === undefined) return runReport(deps, name, call)
        return (name === 'closing' && reference === undefined ? runClosing : runDetail)(deps, call)
      }
      deps.setExitCode(await exitCodeOf(deps, run))
    })
}

const exitHelp = `
Exit codes:
  0  printed
  2  wrong usage
  4  the ledger has no such payment, no statement can be signed, or the output cannot be written; the message says why
  7  the database does not answer, or the month is not sealed yet; run it again
  130  interrupted`

const names = [...reportNames, 'summary', 'payment', 'closing'] as const
type AskedName = (typeof names)[number]

function isReport(name: AskedName): name is ReportName {
  return name !== 'summary' && name !== 'payment' && name !== 'closing'
}

const formats = ['table', 'csv', 'json']
const databaseConnectionsMax = 2
const standardLimit = { limit: '50' }

type ReportArguments = [AskedName, string | undefined, ReportFlags, Command]

interface ReportCall {
  readonly name: AskedName
  readonly reference: string | undefined
  readonly format: string
  readonly mint: string | undefined
  readonly given: Readonly<Record<string, string>>
  /** Ends the command with the exit code of wrong usage. */
  readonly refuse: (text: string) => never
}

async function runReport(
  deps: ReportCommandDeps,
  report: ReportName,
  { format, mint, given, refuse }: ReportCall,
): Promise<number> {
  const question = readQuestion(report, {
    ...(format === 'csv' || !describeReport(report).accepts.includes('limit') ? {} : standardLimit),
    ...given,
  })
  if (isProblems(question))
    return refuse(question.map(({ field, message }) => `${optionOf(field)} ${message}`).join('; '))
  return withReports(deps, mint, (reports) => print(deps, { reports, report, question, format }))
}

async function runDetail(deps: ReportCommandDeps, call: ReportCall): Promise<number> {
  const { name, reference, format, mint, refuse } = call
  const [stray] = Object.keys(call.given)
  if (stray !== undefined) return refuse(`${optionOf(stray)} is unknown here; ${name} takes none`)
  if (format === 'csv') return refuse(`--format must be table or json for ${name}`)
  if ((reference === undefined) === (name === 'payment'))
    return refuse(name === 'payment' ? 'payment needs a signature' : `${name} takes no signature`)
  return withReports(deps, mint, async (reports) => {
    const found = reference === undefined ? (await reports.summary()).read : await reports.payment(reference)
    if (found === undefined)
      throw new Fault(`the ledger has no payment, payout or burn ${reference}; ask \`tollbook explain\``, {
        retryable: false,
      })
    await openStandardOutput(deps).write(`${JSON.stringify(found, null, format === 'json' ? 0 : 2)}\n`)
  })
}

async function runClosing(deps: ReportCommandDeps, { format, mint, given, refuse }: ReportCall): Promise<number> {
  const { month, ...strays } = given
  const [stray] = Object.keys(strays)
  if (stray !== undefined)
    return refuse(`${optionOf(stray)} is unknown here; closing takes --month, --mint and --format`)
  if (format === 'csv')
    return refuse('--format must be table or json for closing; trial-balance has the same accounts as csv')
  const { clock } = deps
  if (month === undefined || !hasBegun(month, clock.nowMs()))
    return refuse(`--month must be a month such as 2026-11, and not after this one (got ${month ?? 'none'})`)
  const key = await deps.receiptKey()
  return withReports(deps, mint, async (reports) => {
    await openStandardOutput(deps).write(await closingText({ reports, month, format, key, clock }))
  })
}

async function withReports(
  deps: ReportCommandDeps,
  mint: string | undefined,
  work: (reports: Reports) => Promise<void>,
): Promise<number> {
  const databaseUrl = await deps.databaseUrl()
  const database = openDatabase({
    databaseUrl,
    applicationName: 'tollbook report',
    connectionsMax: databaseConnectionsMax,
    log: silentLog,
  })
  try {
    const token = await ledgerToken(database)
    if (token === undefined) throw new Fault('the ledger is empty: nothing was ever priced', { retryable: false })
    await rollUpAll(database, deps.interrupted)
    const reports = createReports(database, token)
    if (mint === undefined) await nameOtherMints(deps, reports)
    await work(mint === undefined ? reports : await reports.inMint(mint))
    return 0
  } catch (error) {
    // Only the ledger has the names of mints and shares, so these mistakes show after the options were parsed.
    if (error instanceof UnknownMint) throw new UsageProblem('--mint', error.message)
    if (error instanceof UnknownColumn) throw new UsageProblem('--columns', error.message)
    const exitCode = brokenOffExitCode(error, deps.interrupted)
    if (exitCode === undefined) throw error
    return exitCode
  } finally {
    await database.destroy()
  }
}

/**
 * Lists the other mints on stderr. Each figure of a report is in one mint, so a reader who chose none should know which
 * others exist.
 */
async function nameOtherMints({ stderr }: ReportCommandDeps, { mints, token }: Reports): Promise<void> {
  const known = await mints()
  const others = known.flatMap(({ mint, name }) => (mint === token.mint ? [] : [name]))
  const shown = known.find(({ mint }) => mint === token.mint)?.name ?? token.mint
  if (others.length > 0) stderr.write(`in ${shown} only: the ledger also has ${others.join(', ')} (--mint)\n`)
}

function optionOf(field: string): string {
  return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

interface Printed {
  readonly reports: Reports
  readonly report: ReportName
  readonly question: ReportQuestion
  readonly format: string
}

async function print(deps: ReportCommandDeps, { reports, report, question, format }: Printed): Promise<void> {
  const output = openStandardOutput(deps)
  if (format === 'csv') {
    const { read, ...position } = await reports.csv(report, question)
    // Wait for each write, because the reader of a pipe may be slower than the database.
    for await (const chunk of read) await output.write(String(chunk))
    reportLag(deps, position)
    return
  }
  const { read, ...position } = await reports.table(report, question)
  await output.write(
    format === 'json'
      ? jsonLines(report, read, { ...reports.token, ...position })
      : textTable(read, reports.token.decimals),
  )
  reportLag(deps, position)
}

function reportLag({ stderr }: ReportCommandDeps, { position, headPosition }: ReportPosition): void {
  if (position >= headPosition) return
  const why = 'this database or login may only read, and no service with the finance reports has rolled up the rest'
  stderr.write(`as of position ${position} of ${headPosition}: ${why}\n`)
}

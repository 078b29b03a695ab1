import { Argument, Command, Option } from 'commander'
import { verifierKeyText } from '@tollbook/core/checkpoint'
import { describeError, Fault } from '@tollbook/core/fault'
import { silentLog } from '../machine/log.ts'
import {
  type ExportFormat,
  exportFormats,
  exportLedger,
  type ExportTable,
  exportTables,
} from '../reports/export/exportLedger.ts'
import { type Bound, readBound } from '../reports/export/exportRange.ts'
import type { ExportScope } from '../reports/export/exportScope.ts'
import { openDatabase } from '../store/database.ts'
import type { KnownLedger } from '@tollbook/audit/auditCommand'
import { findLedger } from './installation.ts'
import type { CommandDeps } from './commandDeps.ts'
import { brokenOffExitCode, openStandardOutput } from './output.ts'
import { openOutputFile } from './outputFile.ts'
import { openProgressBar } from './progressBar.ts'
import { rollUpAll } from './rollUpAll.ts'
import { exitCodeOf } from './runCommand.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

interface ExportOptions {
  readonly table: ExportTable
  readonly from?: string
  readonly to?: string
  readonly output?: string
  readonly database?: string
}

// Maximum time of one statement. The closing balances need every entry, and reading a hundred million entries takes a
// minute.
const statementTimeoutMs = 15 * 60 * 1000

export function exportCommand(deps: CommandDeps): Command {
  return new Command('export')
    .description('write the ledger as jsonl (all of it, for an audit), csv, parquet, beancount or hledger')
    .addArgument(new Argument('<format>').choices(exportFormats))
    .addOption(new Option('--table <name>', 'rows of csv and parquet').choices(exportTables).default('entries'))
    .option('--from <when>', 'first position, or the day or time of its recording: 42, 2026-11-01')
    .option('--to <when>', 'last position or day (included), or time (excluded)')
    .option('--output <file>', 'write to a file, which appears when it is complete (default: standard output)')
    .option(
      '--database <url>',
      'a role that may read the ledger (default: REPORTS_DATABASE_URL, DATABASE_URL, or local mode)',
    )
    .addHelpText('after', exportHelp)
    .action(async (format: ExportFormat, options: ExportOptions) => {
      deps.setExitCode(await exitCodeOf(deps, () => runExport(deps, format, options), damaged))
    })
}

const exportHelp = `
Each export names the size and root of the Merkle tree that it ends at, and the newest signed checkpoint;
docs/finance-export.md says how to tie it to one. A role of tollbook_reader suffices.

Exit codes: 0 written; 1 the ledger cannot be read or is damaged; 2 wrong usage; 130 interrupted`

const damaged = { refused: 1, unavailable: 1 }

async function runExport(deps: CommandDeps, format: ExportFormat, options: ExportOptions): Promise<number> {
  const { table, from, to, output, database } = options
  const question = { format, table, from: boundOf('from', from), to: boundOf('to', to), output }
  if (output === undefined && format === 'parquet' && deps.stdout.isTTY === true)
    throw new UsageProblem('--output', 'is missing: Parquet is binary and cannot be written to a terminal')
  return write(deps, await findLedger(deps, database), question)
}

interface ExportOrder {
  readonly format: ExportFormat
  readonly table: ExportTable
  readonly from: Bound | undefined
  readonly to: Bound | undefined
  readonly output: string | undefined
}

function boundOf(end: 'from' | 'to', text: string | undefined): Bound | undefined {
  if (text === undefined) return undefined
  const bound = readBound(text, end)
  if (bound !== undefined) return bound
  throw new UsageProblem(
    `--${end}`,
    `must be a position, a day such as 2026-11-21, or a moment such as 2026-11-21T10:00:00Z (got ${text})`,
  )
}

async function write(deps: CommandDeps, ledger: KnownLedger, order: ExportOrder): Promise<number> {
  const { databaseUrl, origin, publicKey } = ledger
  const output = order.output === undefined ? openStandardOutput(deps) : await openOutputFile(order.output)
  const naming = { databaseUrl, applicationName: 'tollbook export' }
  // One snapshot reads the whole export, so one connection suffices.
  const database = openDatabase({ ...naming, connectionsMax: 1, statementTimeoutMs, log: silentLog })
  // An export of a long ledger takes minutes, and the size of the file does not show how much is left.
  const bar = openProgressBar('events', deps.stderr.isTTY === true && order.output !== undefined)
  try {
    // Roll up first, because values in dollars come from the reports.
    if (order.format !== 'jsonl') await rollUpAll(database, deps.interrupted)
    const scope = await exportLedger(database, {
      ...order,
      verifierKey:
        origin === undefined || publicKey === undefined ? undefined : verifierKeyText({ name: origin, publicKey }),
      signal: deps.interrupted,
      write: (chunk) => output.write(chunk),
      onProgress: (position, { fromPosition, toPosition }) =>
        bar.update(Math.max(position - fromPosition + 1, 0), toPosition - fromPosition + 1),
    })
    await output.finish()
    bar.stop()
    if (!scope.isValued && order.format !== 'jsonl')
      deps.stderr.write('without values in dollars: the reports have not reached the end of this export\n')
    if (order.output !== undefined) deps.stderr.write(`${summaryOf(scope, order)}\n`)
    return 0
  } catch (error) {
    bar.stop()
    await output.abandon()
    const exitCode = brokenOffExitCode(error, deps.interrupted)
    if (exitCode !== undefined) return exitCode
    if (error instanceof Fault) throw error
    throw new Fault(`the ledger could not be exported: ${describeError(error)}`, { cause: error, retryable: true })
  } finally {
    await database.destroy()
  }
}

function summaryOf({ fromPosition, toPosition, treeSize, root }: ExportScope, { output }: ExportOrder): string {
  return `${output}: positions ${fromPosition} to ${toPosition}, tree size ${treeSize}, root ${root}`
}

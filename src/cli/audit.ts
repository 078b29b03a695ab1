import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { audit, type AuditOptions } from '@tollbook/audit/audit'
import { type AuditReport, exitCodeOf, auditExitCodes } from '@tollbook/audit/auditReport'
import { AuditInterrupted } from '@tollbook/audit/auditRun'
import { readVerifierKey, type VerifierKey, verifierKeyOf } from '@tollbook/audit/checkpointNote'
import { systemClock } from '@tollbook/core/clock'
import { describeAudit } from './auditText.ts'
import { type LedgerPlace, findLedger } from './ledgerPlace.ts'
import type { CommandDeps } from './commandDeps.ts'
import { openProgressBar } from './progressBar.ts'
import { collect } from './repeatedOption.ts'
import { rethrowAsUsage, UsageProblem } from './usageProblem.ts'

interface CommandOptions {
  readonly database?: string
  readonly verifierKey: readonly string[]
  readonly checkpoint: readonly string[]
  readonly chain?: string | true
  readonly paymentWallet?: string
  readonly bookedWithin: string
  readonly resume?: string
  readonly transactions: boolean
  readonly json?: boolean
}

/** `tollbook audit`: the book checked from its first event, by code that shares nothing with what wrote it. */
export function auditCommand(deps: CommandDeps): Command {
  return new Command('audit')
    .description('replay the ledger, or a jsonl export of it, and say whether it holds: bytes, figures, gaps, chain')
    .argument('[export]', 'a file of `tollbook export jsonl` (default: the live ledger)')
    .option('--database <url>', 'a role that may read the ledger (default: DATABASE_URL, or local mode)')
    .option('--checkpoint <file>', 'a checkpoint that you have kept; may be given more than once', collect, [])
    .option('--verifier-key <key>', 'key that signs checkpoints, name+id+key; may be given more than once', collect, [])
    .option('--chain [url]', 'ask a Solana node for every payment, and for payments that the ledger does not have')
    .option('--payment-wallet <address>', 'the wallet that is paid, for --chain (default: the service of this machine)')
    .option('--booked-within <minutes>', 'with --chain: a younger transfer may be missing, it can be presented', '90')
    .option('--no-transactions', 'do not check the signed transactions in the events')
    .option('--resume <file>', 'go on where this file ends, and keep the state in it')
    .option('--json', 'print the report as one JSON document')
    .addHelpText('after', auditHelp)
    .configureOutput({
      writeOut: (text) => void deps.stdout.write(text),
      writeErr: (text) => void deps.stderr.write(text),
    })
    .exitOverride(rethrowAsUsage)
    .action(async (file: string | undefined, options: CommandOptions) => {
      deps.setExitCode(await runAudit(deps, file, options))
    })
}

const auditHelp = `
Exit codes, the worst verdict decides:
  0    everything that was asked holds
  1    the audit could not be carried out: the ledger or the node cannot be read
  2    not called right
  3    nothing is wrong, and a part can no longer be checked (pruned by the node)
  4    completeness: something is missing, or there that should not be
  5    chain truth: the chain says otherwise
  6    arithmetic: the book does not add up by its own rules
  7    integrity: what was recorded has been changed
  130  interrupted; with --resume it can go on`

async function runAudit(deps: CommandDeps, file: string | undefined, options: CommandOptions): Promise<number> {
  const bar = openProgressBar('events', deps.stderr.isTTY === true)
  try {
    const question = await readQuestion(deps, file, options)
    const report = await audit({
      ...question,
      resumeFile: options.resume,
      transactions: options.transactions,
      clock: deps.clock ?? systemClock,
      signal: deps.interrupted,
      onProgress: (position, last) => bar.update(position, last),
    })
    bar.stop()
    show(deps, report, options)
    return exitCodeOf(report)
  } catch (error) {
    bar.stop()
    if (error instanceof AuditInterrupted) deps.stderr.write(`${error.message}\n`)
    else if (error instanceof UsageProblem) deps.stderr.write(`${error.message}\n`)
    else throw error
    return error instanceof AuditInterrupted ? auditExitCodes.interrupted : auditExitCodes.usage
  }
}

type AuditQuestion = Pick<AuditOptions, 'source' | 'verifierKeys' | 'keptCheckpoints' | 'chain'>

async function readQuestion(
  deps: CommandDeps,
  file: string | undefined,
  options: CommandOptions,
): Promise<AuditQuestion> {
  if (file !== undefined && options.database !== undefined) {
    throw new UsageProblem('EXPORT', 'is given beside --database: audit one of them at a time')
  }
  // What this machine knows of its own service is of use for an export too, where it is asked for by `--chain`.
  const needsBook = file === undefined || options.chain === true
  const book = needsBook ? await findLedger(deps.home(), options.database) : undefined
  const source =
    file === undefined
      ? { kind: 'database' as const, url: book?.databaseUrl ?? '' }
      : { kind: 'export' as const, path: file }
  return {
    source,
    verifierKeys: keysOf(options, book),
    keptCheckpoints: await readCheckpoints(options, book),
    chain: chainOf(options, book),
  }
}

function keysOf({ verifierKey }: CommandOptions, book: LedgerPlace | undefined): readonly VerifierKey[] {
  const given = verifierKey.map((text) => {
    const key = readVerifierKey(text)
    if (key === undefined)
      throw new UsageProblem('--verifier-key', 'must be name+id+key, as GET /api/ledger/checkpoint names it')
    return key
  })
  if (given.length > 0 || book?.origin === undefined || book.publicKey === undefined) return given
  return [verifierKeyOf(book.origin, book.publicKey)]
}

async function readCheckpoints({ checkpoint }: CommandOptions, book: LedgerPlace | undefined) {
  const own = book?.checkpointFile
  const given = await Promise.all(
    checkpoint.map(async (path) => {
      const note = await readText(path)
      if (note === undefined) throw new UsageProblem('--checkpoint', `the file ${path} cannot be read`)
      return { name: path, note }
    }),
  )
  const kept = own === undefined ? undefined : await readText(own)
  return own === undefined || kept === undefined ? given : [...given, { name: own, note: kept }]
}

function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

function chainOf(options: CommandOptions, book: LedgerPlace | undefined): AuditOptions['chain'] {
  if (options.chain === undefined) return undefined
  const rpcUrl = options.chain === true ? book?.rpcUrl : options.chain
  if (rpcUrl === undefined || !/^https?:\/\//.test(rpcUrl) || !URL.canParse(rpcUrl)) {
    throw new UsageProblem('--chain', 'needs the http(s) URL of a Solana node')
  }
  const paymentWallet = options.paymentWallet ?? book?.paymentWallet
  if (paymentWallet === undefined) throw new UsageProblem('--payment-wallet', 'is missing: the wallet that is paid')
  const bookedWithinMs = minutesIn('--booked-within', options.bookedWithin) * minuteMs
  return { rpcUrl, paymentWallet, bookedWithinMs, fetch: globalThis.fetch }
}

const minuteMs = 60_000

function minutesIn(option: string, text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new UsageProblem(option, 'must be a whole number of minutes')
  return Number(text)
}

function show({ stdout }: CommandDeps, report: AuditReport, { json = false }: CommandOptions): void {
  stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describeAudit(report))
}

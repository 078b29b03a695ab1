import { readFile } from 'node:fs/promises'
import { audit, type AuditOptions } from './audit.ts'
import { AuditFault, reasonsOf } from './auditFault.ts'
import { auditExitCodes, exitCodeOf } from './auditReport.ts'
import { AuditInterrupted } from './auditRun.ts'
import { describeAudit, printable } from './auditText.ts'
import { readHolderSnapshot } from './holderSnapshot.ts'
import { attemptsMax, timeoutMs } from './chainNode.ts'
import { readVerifierKey, type VerifierKey, verifierKeyOf } from './checkpointNote.ts'
import { type AuditClock, hostClock } from './clock.ts'
import { auditHelp, type AuditArguments, readArguments, UsageError } from './commandArguments.ts'

export interface CommandStream {
  write(text: string): unknown
  readonly isTTY?: boolean
}

export interface AuditCommandDeps {
  readonly stdout: CommandStream
  readonly stderr: CommandStream
  /** Aborted by Ctrl-C. The audit then saves its state in the resume file, if there is one. */
  readonly interrupted: AbortSignal
  readonly findLedger: (databaseUrl: string | undefined) => Promise<KnownLedger>
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: AuditClock
}

/**
 * A ledger, and the facts about its service that this machine has. `findLedger` throws a `UsageError` if no ledger is
 * configured.
 */
export interface KnownLedger {
  readonly databaseUrl: string
  readonly rpcUrl?: string | undefined
  readonly paymentWallet?: string | undefined
  readonly origin?: string | undefined
  /** Ed25519 public key of 32 bytes. The service signs receipts and checkpoints with the private key. */
  readonly publicKey?: Uint8Array | undefined
  /** File with a checkpoint that is stored outside of the database. */
  readonly checkpointFile?: string | undefined
}

/** Returns the exit code (`auditExitCodes`), which the caller sets. Throws only for a defect. */
export async function runAuditCommand(argv: readonly string[], deps: AuditCommandDeps): Promise<number> {
  const progress = openProgressLine(deps.stderr)
  try {
    const read = readArguments(argv)
    if (read === undefined) {
      deps.stdout.write(auditHelp)
      return auditExitCodes.holds
    }
    const common = {
      clock: deps.clock ?? hostClock,
      signal: deps.interrupted,
      onProgress: (position: number, last: number) => progress.update(position, last),
    }
    const question = await readQuestion(read, deps)
    let isTroubleReported = false
    // Report only the first slow or unusable answer. Without this message, the audit would seem to hang, because
    // retries may take minutes.
    const onNodeTrouble = (method: string): void => {
      if (isTroubleReported) return
      isTroubleReported = true
      progress.end()
      deps.stderr.write(`${troubleText(question.chain?.rpcUrl ?? '', method)}\n`)
    }
    const { resumeFile, transactions } = read
    const report = await audit({ ...question, ...common, onNodeTrouble, resumeFile, transactions })
    progress.end()
    deps.stdout.write(read.json ? `${JSON.stringify(report, null, 2)}\n` : describeAudit(report))
    return exitCodeOf(report)
  } catch (error) {
    progress.end()
    const code = failureCode(error)
    if (code === undefined || !(error instanceof Error)) throw error
    deps.stderr.write(`${reasonsOf(error).split('\n').map(printable).join('\n')}\n`)
    return code
  }
}

interface ProgressLine {
  update(position: number, last: number): void
  end(): void
}

/** Writes nothing if stderr is not a terminal, because only a terminal can overwrite a line. */
function openProgressLine(stream: CommandStream): ProgressLine {
  if (stream.isTTY !== true) return { update: () => undefined, end: () => undefined }
  let shown = ''
  return {
    update(position, last) {
      const percent = last === 0 ? 100 : Math.floor((100 * position) / last)
      const line = `${percent}% | ${position}/${last} events`
      if (line === shown) return
      shown = line
      stream.write(`\r\x1b[K${line}`)
    },
    end() {
      if (shown !== '') stream.write('\r\x1b[K')
      shown = ''
    },
  }
}

/** Shows only the host of the node, because the path of the URL may contain a key. */
function troubleText(rpcUrl: string, method: string): string {
  const { host } = new URL(rpcUrl)
  return `the Solana node ${host} does not answer ${method} usably; it is asked up to ${attemptsMax} times, for ${timeoutMs / 1_000} s each, with pauses of a minute in all`
}

/** Returns the exit code for an expected error. Undefined for a defect, which the caller throws again. */
function failureCode(error: unknown): number | undefined {
  if (error instanceof UsageError) return auditExitCodes.usage
  if (error instanceof AuditInterrupted) return auditExitCodes.interrupted
  return error instanceof AuditFault ? auditExitCodes.failed : undefined
}

type Question = Pick<AuditOptions, 'source' | 'verifierKeys' | 'ownCheckpoints' | 'snapshots' | 'chain'>

async function readQuestion(args: AuditArguments, deps: AuditCommandDeps): Promise<Question> {
  const { exportFile, database, chain } = args
  if (exportFile !== undefined && database !== undefined) {
    throw new UsageError('EXPORT: is given together with --database; audit one of them at a time')
  }
  // For an export, look up the ledger only if `--chain` has no URL. The URL then comes from the configuration of this
  // machine's service.
  const needsLedger = exportFile === undefined || chain === true
  const ledger = needsLedger ? await deps.findLedger(database) : undefined
  return {
    source:
      exportFile === undefined
        ? { kind: 'database', url: ledger?.databaseUrl ?? '' }
        : { kind: 'export', path: exportFile },
    verifierKeys: keysOf(args, ledger),
    ownCheckpoints: await readCheckpoints(args, ledger),
    snapshots: await readSnapshots(args),
    chain: chainOf(args, ledger, deps),
  }
}

function keysOf({ verifierKeys }: AuditArguments, ledger: KnownLedger | undefined): readonly VerifierKey[] {
  // `GET /api/ledger/key` returns one line for each key.
  const given = verifierKeys
    .flatMap((text) => text.trim().split(/\s+/))
    .map((text) => {
      const key = readVerifierKey(text)
      if (key !== undefined) return key
      throw new UsageError('--verifier-key: must be name+id+key, as GET /api/ledger/key returns it')
    })
  if (given.length > 0 || ledger?.origin === undefined || ledger.publicKey === undefined) return given
  return [verifierKeyOf(ledger.origin, ledger.publicKey)]
}

async function readCheckpoints({ checkpoints }: AuditArguments, ledger: KnownLedger | undefined) {
  const given = await Promise.all(
    checkpoints.map(async (path) => {
      const note = await readText(path)
      if (note === undefined) throw new UsageError(`--checkpoint: the file ${path} cannot be read`)
      return { name: path, note }
    }),
  )
  const own = ledger?.checkpointFile
  const note = own === undefined ? undefined : await readText(own)
  return own === undefined || note === undefined ? given : [...given, { name: own, note }]
}

async function readSnapshots({ snapshots }: AuditArguments) {
  return Promise.all(
    snapshots.map(async (path) => {
      const snapshot = readHolderSnapshot((await readText(path)) ?? '')
      if (snapshot !== undefined) return snapshot
      throw new UsageError(`--snapshot: the file ${path} is not a snapshot of holders, or it cannot be read`)
    }),
  )
}

function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

function chainOf(
  args: AuditArguments,
  ledger: KnownLedger | undefined,
  deps: Pick<AuditCommandDeps, 'fetch'>,
): AuditOptions['chain'] {
  if (args.chain === undefined) {
    if (args.recordedWithin !== undefined) throw new UsageError('--recorded-within: needs --chain')
    if (args.paymentWallet !== undefined) throw new UsageError('--payment-wallet: needs --chain')
    return undefined
  }
  const rpcUrl = args.chain === true ? ledger?.rpcUrl : args.chain
  if (rpcUrl === undefined || !/^https?:\/\//.test(rpcUrl) || !URL.canParse(rpcUrl)) {
    throw new UsageError('--chain: needs the http(s) URL of a Solana node')
  }
  const { username, password } = new URL(rpcUrl)
  // `fetch` refuses such a URL, and its error quotes the password.
  if (username + password !== '') throw new UsageError('--chain: the URL must have no user name and no password')
  const paymentWallet = args.paymentWallet ?? ledger?.paymentWallet
  const recordedWithinMs = minutesIn(args.recordedWithin ?? recordedWithinMinutes) * minuteMs
  return { rpcUrl, paymentWallet, recordedWithinMs, fetch: deps.fetch ?? globalThis.fetch }
}

const minuteMs = 60_000
const recordedWithinMinutes = '90'

function minutesIn(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new UsageError(`--recorded-within: must be a whole number of minutes (got ${text})`)
}

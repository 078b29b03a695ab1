/** The command was not called correctly. The message names the option and what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The arguments of the command, read and not yet checked. */
export interface AuditArguments {
  readonly exportFile: string | undefined
  readonly database: string | undefined
  readonly verifierKeys: readonly string[]
  readonly checkpoints: readonly string[]
  readonly snapshots: readonly string[]
  /** File of the checkpoint behind which events are audited. */
  readonly since: string | undefined
  /** `true` without a URL: the node that is known for the ledger. */
  readonly chain: string | true | undefined
  readonly paymentWallet: string | undefined
  readonly recordedWithin: string | undefined
  readonly resumeFile: string | undefined
  readonly transactions: boolean
  readonly json: boolean
}

export const auditHelp = `Usage: tollbook-audit [options] [export]

Replays a ledger or a jsonl export of it with independent code, and reports every discrepancy.

Arguments:
  export                      a file of \`tollbook export jsonl\` (default: the live ledger)

Options:
  --database <url>            a role that may read the ledger (default: DATABASE_URL)
  --checkpoint <file>         a checkpoint that you have stored; may be given more than once
  --snapshot <file>           a snapshot of holders that a payout names; may be given more than once
  --since <file>              audit the events behind this checkpoint of a live ledger; needs no other state
  --verifier-key <key>        key that signs checkpoints, name+id+key; may be given more than once
  --chain [url]               query a Solana node for every payment, and for payments that the ledger does not have
  --payment-wallet <address>  with --chain: the wallet that is paid, for a ledger that has none on record
  --recorded-within <minutes> with --chain: a younger transfer may still be missing (default: 90)
  --no-transactions           do not check the signed transactions in the events
  --resume <file>             continue at the end of this file, and write the new state to it
  --json                      print the report as one JSON document
  -h, --help                  print this help

Exit codes, the worst verdict decides:
  0    all requested checks hold
  1    the audit could not be carried out: the ledger or the node cannot be read
  2    wrong usage
  3    no error was found, but a part can no longer be checked (pruned by the node)
  4    completeness: something is missing, or unexpected
  5    chain truth: the chain contradicts the ledger
  6    arithmetic: the ledger contradicts its own rules
  7    integrity: a record was changed
  130  interrupted; with --resume the audit can continue`

type Value = 'none' | 'one' | 'optional'

const options: Readonly<Record<string, Value>> = {
  '--database': 'one',
  '--checkpoint': 'one',
  '--snapshot': 'one',
  '--since': 'one',
  '--verifier-key': 'one',
  '--chain': 'optional',
  '--payment-wallet': 'one',
  '--recorded-within': 'one',
  '--no-transactions': 'none',
  '--resume': 'one',
  '--json': 'none',
  '--help': 'none',
  '-h': 'none',
}

export const auditOptionNames: readonly string[] = Object.keys(options)

/** Undefined when the help is asked for. */
export function readArguments(argv: readonly string[]): AuditArguments | undefined {
  const { given, files } = splitArguments(argv)
  if (given.has('--help') || given.has('-h')) return undefined
  if (files.length > 1) throw new UsageError(`EXPORT: one file is audited at a time (got ${files.join(' ')})`)
  const all = (option: string): readonly string[] => (given.get(option) ?? []).filter((value) => value !== '')
  const last = (option: string): string | undefined => all(option).at(-1)
  return {
    exportFile: files[0],
    database: last('--database'),
    verifierKeys: all('--verifier-key'),
    checkpoints: all('--checkpoint'),
    snapshots: all('--snapshot'),
    since: last('--since'),
    chain: last('--chain') ?? (given.has('--chain') ? true : undefined),
    paymentWallet: last('--payment-wallet'),
    recordedWithin: last('--recorded-within'),
    resumeFile: last('--resume'),
    transactions: !given.has('--no-transactions'),
    json: given.has('--json'),
  }
}

interface SplitArguments {
  /** The values of each option, '' for none. */
  readonly given: ReadonlyMap<string, readonly string[]>
  readonly files: readonly string[]
}

function splitArguments(argv: readonly string[]): SplitArguments {
  const given = new Map<string, readonly string[]>()
  const files: string[] = []
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? ''
    if (argument === '--') return { given, files: [...files, ...argv.slice(index + 1)] }
    if (!argument.startsWith('-')) {
      files.push(argument)
      continue
    }
    const [option = '', ...inline] = argument.split('=')
    const value = options[option]
    if (value === undefined) throw new UsageError(`${option}: is not an option of this command; --help lists them`)
    if (value === 'none' && inline.length > 0) throw new UsageError(`${option}: takes no value`)
    const next = argv[index + 1]
    const takesNext = value !== 'none' && inline.length === 0 && next !== undefined && !next.startsWith('-')
    if (takesNext) index++
    if (value === 'one' && inline.length === 0 && !takesNext) throw new UsageError(`${option}: needs a value`)
    given.set(option, [...(given.get(option) ?? []), takesNext ? next : inline.join('=')])
  }
  return { given, files }
}

import { parseArgs } from 'node:util'

/** Thrown for an invalid use of the command. The message names the option and the correct form. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const auditHelp = `Usage: tollbook-audit [options] [export]

Replays a ledger or a jsonl export of it with independent code, and reports every discrepancy.

Arguments:
  export                      a file of \`tollbook export jsonl\` (default: the live ledger)

Options:
  --database <url>            a role that may read the ledger (default: DATABASE_URL)
  --checkpoint <file>         a checkpoint that you have stored; may be given more than once
  --snapshot <file>           a snapshot of holders that a payout names; may be given more than once
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

const one = { type: 'string' } as const
const several = { type: 'string', multiple: true } as const
const none = { type: 'boolean' } as const

const options = {
  database: one,
  checkpoint: several,
  snapshot: several,
  'verifier-key': several,
  chain: one,
  'payment-wallet': one,
  'recorded-within': one,
  'no-transactions': none,
  resume: one,
  json: none,
  help: { ...none, short: 'h' },
} as const

export const auditOptionNames: readonly string[] = [...Object.keys(options).map((name) => `--${name}`), '-h']

export type AuditArguments = NonNullable<ReturnType<typeof readArguments>>

/** Parses the arguments. Returns undefined if the user requests the help. */
export function readArguments(argv: readonly string[]) {
  const { values, positionals } = parse(argv)
  if (values.help === true) return undefined
  if (positionals.length > 1)
    throw new UsageError(`EXPORT: one file is audited at a time (got ${positionals.join(' ')})`)
  const all = (given: readonly string[] | undefined): readonly string[] => (given ?? []).filter((value) => value !== '')
  const last = (given: string | undefined): string | undefined => (given === '' ? undefined : given)
  return {
    exportFile: positionals[0],
    database: last(values.database),
    verifierKeys: all(values['verifier-key']),
    checkpoints: all(values.checkpoint),
    snapshots: all(values.snapshot),
    // The URL of a Solana node. `true`: use the configured node of the ledger's service.
    chain: values.chain === '' ? (true as const) : values.chain,
    paymentWallet: last(values['payment-wallet']),
    recordedWithin: last(values['recorded-within']),
    resumeFile: last(values.resume),
    transactions: values['no-transactions'] !== true,
    json: values.json === true,
  }
}

function parse(argv: readonly string[]) {
  // Accept `--chain` without a URL. `parseArgs` requires a value, so pass an empty one.
  const args = argv.map((argument, index) => {
    const isBare = argument === '--chain' && (argv[index + 1]?.startsWith('-') ?? true)
    return isBare ? '--chain=' : argument
  })
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${error.message.split('. ')[0]}; --help lists the options`)
    throw error
  }
}

import { parseOptions } from './parseOptions.ts'
import { UsageProblem } from './usageProblem.ts'

const defaultMaxUsd = '0.10'

export const payHelp = `Usage: tollbook-pay [options] [method] [path]
       tollbook-pay tab <open|status|close> [options]

Requests a paid endpoint, pays its price up to a limit, and prints the data and the receipt.

Arguments:
  method                   GET, POST, PUT, PATCH or DELETE
  path                     path with its query, for example '/api/data/crypto?symbol=BTC'

Options:
  --json <body>            body of the request as JSON, or @FILE
  --max-usd <amount>       pay no more than this for the request, in US dollars (default: ${defaultMaxUsd})
  --wallet <file>          keypair file of the Solana CLI (default: the demo wallet of local mode)
  --form <form>            bound: theft-proof; transaction: plain and not sent yet; signature: sent by us (default: bound)
  --base-url <url>         the service (default: the one that runs in local mode)
  --rpc-url <url>          a Solana node (default: the chain of local mode)
  --mint <address>         refuse to pay in any other token (required, except for the service of local mode)
  --usd-per-token <amount> what a token is worth to you at least, for --max-usd (default: what the service says)
  --burn-percent <number>  refuse to pay a price with any other burn; any: accept each (default: 30)
  --receipt-key <file>     key of the service, JWK or JWKS, to check the receipt with (default: local mode)
  --output <file>          write the answer to a file instead
  --folder <path>          folder of payments; a tab in it is spent before tokens (default: .tollbook/payments)
  --resume <file>          present a stored payment again; never signs another. METHOD PATH only for another request
  -h, --help               print this help

Exit codes:
  0    answered, and the receipt verified if its key was known
  2    wrong usage: an option, a file or a URL
  3    the price is above --max-usd; nothing was signed
  4    the payment was permanently refused; no answer, and nothing is paid again
  5    the outcome of the payment is unknown, or the answer could not be written; resume it, do not pay again
  6    the request was rejected; a payment, if made, stays valid and can be resumed for another request
  7    the service, its source or the Solana node is unavailable; a payment, if made, stays valid
  8    the offer of the service is inconsistent, or names another mint, wallet or network; nothing was signed
  9    answered, but the receipt does not verify
  10   the wallet has too few tokens or too little SOL; nothing was signed
  130  interrupted before anything was paid
`

const text = { type: 'string' } as const
const options = {
  json: text,
  'max-usd': { ...text, default: defaultMaxUsd },
  wallet: text,
  form: { ...text, default: 'bound' },
  'base-url': text,
  'rpc-url': text,
  mint: text,
  'usd-per-token': text,
  'burn-percent': text,
  'receipt-key': text,
  output: text,
  resume: text,
  folder: text,
  help: { type: 'boolean', short: 'h' },
} as const

export const payOptionNames: readonly string[] = Object.keys(options).map((name) => `--${name}`)

export type PayArguments = NonNullable<ReturnType<typeof readPayArguments>>
export type PayOptions = PayArguments['options']

export function readPayArguments(argv: readonly string[]) {
  const { values, positionals } = parseOptions(argv, options)
  if (values.help === true) return undefined
  const [method, path, ...more] = positionals
  if (more.length > 0) throw new UsageProblem('METHOD PATH', `too many arguments (got ${positionals.join(' ')})`)
  return { method, path, options: values }
}

import { networks } from '@tollbook/core/networks'
import { openPaymentFolder } from '../node.ts'
import { readDollarMints } from '../dollarMints.ts'
import { InsufficientFunds } from '../insufficientFunds.ts'
import { createPayingFetch, type PayingFetch } from '../payingFetch.ts'
import type { PayingFetchOptions, TabOption } from '../payer.ts'
import { PaymentError, PaymentRefused } from '../paymentError.ts'
import { QuoteRefused } from '../quoteProblem.ts'
import type { PayCommandDeps } from './commandDeps.ts'
import { DepositUnresolved, payExitCodes } from './payExit.ts'
import { ownLocal, readWallet, requireMint, requirePlaces, requireServiceUrl } from './payOrder.ts'
import { parseOptions } from './parseOptions.ts'
import { UsageProblem } from './usageProblem.ts'

export const tabHelp = `Usage: tollbook-pay tab <open|status|close> [options]

A tab pays for many requests by one deposit. tollbook-pay and createPayingFetch spend it, with the same folder.

Commands:
  open                   buy a tab at the service, or show the open one
  status                 show state and balance of the tab
  close                  close the tab; the service owes the rest to the wallet

Options:
  --deposit-usd <usd>    deposit of open: 1, 5, 10 or 20 (default: 1)
  --folder <path>        folder of payments, which has the key of the tab (default: .tollbook/payments)
  --tab-wallet <address> refuse to open a tab that is paid to another wallet
  --wallet <file>        keypair file of the Solana CLI (default: the demo wallet of local mode)
  --base-url <url>       the service (default: the one that runs in local mode)
  --rpc-url <url>        a Solana node (default: the chain of local mode)
  --mint <address>       token of the deposit (required for open; default in local mode: its token, or USDC if the
                         wallet lacks it)
  -h, --help             print this help
`

const text = { type: 'string' } as const
const options = {
  'deposit-usd': text,
  folder: text,
  'tab-wallet': text,
  wallet: text,
  'base-url': text,
  'rpc-url': text,
  mint: text,
  help: { type: 'boolean', short: 'h' },
} as const

export const tabOptionNames: readonly string[] = Object.keys(options).map((name) => `--${name}`)

const actions = ['open', 'status', 'close'] as const

export async function runTabCommand(argv: readonly string[], deps: PayCommandDeps): Promise<number> {
  const { values, positionals } = parseOptions(argv, options)
  if (values.help === true) {
    deps.stdout.write(tabHelp)
    return payExitCodes.answered
  }
  const [word, ...others] = positionals
  const action = actions.find((each) => each === word)
  if (action === undefined || others.length > 0)
    throw new UsageProblem('tab', `give one of open, status, close (got ${positionals.join(' ') || 'nothing'})`)
  const { service, payers, wallet } = await openPayers(action, values, deps)
  const act = ({ tabs }: PayingFetch): Promise<object | undefined> =>
    tabs[action](service, { signal: deps.interrupted })
  const shown = await inAnyMint(payers, act).catch((error: unknown) => {
    throw error instanceof PaymentError && !(error instanceof PaymentRefused) ? new DepositUnresolved(error) : error
  })
  if (shown === undefined) {
    const folder = values.folder ?? deps.paymentFolder
    const ways = 'open one, or give the --folder, --wallet and --base-url with which it was opened'
    throw new UsageProblem('tab', `${folder} has no open tab of the wallet ${wallet} at ${service}; ${ways}`)
  }
  if (action === 'close') deps.stderr.write(`the rest is owed to ${wallet}; the next payout of the service sends it\n`)
  deps.stdout.write(deps.stdout.isTTY === true ? linesOf(shown) : `${JSON.stringify(shown)}\n`)
  return payExitCodes.answered
}

function linesOf(shown: object): string {
  return Object.entries(shown)
    .map(([name, value]) => `${name.padEnd(16)}${value}\n`)
    .join('')
}

type TabValues = ReturnType<typeof parseOptions<typeof options>>['values']

/** Trying several payers cannot pay twice: a payer throws `QuoteRefused` or `InsufficientFunds` before it signs. */
async function inAnyMint<T>(payers: readonly PayingFetch[], act: (payer: PayingFetch) => Promise<T>) {
  let refused: unknown
  for (const payer of payers) {
    try {
      return await act(payer)
    } catch (error) {
      if (!(error instanceof QuoteRefused) && !(error instanceof InsufficientFunds)) throw error
      refused ??= error
    }
  }
  throw refused
}

async function openPayers(action: (typeof actions)[number], values: TabValues, deps: PayCommandDeps) {
  const local = await deps.readLocal()
  const { baseUrl, rpcUrl } = requirePlaces(values, local)
  const mint = values.mint ?? ownLocal(local, baseUrl)?.tokenMint
  const depositUsd = readDeposit(values['deposit-usd'] ?? '1')
  if (action === 'open') requireMint(mint, baseUrl)
  const expectedWallet = values['tab-wallet']
  const tab: TabOption = { depositUsd, ...(expectedWallet === undefined ? {} : { expectedWallet }) }
  const wallet = await readWallet(values, local)
  const common: PayingFetchOptions = {
    wallet,
    rpcUrl,
    // Limit a deposit by `depositUsd` only. The high total keeps earlier payments in the folder from blocking it.
    spendingLimit: { perRequest: { usd: '0' }, total: { usd: '1000000000' } },
    store: openPaymentFolder(values.folder ?? deps.paymentFolder),
    tab,
    ...(deps.clock === undefined ? {} : { clock: deps.clock }),
  }
  const inToken = mint === undefined ? [] : [createPayingFetch({ ...common, expectedMint: mint })]
  // Expect the network name of devnet: local mode uses it for its chain, because standard x402 clients accept only the
  // names of public networks.
  const network = ownLocal(local, baseUrl) === undefined ? {} : { expectedNetwork: networks.devnet }
  const inDollars = createPayingFetch({ ...common, ...network, protocols: ['x402', 'mpp'], dollarMints: 'circle' })
  const isDollar = values.mint !== undefined && readDollarMints('circle', undefined).includes(values.mint)
  const payers = isDollar ? [inDollars] : values.mint === undefined ? [...inToken, inDollars] : inToken
  return { payers, service: requireServiceUrl(baseUrl), wallet: wallet.address }
}

function readDeposit(usd: string): TabOption['depositUsd'] {
  const found = ([1, 5, 10, 20] as const).find((each) => String(each) === usd)
  if (found === undefined) throw new UsageProblem('--deposit-usd', `must be 1, 5, 10 or 20 (got ${usd})`)
  return found
}

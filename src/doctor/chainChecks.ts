import { describeError, errorText } from '@tollbook/core/fault'
import type { Chain } from '../chain/openChain.ts'
import { type Check, failed, passed, type Result, skipped, warning } from './check.ts'

/** Checks the Solana nodes, the mint and the payment wallets. `chain` rejects if the chain cannot be opened. */
export function chainChecks(chain: () => Promise<Chain>): readonly [Check, ...Check[]] {
  return [
    { name: 'mint and payment wallet', run: () => chain().then(judgeTerms, judgeUnopened) },
    { name: 'dollars', run: async () => judgeDollars(await chain()) },
    { name: 'nodes', run: async () => judgeNodes(await chain()) },
    { name: 'chain clock', run: async () => judgeClock(await chain()) },
  ]
}

function judgeUnopened(error: unknown): Result {
  const reason = error instanceof Error ? errorText(error) : describeError(error)
  return failed(reason, 'correct SOLANA_RPC_URLS, TOKEN_MINT, PAYMENT_WALLET or CURRENCIES')
}

async function judgeTerms({ terms, readAccounts }: Chain): Promise<Result> {
  const { mint, decimals, paymentWallet, paymentTokenAccount, network } = terms
  const [account] = await readAccounts({ addresses: [paymentTokenAccount], commitment: 'confirmed', minSlot: 0 })
  if (account?.token?.isFrozen === true)
    return failed(`the token account ${paymentTokenAccount} is frozen`, 'ask the issuer, or change PAYMENT_WALLET')
  return passed(`${mint} with ${decimals} decimals can be paid to ${paymentWallet} on ${network}`)
}

/** A dollar cannot be paid without a token account, and its issuer may have frozen the account. */
async function judgeDollars({ dollars, readAccounts }: Chain): Promise<Result> {
  if (dollars.length === 0) return skipped('CURRENCIES is not set')
  const addresses = dollars.map(({ terms }) => terms.paymentTokenAccount)
  const accounts = await readAccounts({ addresses, commitment: 'confirmed', minSlot: 0 })
  const missing = dollars.filter((_dollar, index) => accounts[index]?.token === undefined)
  const frozen = dollars.filter((_dollar, index) => accounts[index]?.token?.isFrozen === true)
  const wallets = (some: Chain['dollars'], preposition: string) =>
    some.map(({ symbol, terms }) => `${symbol} ${preposition} ${terms.paymentWallet}`).join(', ')
  if (missing.length > 0)
    return failed(`there is no token account for ${wallets(missing, 'of')}`, 'open it with any wallet')
  if (frozen.length > 0)
    return failed(`the token account for ${wallets(frozen, 'of')} is frozen`, 'ask the issuer, or change CURRENCIES')
  return passed(`payments go in ${wallets(dollars, 'to')}`)
}

function judgeNodes({ nodes }: Chain): Result {
  const standings = nodes.standings()
  const troubled = standings.filter(({ problem }) => problem !== undefined)
  const troubles = troubled.map(({ name, problem }) => `${name} ${problem}`).join('; ')
  if (troubled.length === standings.length) return failed(troubles, 'check SOLANA_RPC_URLS')
  if (troubled.length > 0) return warning(troubles, 'replace the node in SOLANA_RPC_URLS')
  const slots = standings.map(({ name, slot }) => `${name} at slot ${slot}`).join(', ')
  if (standings.length > 1) return passed(slots)
  return warning(
    `${slots}, the only node: while it is wrong, no payment can be judged`,
    'add a node of another operator to SOLANA_RPC_URLS',
  )
}

function judgeClock({ nodes, clockSkewMaxMs }: Chain): Result {
  const skewMs = Math.round(nodes.time.skewMs())
  if (skewMs === 0) return skipped('no block time is known yet')
  const detail = `the clock of this machine is ${skewMs} ms ahead of the newest block`
  return Math.abs(skewMs) <= clockSkewMaxMs ? passed(detail) : failed(detail, 'let this machine follow a time server')
}

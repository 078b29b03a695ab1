import type { Address } from '@tollbook/core/address'
import { isWithin } from '../pricing/agreement.ts'
import { type TokenPriceAttoUsd, tokenPriceDecimals } from '../pricing/tokenPrice.ts'
import type { PriceSource } from './priceJob.ts'
import { repeat, type RepeatDeps } from './repeat.ts'

export interface WatchedMint {
  readonly symbol: string
  readonly mint: Address
  readonly sources: readonly PriceSource[]
  /**
   * Reads the token accounts of the payment wallet and, if tabs are sold, of the wallet for tabs. Undefined for an
   * account that does not exist.
   */
  readonly readAccounts: () => Promise<readonly (WatchedAccount | undefined)[]>
}

interface WatchedAccount {
  readonly isFrozen: boolean
}

const wallets = ['payment wallet', 'wallet for tabs']
const everyMs = 30_000
const pegPercent = 2
/**
 * Number of sources that must report a wrong price, so that a single wrong source does not stop sales in a dollar
 * token.
 */
const disagreeingMin = 2
const oneDollarAttoUsd: TokenPriceAttoUsd = 10n ** BigInt(tokenPriceDecimals)

/**
 * Watches the accepted mints. The issuer of a mint may freeze the payment account, and a dollar token may lose its
 * price of one US dollar. Reports both, so that sales in the mint stop. Resolves after the first check.
 */
export async function startMintHealth(mints: readonly WatchedMint[], deps: RepeatDeps) {
  const accounts = new Map<Address, string>()
  const deposits = new Map<Address, string>()
  const pegs = new Map<Address, string>()
  async function check(watched: WatchedMint): Promise<void> {
    // Judge the price first, because tabs pay in the mint even while no node answers. A market never throws.
    const peg = await judgePeg(watched)
    if (peg !== 'unknown') note(pegs, watched.mint, peg)
    const [problem, ofTabs] = (await watched.readAccounts()).map((account, index) =>
      accountProblem(watched, account, wallets[index]),
    )
    note(accounts, watched.mint, problem)
    note(deposits, watched.mint, ofTabs)
  }
  const run = async () => {
    const before = problem()
    const checks = await Promise.allSettled(mints.map(check))
    const after = problem()
    if (after !== before) deps.log.warn({ event: 'mint_health', problem: after ?? 'none' })
    for (const each of checks) if (each.status === 'rejected') throw each.reason
  }
  const whyOff = (mint: Address) => accounts.get(mint) ?? pegs.get(mint)
  const whyNoDeposit = (mint: Address) => deposits.get(mint)
  const problem = () => mints.map(({ mint }) => whyOff(mint) ?? whyNoDeposit(mint)).find((why) => why !== undefined)
  if (mints.length === 0) return { whyOff, whyNoDeposit, problem, stop: () => Promise.resolve() }
  // Only log a failure of the first check, because the next check reads the accounts again. Until a check has read the
  // accounts, they do not stop sales.
  await run().catch((error: unknown) => deps.log.warn({ event: 'mint_health', problem: String(error) }))
  const task = repeat(deps, { name: 'mint watch', everyMs, run })
  return { whyOff, whyNoDeposit, problem, stop: () => task.stop() }
}

function note(known: Map<Address, string>, mint: Address, problem: string | undefined): void {
  if (problem === undefined) known.delete(mint)
  else known.set(mint, problem)
}

function accountProblem(
  { symbol }: WatchedMint,
  account: WatchedAccount | undefined,
  wallet: string | undefined,
): string | undefined {
  if (account === undefined) return `the ${wallet} has no token account for ${symbol}; open it`
  return account.isFrozen ? `the issuer of ${symbol} has frozen the token account of the ${wallet}` : undefined
}

/**
 * Returns the problem if at least two markets have a wrong price. Otherwise, undefined if a market has the right price,
 * and `unknown` if none has. After `unknown`, the last verdict stays.
 */
async function judgePeg({ symbol, sources }: WatchedMint): Promise<string | undefined> {
  const answers = await Promise.all(sources.map((source) => source.ask()))
  const prices = answers.flatMap((answer) => ('tokenPriceAttoUsd' in answer ? [answer.tokenPriceAttoUsd] : []))
  const off = prices.filter((price) => !isWithin(price, oneDollarAttoUsd, pegPercent))
  if (off.length >= disagreeingMin)
    return `${off.length} markets price ${symbol} more than ${pegPercent} % away from one US dollar`
  return off.length === prices.length ? 'unknown' : undefined
}

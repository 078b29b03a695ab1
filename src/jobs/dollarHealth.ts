import type { Address } from '@tollbook/core/address'
import { isWithin } from '../pricing/agreement.ts'
import { type TokenPriceAttoUsd, tokenPriceDecimals } from '../pricing/tokenPrice.ts'
import type { PriceSource } from './priceJob.ts'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface DollarHealth extends Repeated {
  /** Why no new payment in this dollar is accepted. */
  whyOff(mint: Address): string | undefined
  /** Why no deposit on a tab in this dollar is accepted. */
  whyNoDeposit(mint: Address): string | undefined
  /** The first dollar that is off, for the health check. */
  problem(): string | undefined
}

/** A dollar with the sources of its price and its account on chain. */
export interface WatchedDollar {
  readonly symbol: string
  readonly mint: Address
  readonly sources: readonly PriceSource[]
  /** Token accounts of the payment wallet and, if tabs are sold, of the wallet for tabs. Undefined: does not exist. */
  readonly readAccounts: () => Promise<readonly (WatchedAccount | undefined)[]>
}

interface WatchedAccount {
  readonly isFrozen: boolean
}

const wallets = ['payment wallet', 'wallet for tabs']
const everyMs = 30_000
const pegPercent = 2
/** A single source that is wrong must not stop the sales in a dollar. */
const disagreeingMin = 2
const oneDollar: TokenPriceAttoUsd = 10n ** BigInt(tokenPriceDecimals)

/**
 * Watches each dollar: its issuer may freeze the payment account, and its price may leave one US dollar. The dollar is
 * then off, and the token is still sold. Ready after the first check.
 */
export async function startDollarHealth(dollars: readonly WatchedDollar[], deps: RepeatDeps): Promise<DollarHealth> {
  const accounts = new Map<Address, string>()
  const deposits = new Map<Address, string>()
  const pegs = new Map<Address, string>()
  async function check(dollar: WatchedDollar): Promise<void> {
    const [problem, ofTabs] = (await dollar.readAccounts()).map((account, index) =>
      accountProblem(dollar, account, wallets[index]),
    )
    note(accounts, dollar.mint, problem)
    note(deposits, dollar.mint, ofTabs)
    const peg = await judgePeg(dollar)
    if (peg !== 'unknown') note(pegs, dollar.mint, peg)
  }
  const run = async () => {
    const before = problem()
    await Promise.all(dollars.map(check))
    const after = problem()
    if (after !== before) deps.log.warn({ event: 'dollar_health', problem: after ?? 'none' })
  }
  const whyOff = (mint: Address) => accounts.get(mint) ?? pegs.get(mint)
  const whyNoDeposit = (mint: Address) => deposits.get(mint)
  const problem = () => dollars.map(({ mint }) => whyOff(mint) ?? whyNoDeposit(mint)).find((why) => why !== undefined)
  if (dollars.length === 0) return { whyOff, whyNoDeposit, problem, stop: () => Promise.resolve() }
  // A node that does not answer at the start leaves the verdict on the account open. The next check decides.
  await run().catch((error: unknown) => deps.log.warn({ event: 'dollar_health', problem: String(error) }))
  const task = repeat(deps, { name: 'dollar watch', everyMs, run })
  return { whyOff, whyNoDeposit, problem, stop: () => task.stop() }
}

function note(known: Map<Address, string>, mint: Address, problem: string | undefined): void {
  if (problem === undefined) known.delete(mint)
  else known.set(mint, problem)
}

function accountProblem(
  { symbol }: WatchedDollar,
  account: WatchedAccount | undefined,
  wallet: string | undefined,
): string | undefined {
  if (account === undefined) return `the ${wallet} has no token account for ${symbol}; open it`
  return account.isFrozen ? `the issuer of ${symbol} has frozen the token account of the ${wallet}` : undefined
}

/** `unknown` without an answer of any source: the last verdict stays. */
async function judgePeg({ symbol, sources }: WatchedDollar): Promise<string | undefined> {
  const answers = await Promise.all(sources.map((source) => source.ask()))
  const prices = answers.flatMap((answer) => ('tokenPriceAttoUsd' in answer ? [answer.tokenPriceAttoUsd] : []))
  if (prices.length === 0) return 'unknown'
  const off = prices.filter((price) => !isWithin(price, oneDollar, pegPercent))
  return off.length < disagreeingMin
    ? undefined
    : `${off.length} markets price ${symbol} more than ${pegPercent} % away from one US dollar`
}

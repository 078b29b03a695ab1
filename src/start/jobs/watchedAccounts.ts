import type { Chain } from '../../chain/openChain.ts'
import type { WatchedDollar } from '../../jobs/dollarHealth.ts'
import type { PriceSource } from '../../jobs/priceJob.ts'
import type { Dollar } from '../../payment/dollar.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'

type Accounts = Pick<Chain, 'readAccounts'>

// Only dollars of mainnet have a market.
const mainnet = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'

interface WatchDeps {
  readonly chain: Accounts
  /** Markets of a mint. */
  readonly marketSources: (terms: PaymentTerms) => readonly PriceSource[]
  readonly limits?: { readonly pegNetwork?: string | undefined } | undefined
}

/** Returns what the health of a dollar depends on. */
export function watchedDollar({ symbol, terms }: Dollar, { chain, marketSources, limits }: WatchDeps): WatchedDollar {
  const { mint, network } = terms
  const sources = network === (limits?.pegNetwork ?? mainnet) ? marketSources(terms) : []
  return { symbol, mint, sources, readAccount: () => readPaymentAccount(chain, terms) }
}

/** Returns the token, whose account an issuer may freeze too. The account may not exist before the first payment. */
export function watchedToken(chain: Accounts & Pick<Chain, 'terms'>): WatchedDollar {
  const { terms } = chain
  const readAccount = async () => (await readPaymentAccount(chain, terms)) ?? { isFrozen: false }
  return { symbol: 'the token', mint: terms.mint, sources: [], readAccount }
}

async function readPaymentAccount({ readAccounts }: Accounts, { paymentTokenAccount }: PaymentTerms) {
  const [account] = await readAccounts({ addresses: [paymentTokenAccount], commitment: 'confirmed', minSlot: 0 })
  return account?.token
}

import { mainnet } from '@tollbook/core/networks'
import type { Chain } from '../../chain/openChain.ts'
import type { WatchedMint } from '../../jobs/mintHealth.ts'
import type { PriceSource } from '../../jobs/priceJob.ts'
import type { Dollar } from '../../payment/dollar.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { LedgerSettingsPart } from '../ledger/openSettings.ts'

type Accounts = Pick<Chain, 'readAccounts'>

interface WatchDeps {
  readonly chain: Accounts
  readonly ledger: { readonly settings: Pick<LedgerSettingsPart, 'depositTerms'> }
  readonly marketSources: (terms: PaymentTerms) => readonly PriceSource[]
  readonly limits?: { readonly pegNetwork?: string | undefined } | undefined
}

export function watchedDollar({ symbol, terms }: Dollar, deps: WatchDeps): WatchedMint {
  const { chain, ledger, marketSources, limits } = deps
  const { mint, network } = terms
  // Read markets only for dollars of mainnet, because other dollars have no market.
  const sources = network === (limits?.pegNetwork ?? mainnet) ? marketSources(terms) : []
  const deposits = ledger.settings.depositTerms(mint)
  const own = deposits === undefined ? [terms] : [terms, deposits]
  return { symbol, mint, sources, readAccounts: () => readTokenAccounts(chain, own) }
}

/**
 * Watches the account that receives the service token, because the issuer of the token can freeze it. The account may
 * not exist before the first payment.
 */
export function watchedToken(chain: Accounts & Pick<Chain, 'terms'>): WatchedMint {
  const { terms } = chain
  const readAccounts = async () => {
    const [account] = await readTokenAccounts(chain, [terms])
    return [account ?? { isFrozen: false }]
  }
  return { symbol: 'the token', mint: terms.mint, sources: [], readAccounts }
}

async function readTokenAccounts({ readAccounts }: Accounts, own: readonly PaymentTerms[]) {
  const addresses = own.map(({ paymentTokenAccount }) => paymentTokenAccount)
  const accounts = await readAccounts({ addresses, commitment: 'confirmed', minSlot: 0 })
  return accounts.map((account) => account?.token)
}

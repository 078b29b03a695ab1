import { createLastKnown } from '../../sourcing/agreement/lastKnown.ts'
import type { CryptoOrder } from './cryptoParameters.ts'
import type { ProductHandler } from '../../product/productDefinition.ts'
import type { CryptoPrice } from './providers/cryptoPrice.ts'
import type { ProviderDeps } from '../../sourcing/provider.ts'
import { createDexscreenerToken, createGeckoterminalToken, createJupiterWitness } from './providers/tokenMarkets.ts'
import { tokenAgreement, type TokenQuery } from './providers/tokenPrice.ts'
import { createSource } from '../../sourcing/source.ts'
import { type AnsweredQuery, symbolHandler } from '../../sourcing/symbolHandler.ts'

const minute = 60_000
const wrappedSol = 'So11111111111111111111111111111111111111112'
const keyOf = ({ symbol: mint }: TokenQuery) => mint
const hint = 'only tokens with pools of 10,000 US dollars and more are sold, by their mint on the main chain of Solana'

/** Prices of SPL tokens by mint. */
export function openTokens(deps: ProviderDeps): ProductHandler<CryptoOrder> {
  const source = createSource<TokenQuery, CryptoPrice>(deps, {
    what: 'the price of an SPL token',
    providers: [createDexscreenerToken(deps), createGeckoterminalToken(deps)],
    keyOf,
    known: [{ symbol: wrappedSol }],
    freshMs: minute,
    staleMs: 5 * minute,
    ageMaxMs: 5 * minute,
    agreement: {
      ...tokenAgreement,
      keyOf,
      lastKnown: createLastKnown(deps.clock, 120 * minute),
      witnesses: [createJupiterWitness(deps)],
    },
    hint,
  })
  return symbolHandler<CryptoOrder, TokenQuery, CryptoPrice>({
    source,
    queriesOf: ({ mint = '' }) => [{ symbol: mint }],
    dataOf: ({ details: isDetailed }: CryptoOrder, { found }: AnsweredQuery<TokenQuery, CryptoPrice>) => ({
      ...found.data,
      ...(isDetailed === true ? { details: found.details } : {}),
    }),
    hint,
  })
}

import { schemaOf } from '../../document/jsonSchema.ts'
import type { X402Settings } from '../../config/signerSettings.ts'
import { completeTransaction, readSponsored } from '../../chain/sponsoredTransaction.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import type { ListedPrice } from '@tollbook/core/quote'
import type { PaymentRail } from '../../paywall/rail.ts'
import type { PriceListStore } from '../../store/priceListStore.ts'
import { createMppRail, type MppRailDeps } from '../../rails/mpp/mppRail.ts'
import type { ProductDescription } from '../../rails/x402/challenge.ts'
import { createX402Rail, type X402RailDeps } from '../../rails/x402/x402Rail.ts'
import { createSignerClient, type SignerClientOptions } from '../../signer/signerClient.ts'

type OwnDeps =
  | 'feePayer'
  | 'network'
  | 'describe'
  | 'findListed'
  | 'priceHoldMs'
  | 'readSponsored'
  | 'completeTransaction'

export interface SponsoredDeps extends Omit<X402RailDeps & MppRailDeps, OwnDeps> {
  readonly priceLists: Pick<PriceListStore, 'listNumber'>
  readonly endpoints: readonly Endpoint[]
  readonly quoteTtlMs: number
  readonly quoteGraceMs: number
  readonly onBudget: NonNullable<SignerClientOptions['onBudget']>
}

/** The rails of x402 and MPP with their signer. None without a signer: a stock client needs a fee payer. */
export function openSponsoredRails(
  settings: X402Settings | undefined,
  { priceLists, endpoints, quoteTtlMs, onBudget, ...deps }: SponsoredDeps,
): readonly PaymentRail[] {
  if (settings === undefined) return []
  const { clock, terms, quoteGraceMs } = deps
  const described = new Map(endpoints.map((endpoint) => [endpoint.path, describe(endpoint)]))
  const sponsored = {
    ...deps,
    readSponsored,
    completeTransaction,
    feePayer: createSignerClient({ socketPath: settings.signerSocket, clock, onBudget }),
    describe: (path: string) => described.get(path),
    findListed: (endpoint: string, priceList: number) => findListed(priceLists, endpoint, priceList),
    priceHoldMs: quoteTtlMs + quoteGraceMs,
  }
  return [createX402Rail({ ...sponsored, network: settings.network ?? terms.network }), createMppRail(sponsored)]
}

async function findListed(priceLists: SponsoredDeps['priceLists'], endpoint: string, priceList: number) {
  const list = await priceLists.listNumber(priceList)
  const price = list?.prices.find((each) => each.endpoint === endpoint)
  return price === undefined ? undefined : ({ ...price, priceList } satisfies ListedPrice)
}

function describe({ summary, parameters, example, stream }: Endpoint): ProductDescription {
  return {
    summary,
    mimeType: stream?.contentType ?? 'application/json',
    inputSchema: schemaOf(parameters),
    example: { input: example.order, output: example.answer },
  }
}

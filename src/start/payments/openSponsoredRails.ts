import { schemaOf } from '../../document/jsonSchema.ts'
import type { X402Settings } from '../../config/signerSettings.ts'
import { completeTransaction, readSponsored } from '../../chain/sponsoredTransaction.ts'
import type { Catalog } from '../../endpoints/catalog.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import type { ListedPrice } from '@tollbook/core/quote'
import type { PaymentRail } from '../../paywall/rail.ts'
import type { PriceListStore } from '../../store/priceListStore.ts'
import { createMppRail, type MppRailDeps } from '../../rails/mpp/mppRail.ts'
import type { ProductDescription } from '../../rails/x402/challenge.ts'
import { createX402Rail, type X402RailDeps } from '../../rails/x402/x402Rail.ts'
import { createSignerClient, type SignerClientOptions } from '../../signer/signerClient.ts'

export interface SponsoredParts {
  /** Undefined: nothing is offered by x402 or MPP. */
  readonly settings: X402Settings | undefined
  readonly priceLists: Pick<PriceListStore, 'listNumber'>
  readonly catalog: Pick<Catalog, 'endpoints'>
  readonly serviceUrl: () => string
}

type OwnDeps =
  | 'feePayer'
  | 'network'
  | 'describe'
  | 'findListed'
  | 'priceHoldMs'
  | 'readSponsored'
  | 'completeTransaction'

export interface SponsoredDeps extends SponsoredParts, Omit<X402RailDeps & MppRailDeps, OwnDeps | 'serviceUrl'> {
  readonly quoteTtlMs: number
  readonly quoteGraceMs: number
  readonly onBudget: NonNullable<SignerClientOptions['onBudget']>
}

/** The rails of x402 and MPP with their signer. None without a signer: a stock client needs a fee payer. */
export function openSponsoredRails(deps: SponsoredDeps): readonly PaymentRail[] {
  const { settings, clock, onBudget, terms, quoteTtlMs, quoteGraceMs, catalog } = deps
  if (settings === undefined) return []
  const described = new Map(catalog.endpoints.map((endpoint) => [endpoint.path, describe(endpoint)]))
  const sponsored = {
    ...deps,
    readSponsored,
    completeTransaction,
    feePayer: createSignerClient({ socketPath: settings.signerSocket, clock, onBudget }),
    describe: (path: string) => described.get(path),
    findListed: (endpoint: string, priceList: number) => findListed(deps, endpoint, priceList),
    priceHoldMs: quoteTtlMs + quoteGraceMs,
  }
  return [createX402Rail({ ...sponsored, network: settings.network ?? terms.network }), createMppRail(sponsored)]
}

async function findListed({ priceLists }: SponsoredDeps, endpoint: string, priceList: number) {
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

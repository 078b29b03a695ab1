import type { Clock } from '@tollbook/core/clock'
import { assertPresent } from '@tollbook/core/assert'
import type { TabConfig } from '../../config/tabConfig.ts'
import type { Endpoint } from '../../product/endpoint.ts'
import { openEndpoint, type ProductDefinition } from '../../product/productDefinition.ts'
import type { ProductFacts } from '../../product/productFacts.ts'
import { createTabProduct } from '../../tabs/tabProduct.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'

/** The sale of tabs. Its product has a price before the ledger is open, and sells only afterwards. */
export interface OpenTabs {
  /** Empty without TAB_WALLET. */
  readonly products: readonly ProductDefinition<unknown>[]
  /** Opens the products of this part that are in the list, with the operator's prices. */
  open(sold: readonly ProductFacts[]): readonly Endpoint[]
  connect(ledger: TabLedgerPart): void
}

type TabLedgerPart = Pick<LedgerPart, 'tabs'> & { readonly settings: Pick<LedgerPart['settings'], 'origin'> }

export function openTabs(config: TabConfig, { clock }: { readonly clock: Clock }): OpenTabs {
  let connected: TabLedgerPart | undefined
  const ledger = () => assertPresent(connected, 'the ledger is open before a product is sold')
  const product = createTabProduct(config, {
    clock,
    tabs: () => ledger().tabs,
    origin: () => ledger().settings.origin,
    whyClosed: () => undefined,
  })
  const products = config.wallet === undefined ? [] : [product]
  return {
    products,
    open: (sold) =>
      products.flatMap((definition) => {
        const facts = sold.find(({ path }) => path === definition.path)
        return facts === undefined ? [] : [openEndpoint({ ...definition, ...facts }, undefined)]
      }),
    connect(part) {
      connected = part
    },
  }
}

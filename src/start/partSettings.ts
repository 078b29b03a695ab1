import type { ServiceConfig } from '../config.ts'
import type { ChainSettings } from '../config/chainSettings.ts'
import type { LifecycleSettings } from '../config/saleSettings.ts'
import type { FinanceOptions } from './finance/openFinance.ts'
import type { HttpSettings } from './http/openHttp.ts'
import type { LedgerPartSettings } from './ledger/openLedger.ts'
import { settingsOptionsOf } from './ledger/openSettings.ts'
import type { RailSettings } from './payments/openRails.ts'
import type { ProductSettings } from './products/openProducts.ts'

/** The settings that each part takes. */
export interface PartSettings {
  readonly chain: ChainSettings
  readonly ledger: LedgerPartSettings
  readonly products: ProductSettings
  readonly jobs: LifecycleSettings
  readonly payments: RailSettings
  readonly finance: FinanceOptions
  readonly http: HttpSettings
}

export function partSettings(config: ServiceConfig): PartSettings {
  const { chain, seal, providers, prices, products: delivery, sale, x402, finance, refunds, server, limits } = config
  return {
    chain,
    ledger: { database: config.ledger, seal, onRecord: settingsOptionsOf(config) },
    products: { providers, prices, delivery },
    jobs: config.lifecycle,
    payments: { sale, x402 },
    finance: { finance, sale, refunds, reportsDatabaseUrl: config.reportsDatabaseUrl },
    http: { server, limits },
  }
}

import type { LedgerConfig } from '../../config/ledgerConfig.ts'
import type { SealConfig } from '../../config/sealConfig.ts'
import type { Dollar } from '../../payment/dollar.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { closePart } from '../closePart.ts'
import type { PartDeps } from '../partDeps.ts'
import { openLedgerPorts } from './ledgerPorts.ts'
import { openReceiptKeys } from './openReceiptKeys.ts'
import { openSeal } from './openSeal.ts'
import { openSettings, type RecordedConfig } from './openSettings.ts'

export interface LedgerPartConfig extends RecordedConfig {
  readonly ledger: LedgerConfig
  readonly seal: SealConfig
}

export interface LedgerPartDeps extends PartDeps {
  readonly terms: PaymentTerms
  readonly dollars?: readonly Dollar[]
}

export type LedgerPart = Awaited<ReturnType<typeof openLedgerPart>>

/**
 * Opens the ledger, its records about this service, and the signing key. The first values of the settings are recorded
 * only after the ledger was compared with its checkpoint.
 */
export async function openLedgerPart(config: LedgerPartConfig, deps: LedgerPartDeps) {
  await using opened = new AsyncDisposableStack()
  const ports = opened.adopt(await openLedgerPorts(config.ledger, deps), closePart)
  const settings = opened.adopt(await openSettings(config, { ...deps, ledger: ports }), closePart)
  const { priceLists } = ports
  const keys = openReceiptKeys(config.receiptSigningKey, { clock: deps.clock, settings, priceLists })
  const seal = opened.adopt(await openSeal(config.seal, { ...deps, ledger: ports.seal, keys }), closePart)
  await settings.record()
  const stored = opened.move()
  return {
    ...ports,
    settings,
    keys,
    routes: seal.routes,
    checks: [seal.check, settings.check],
    close: () => stored.disposeAsync(),
  }
}

import type { LedgerSettings } from '../../config/ledgerSettings.ts'
import type { SealSettings } from '../../config/sealSettings.ts'
import type { FreeRoute, HealthCheck } from '../../transport/freeRoute.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { closePart } from '../closePart.ts'
import type { PartDeps } from '../partDeps.ts'
import { type LedgerPorts, openLedgerPorts } from './ledgerPorts.ts'
import { openReceiptKeys, type ReceiptKeys } from './openReceiptKeys.ts'
import { openSeal } from './openSeal.ts'
import { type LedgerSettingsPart, openSettings, type RecordedConfig } from './openSettings.ts'

/** The ledger, what it has on record about this service, and the key that signs for it. */
export interface LedgerPart extends Omit<LedgerPorts, 'settings' | 'seal'> {
  readonly settings: LedgerSettingsPart
  readonly keys: ReceiptKeys
  /** Public reads of the signed checkpoints. */
  readonly routes: readonly FreeRoute[]
  readonly checks: readonly HealthCheck[]
}

export interface LedgerPartSettings extends RecordedConfig {
  readonly ledger: LedgerSettings
  readonly seal: SealSettings
}

export interface LedgerPartDeps extends PartDeps {
  readonly terms: PaymentTerms
}

/** Records the first values of the settings only after the ledger was compared with its checkpoint. */
export async function openLedgerPart(settings: LedgerPartSettings, deps: LedgerPartDeps): Promise<LedgerPart> {
  await using opened = new AsyncDisposableStack()
  const ports = opened.adopt(await openLedgerPorts(settings.ledger, deps), closePart)
  const ledgerSettings = opened.adopt(await openSettings(settings, { ...deps, ledger: ports }), closePart)
  const keys = openReceiptKeys(settings.receiptSigningKey, {
    clock: deps.clock,
    settings: ledgerSettings,
    priceLists: ports.priceLists,
  })
  const seal = opened.adopt(await openSeal(settings.seal, { ...deps, ledger: ports.seal, keys }), closePart)
  await ledgerSettings.record()
  const stored = opened.move()
  return {
    ...ports,
    settings: ledgerSettings,
    keys,
    routes: seal.routes,
    checks: [seal.check, ledgerSettings.check],
    close: () => stored.disposeAsync(),
  }
}

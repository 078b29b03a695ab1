import type { Chain } from '../../chain/openChain.ts'
import type { LedgerConfig } from '../../config/ledgerConfig.ts'
import type { SealConfig } from '../../config/sealConfig.ts'
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
  readonly chain: Pick<Chain, 'terms' | 'dollars'>
  /** Replaces the clock of the database in tests. */
  readonly readDatabaseClockMs?: (() => Promise<number>) | undefined
}

export type LedgerPart = Awaited<ReturnType<typeof openLedgerPart>>

/**
 * Opens the ledger. Records the first settings only after the ledger was compared with its checkpoint, because a backup
 * that is too old must stay unchanged.
 */
export async function openLedgerPart(config: LedgerPartConfig, deps: LedgerPartDeps) {
  const { clock, log, chain } = deps
  const { terms, dollars } = chain
  await using opened = new AsyncDisposableStack()
  const ports = opened.adopt(await openLedgerPorts(config.ledger, deps), closePart)
  const settings = opened.adopt(await openSettings(config, { clock, log, terms, dollars, ledger: ports }), closePart)
  const { priceLists } = ports
  const keys = openReceiptKeys(config.receiptSigningKey, { clock, settings, priceLists })
  const seal = opened.adopt(await openSeal(config.seal, { ...deps, ledger: ports.seal, keys }), closePart)
  await settings.record()
  const stored = opened.move()
  const { readDatabaseClockMs = ports.upkeep.readDatabaseClockMs } = deps
  return {
    ...ports,
    upkeep: { ...ports.upkeep, readDatabaseClockMs },
    settings,
    keys,
    routes: seal.routes,
    checks: [seal.check, settings.check],
    close: () => stored.disposeAsync(),
  }
}

import type { Address } from '@tollbook/core/address'
import type { TabId } from '@tollbook/core/tab'
import type { TabCloser } from './events/tabEvents.ts'
import type { Tab, TabKeys } from './tab.ts'

/** The ledger's interface for tabs. Every method throws a retryable `Fault` while the ledger does not answer. */
export interface TabLedger {
  /** Undefined if no deposit on record opened this tab. May be two seconds old: the append of a debit decides. */
  find(tab: TabId): Promise<Tab | undefined>
  /** Reads a tab again, unless another caller has done so since `tab` was read. */
  findAgain(tab: Tab): Promise<Tab | undefined>
  balanceBaseUnits(tab: Pick<Tab, 'id' | 'mint'>): Promise<bigint>
  /** Sum of all charges and holds since 00:00 UTC. */
  spentTodayBaseUnits(tab: Tab, nowMs: number): Promise<bigint>
  listHolding(): Promise<readonly TabId[]>
  totals(mint: Address): Promise<{ readonly prepaidBaseUnits: bigint; readonly refundsDueBaseUnits: bigint }>
  /**
   * Closes the tab and owes its rest to the wallet: at once, or by a later call if the chain could still drop a
   * deposit. Returns the rest, or undefined if there was nothing to do.
   */
  close(tab: TabId, by: TabCloser, nowMs: number): Promise<bigint | undefined>
  /** False if the keys have changed since `tab` was read, or the tab is closed. */
  replaceKeys(tab: Tab, keys: TabKeys, nowMs: number): Promise<boolean>
}

import type { Address } from '@tollbook/core/address'
import type { TabId } from '@tollbook/core/tab'
import type { TabCloser } from './events/tabEvents.ts'
import type { Tab, TabKeys } from './tab.ts'

/** The ledger's interface for tabs. Every method throws a retryable `Fault` if the ledger does not answer. */
export interface TabLedger {
  /**
   * Finds a tab. Undefined if no deposit on record opened this tab. The result may be two seconds old. This is safe,
   * because the append of a debit checks the current state.
   */
  find(tab: TabId): Promise<Tab | undefined>
  /** Reads a tab again, unless another caller has read it since `tab` was read. */
  findAgain(tab: Tab): Promise<Tab | undefined>
  balanceBaseUnits(tab: Pick<Tab, 'id' | 'mint'>): Promise<bigint>
  /** Returns the sum of all charges and holds since 00:00 UTC. */
  spentTodayBaseUnits(tab: Tab, nowMs: number): Promise<bigint>
  listHolding(): Promise<readonly TabId[]>
  totals(mint: Address): Promise<{ readonly prepaidBaseUnits: bigint; readonly refundsDueBaseUnits: bigint }>
  /**
   * Closes the tab. The unspent balance is owed to the wallet at once. If the chain could still drop a deposit, a later
   * call records the debt. Returns the owed balance. Undefined if there was nothing to do.
   */
  close(tab: TabId, by: TabCloser, nowMs: number): Promise<bigint | undefined>
  /** Replaces the keys. False if the keys have changed since `tab` was read, or if the tab is closed. */
  replaceKeys(tab: Tab, keys: TabKeys, nowMs: number): Promise<boolean>
}

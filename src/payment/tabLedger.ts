import type { Address } from '@tollbook/core/address'
import type { TabId } from '@tollbook/core/tab'
import type { TabCloser } from './events/tabEvents.ts'
import type { Tab, TabKeys } from './tab.ts'

/** Every method throws a retryable `Fault` if the ledger does not answer. */
export interface TabLedger {
  /**
   * Finds a tab. Undefined if no deposit on record opened the tab. The result is up to two seconds old, which is safe,
   * because the append of a debit checks the current state.
   */
  find(tab: TabId): Promise<Tab | undefined>
  /** Reads the tab again, unless another caller has done so since `tab` was read. */
  findAgain(tab: Tab): Promise<Tab | undefined>
  balanceBaseUnits(tab: Pick<Tab, 'id' | 'mint'>): Promise<bigint>
  /** Returns the amount taken from the tab since 00:00 UTC, less the holds that were returned in this time. */
  spentTodayBaseUnits(tab: Tab, nowMs: number): Promise<bigint>
  listHolding(): Promise<readonly TabId[]>
  totals(mint: Address): Promise<{ readonly prepaidBaseUnits: bigint; readonly refundsDueBaseUnits: bigint }>
  /**
   * Closes the tab if it is open, and owes the balance that can be owed now. Undefined if no deposit on record opened
   * the tab.
   */
  close(tab: TabId, by: TabCloser, nowMs: number): Promise<ClosedTab | undefined>
  /** Replaces the keys. False if the tab is closed, or its keys have changed since `tab` was read. */
  replaceKeys(tab: Tab, keys: TabKeys, nowMs: number): Promise<boolean>
}

export interface ClosedTab {
  /**
   * Amount that is owed to the wallet since the tab was closed, plus the balance that the tab still has. A later call
   * owes this balance once the chain cannot drop a deposit any more.
   */
  readonly restBaseUnits: bigint
  /** True if this call recorded something. */
  readonly hasChanged: boolean
}

import { assertPresent } from '@tollbook/core/assert'
import { readTabId, type TabId, tabIdBytes } from '@tollbook/core/tab'
import { type PaymentReference, streamIdOf } from '../payment/paymentReference.ts'

const lifecycleSpace = 6

/**
 * Space of ledger.keys for deposits. A key has the bytes of the tab, then the bytes of the deposit. For the opening
 * deposit the two parts are equal.
 */
export const depositSpace = 14

export function lifecycleStreamId(tab: TabId): Uint8Array {
  return Uint8Array.of(lifecycleSpace, ...tabBytes(tab))
}

export function depositKey(tab: TabId, deposit: PaymentReference): Uint8Array {
  return Uint8Array.of(...tabBytes(tab), ...streamIdOf(deposit).subarray(1, 1 + tabIdBytes))
}

export function tabBytes(tab: TabId): Uint8Array {
  return assertPresent(readTabId(tab), 'a tab has an id')
}

import { assert, assertNever } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { TabId, TabTerms } from '@tollbook/core/tab'
import type { TabLifecycleEvent } from './events.ts'
import type { TabCloser } from './events/tabEvents.ts'
import type { PaymentReference } from './paymentReference.ts'
import type { Settlement } from './settlement.ts'

/*
 * A tab: the deposits that it received, and its lifecycle since then. An open tab without a change of its keys has no
 * separate stream, so its lifecycle has version 0.
 */

/** The lifecycle of a tab, folded from its stream. `version` guards each debit. */
export interface TabLifecycle {
  readonly version: number
  readonly isClosed: boolean
  /** The keys since their last replacement. Undefined: those of the terms. */
  readonly keys: TabKeys | undefined
}

export type TabKeys = Pick<TabTerms, 'sessionKey' | 'bearerHash'>

export const newLifecycle: TabLifecycle = { version: 0, isClosed: false, keys: undefined }

export function evolveLifecycle(lifecycle: TabLifecycle, event: TabLifecycleEvent): TabLifecycle {
  const version = lifecycle.version + 1
  switch (event.kind) {
    case 'TabKeyReplaced':
      return { ...lifecycle, version, keys: { sessionKey: event.sessionKey, bearerHash: event.bearerHash } }
    case 'TabClosed':
      return { ...lifecycle, version, isClosed: true }
    case 'TabRestOwed':
      assert(lifecycle.isClosed, 'only a closed tab owes its rest')
      return { ...lifecycle, version }
    default:
      return assertNever(event)
  }
}

/** One payment that a tab received. */
export interface TabDepositOnRecord {
  readonly reference: PaymentReference
  readonly baseUnits: bigint
  readonly recordedAtMs: number
  /** `open`: the chain could still drop it. */
  readonly standing: 'open' | 'final' | 'reversed'
}

/** A tab with its current keys. */
export interface Tab extends TabKeys {
  readonly id: TabId
  readonly wallet: Address
  readonly mint: Address
  /** The deposit that opened it, and its place on the chain. */
  readonly deposit: PaymentReference
  readonly evidence: Settlement['evidence']
  readonly terms: TabTerms
  readonly lifecycle: TabLifecycle
  /** Opening first. */
  readonly deposits: readonly TabDepositOnRecord[]
}

/** True if the chain can drop none of its deposits. */
export function isTabFinal({ deposits }: Pick<Tab, 'deposits'>): boolean {
  return deposits.every(({ standing }) => standing === 'final')
}

/** A step of migrations/kinds/tab.sql with its one event. */
export interface TabLifecycleDecision {
  readonly step: 'tab_lifecycle.replace_key' | 'tab_lifecycle.close' | 'tab_lifecycle.return'
  readonly events: readonly [TabLifecycleEvent]
}

type LivingTab = Pick<Tab, 'id' | 'wallet' | 'mint' | 'lifecycle'>

/** Returns the name of the state as the ledger stores it. Empty for a lifecycle without events. */
export function lifecycleName({ version, isClosed }: TabLifecycle): string {
  if (version === 0) return ''
  return isClosed ? 'closed' : 'open'
}

/** Replaces the keys of an open tab. Undefined for a closed one. */
export function decideKeys(
  { id, lifecycle }: Pick<Tab, 'id' | 'lifecycle'>,
  keys: TabKeys,
): TabLifecycleDecision | undefined {
  if (lifecycle.isClosed) return undefined
  const { sessionKey, bearerHash } = keys
  return { step: 'tab_lifecycle.replace_key', events: [{ kind: 'TabKeyReplaced', tab: id, sessionKey, bearerHash }] }
}

/** Closes an open tab. `restBaseUnits` becomes owed to its wallet: at most its balance, which the append checks. */
export function decideClose(
  { id, wallet, mint, lifecycle }: LivingTab,
  by: TabCloser,
  restBaseUnits: bigint,
): TabLifecycleDecision | undefined {
  if (lifecycle.isClosed) return undefined
  return { step: 'tab_lifecycle.close', events: [{ kind: 'TabClosed', tab: id, wallet, mint, by, restBaseUnits }] }
}

/** Owes what a closed tab still has, or got back, to its wallet. Undefined if there is nothing. */
export function decideReturn(
  { id, wallet, mint, lifecycle }: LivingTab,
  restBaseUnits: bigint,
): TabLifecycleDecision | undefined {
  if (!lifecycle.isClosed || restBaseUnits === 0n) return undefined
  return { step: 'tab_lifecycle.return', events: [{ kind: 'TabRestOwed', tab: id, wallet, mint, restBaseUnits }] }
}

import { assert, assertNever } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { TabId, TabTerms } from '@tollbook/core/tab'
import { smaller } from '@tollbook/core/money'
import type { TabLifecycleEvent } from './events.ts'
import type { TabCloser } from './events/tabEvents.ts'
import type { PaymentReference } from './paymentReference.ts'
import type { Settlement } from './settlement.ts'

/* An open tab whose keys never changed has no separate stream, so its lifecycle has version 0. */

export interface TabLifecycle {
  readonly version: number
  readonly isClosed: boolean
  /** Owed to the wallet since the tab was closed. */
  readonly owedBaseUnits: bigint
  /** Taken back for dropped deposits since the tab was closed. */
  readonly takenBackBaseUnits: bigint
  /** Undefined: the keys of the terms are valid. */
  readonly keys: TabKeys | undefined
}

export type TabKeys = Pick<TabTerms, 'sessionKey' | 'bearerHash'>

export const newLifecycle: TabLifecycle = {
  version: 0,
  isClosed: false,
  owedBaseUnits: 0n,
  takenBackBaseUnits: 0n,
  keys: undefined,
}

export function evolveLifecycle(lifecycle: TabLifecycle, event: TabLifecycleEvent): TabLifecycle {
  const version = lifecycle.version + 1
  switch (event.kind) {
    case 'TabKeyReplaced':
      assert(!lifecycle.isClosed, 'a closed tab keeps its keys')
      return { ...lifecycle, version, keys: { sessionKey: event.sessionKey, bearerHash: event.bearerHash } }
    case 'TabClosed':
      assert(!lifecycle.isClosed, 'a tab is closed once')
      return { ...lifecycle, version, isClosed: true, owedBaseUnits: event.restBaseUnits }
    case 'TabRestOwed':
      assert(lifecycle.isClosed, 'only a closed tab owes its rest')
      return { ...lifecycle, version, owedBaseUnits: lifecycle.owedBaseUnits + event.restBaseUnits }
    case 'TabTakenBack': {
      assert(lifecycle.isClosed, 'a tab is closed before its deposit is reversed')
      return { ...lifecycle, version, takenBackBaseUnits: lifecycle.takenBackBaseUnits + event.takenBackBaseUnits }
    }
    default:
      return assertNever(event)
  }
}

export interface TabDepositOnRecord {
  readonly reference: PaymentReference
  readonly baseUnits: bigint
  /** Effective time of the deposit event. The ledger's hourly totals use this time. */
  readonly effectiveAtMs: number
  /** `open`: the chain could still drop the deposit. */
  readonly standing: 'open' | 'final' | 'reversed'
  /** Part of a reversed deposit that was spent or held when the chain dropped it. */
  readonly lostBaseUnits: bigint
}

export interface Tab extends TabKeys {
  readonly id: TabId
  readonly wallet: Address
  readonly mint: Address
  /** The deposit that opened the tab. */
  readonly deposit: PaymentReference
  readonly evidence: Settlement['evidence']
  readonly terms: TabTerms
  readonly lifecycle: TabLifecycle
  readonly deposits: readonly TabDepositOnRecord[]
}

export function isTabFinal({ deposits }: Pick<Tab, 'deposits'>): boolean {
  assert(deposits.length > 0, 'a deposit opened the tab')
  return deposits.every(({ standing }) => standing === 'final')
}

/** True if every deposit is final or reversed, so that the balance of the tab can be owed to its wallet. */
function isTabSettled({ deposits }: Pick<Tab, 'deposits'>): boolean {
  return deposits.every(({ standing }) => standing !== 'open')
}

export interface TabLifecycleDecision {
  readonly step:
    | 'tab_lifecycle.replace_key'
    | 'tab_lifecycle.close'
    | 'tab_lifecycle.return'
    | 'tab_lifecycle.take_back'
  readonly events: readonly [TabLifecycleEvent]
}

type LivingTab = Pick<Tab, 'id' | 'wallet' | 'mint' | 'lifecycle' | 'deposits'>

export function lifecycleName({ version, isClosed }: TabLifecycle): string {
  assert(version > 0 || !isClosed, 'a tab is closed by an event')
  if (version === 0) return ''
  return isClosed ? 'closed' : 'open'
}

export function decideKeys(
  { id, lifecycle }: Pick<Tab, 'id' | 'lifecycle'>,
  keys: TabKeys,
): TabLifecycleDecision | undefined {
  if (lifecycle.isClosed) return undefined
  const { sessionKey, bearerHash } = keys
  return { step: 'tab_lifecycle.replace_key', events: [{ kind: 'TabKeyReplaced', tab: id, sessionKey, bearerHash }] }
}

/**
 * Closes the tab. Nothing becomes owed while the chain could drop a deposit, or while a loss by a dropped deposit is
 * not covered. The append refuses an amount above the balance.
 */
export function decideClose(tab: LivingTab, by: TabCloser, balanceBaseUnits: bigint): TabLifecycleDecision | undefined {
  const { id, wallet, mint, lifecycle } = tab
  assert(balanceBaseUnits >= 0n, 'a tab is never overdrawn')
  if (lifecycle.isClosed) return undefined
  const restBaseUnits = isTabSettled(tab) && stillLostBaseUnits(tab) === 0n ? balanceBaseUnits : 0n
  return { step: 'tab_lifecycle.close', events: [{ kind: 'TabClosed', tab: id, wallet, mint, by, restBaseUnits }] }
}

/**
 * Returns the balance of a closed tab. The balance first covers the loss of dropped deposits, and the remainder is owed
 * to the wallet. Undefined while the tab is open, if the balance is 0, or while the chain could still drop a deposit.
 */
export function decideReturn(tab: LivingTab, balanceBaseUnits: bigint): TabLifecycleDecision | undefined {
  const { id, wallet, mint, lifecycle } = tab
  assert(balanceBaseUnits >= 0n, 'a tab is never overdrawn')
  if (!lifecycle.isClosed || balanceBaseUnits === 0n || !isTabSettled(tab)) return undefined
  const lostBaseUnits = stillLostBaseUnits(tab)
  if (lostBaseUnits > 0n) {
    const takenBackBaseUnits = smaller(balanceBaseUnits, lostBaseUnits)
    return { step: 'tab_lifecycle.take_back', events: [{ kind: 'TabTakenBack', tab: id, mint, takenBackBaseUnits }] }
  }
  const owed = { tab: id, wallet, mint, restBaseUnits: balanceBaseUnits }
  return { step: 'tab_lifecycle.return', events: [{ kind: 'TabRestOwed', ...owed }] }
}

function stillLostBaseUnits({ deposits, lifecycle }: LivingTab): bigint {
  return deposits.reduce((sum, { lostBaseUnits }) => sum + lostBaseUnits, -lifecycle.takenBackBaseUnits)
}

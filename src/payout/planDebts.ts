import type { Chain } from '../chain/openChain.ts'
import { Fault } from '@tollbook/core/fault'
import {
  type Debt,
  type Destinations,
  type PlannedDebts,
  planPayout,
  type WaitingDebt,
  walletsToPay,
} from '../accounting/planPayout.ts'
import { planHead } from '../accounting/payoutPlan.ts'
import type { Database } from '../store/database.ts'
import { readLeastPayout } from '../store/payoutStore.ts'
import { readFreeDebts } from './freeDebts.ts'
import type { PayoutWallets } from './payoutWallets.ts'
import { readReceivers } from './receivers.ts'

export interface PayoutRequest {
  readonly destinations: Destinations
  /** Undefined: a hundredth of the cheapest price on the newest price list. */
  readonly leastBaseUnits: bigint | undefined
  /** Bounds the rent for token accounts of other wallets. Absent: 0. */
  readonly openAccountsMax?: number
  readonly except?: readonly string[]
  /** True: the payout may come from a former payment wallet. */
  readonly fromOldWallet?: boolean
}

export interface PlanDeps {
  readonly database: Database
  readonly chain: Chain
  readonly wallets: PayoutWallets
  /** Throws while the chain has a payout that the ledger lacks. */
  readonly requireRecorded: () => Promise<void>
}

/** Plans the payment of the debts. Pays nothing and records nothing. */
export async function planDebts(deps: PlanDeps, request: PayoutRequest): Promise<PlannedDebts> {
  const { except = [], fromOldWallet = false, openAccountsMax = 0, destinations } = request
  const { chain, database, wallets } = deps
  await wallets.require({ fromOldWallet })
  const { mint } = chain.terms
  // Read the slot before the debts, because the sending of the plan searches for payments after this slot.
  const slot = await chain.finality.finalizedSlot()
  await deps.requireRecorded()
  const { position, debts: all, unsettled, heldBaseUnits } = await readFreeDebts(database, mint)
  requireDebts(except, [...all, ...unsettled])
  const debts = all.filter(({ account }) => !except.includes(account))
  const planned = planPayout({
    ...planHead({ ...chain.terms, position, slot }),
    debts,
    destinations,
    openAccountsMax,
    leastBaseUnits: request.leastBaseUnits ?? (await readLeastPayout(database, mint)),
    receivers: await readReceivers(deps, walletsToPay(debts, destinations), slot),
  })
  if (planned.plan !== undefined) await wallets.requireCover(planned.plan, heldBaseUnits)
  const excepted = all.filter(({ account }) => except.includes(account))
  return {
    plan: planned.plan,
    waiting: [
      ...planned.waiting,
      ...waits(excepted, 'left out by --except'),
      ...waits(unsettled, 'a payment of the wallet is not final yet'),
    ].toSorted((one, other) => (one.account < other.account ? -1 : 1)),
  }
}

function waits(debts: readonly Debt[], why: string): readonly WaitingDebt[] {
  return debts.map((debt) => ({ ...debt, why }))
}

/** Throws if an exception is not a debt, because the debt that the operator meant would be paid. */
function requireDebts(except: readonly string[], debts: readonly Debt[]): void {
  const unexpected = except.filter((name) => !debts.some(({ account }) => account === name))
  if (unexpected.length > 0) throw new Fault(`nothing is owed on ${unexpected.join(', ')}`, { retryable: false })
}

import { Fault } from '@tollbook/core/fault'
import type { Database } from '../store/database.ts'
import { readOpenHolderPayout } from '../store/holderPayoutStore.ts'
import { type Debts, readDebts } from '../store/payoutStore.ts'

/** Reads the debts without the amount that another open plan for holders has reserved and not paid yet. */
export async function readFreeDebts(database: Database, mint: string, planId?: string): Promise<Debts> {
  const open = await readOpenHolderPayout(database, mint)
  const { debts, ...rest } = await readDebts(database, mint)
  if (open === undefined || open.planId === planId) return { debts, ...rest }
  const reservedBaseUnits = open.amountBaseUnits - open.paidBaseUnits
  return {
    ...rest,
    debts: debts.map(({ account, baseUnits }) => {
      if (account !== open.account) return { account, baseUnits }
      const freeBaseUnits = baseUnits - reservedBaseUnits
      if (freeBaseUnits < 0n)
        throw new Fault(`${account} is owed less than the open plan ${open.planId} still has to pay`, {
          retryable: false,
        })
      return { account, baseUnits: freeBaseUnits }
    }),
  }
}

import { z } from 'zod'
import type { Address } from '@tollbook/core/address'
import { type Account, accounts, refundDueTo } from '../../../src/accounting/account.ts'
import { createEventCodec } from '../../../src/payment/eventCodec.ts'
import { distributionAllocated, requestFulfilled } from '../../../src/payment/events/attemptEvents.ts'
import type { DistributionAllocated, RequestFulfilled } from '../../../src/payment/events/attemptEvents.ts'
import { defineEvent } from '../../../src/payment/events/eventDefinition.ts'
import { address, baseUnits } from '../../../src/payment/events/fields.ts'
import { tokensBurned, type TokensBurned } from '../../../src/payment/events/verificationEvents.ts'

interface Moved<Kind extends string> {
  readonly kind: Kind
  /** The deposit's signature. */
  readonly tab: string
  readonly mint: Address
  readonly baseUnits: bigint
}

const moved = { tab: z.string(), mint: address, baseUnits }

export function prepaid(tab: string): Account {
  return `Liabilities:Prepaid:${tab}`
}

type TabOpened = Moved<'TabOpened'>
type TabDebited = Moved<'TabDebited'>
type TabCredited = Moved<'TabCredited'>
type TabClosed = Moved<'TabClosed'> & { readonly wallet: Address }

export type TabEvent =
  | TabOpened
  | TabDebited
  | TabCredited
  | TabClosed
  | TokensBurned
  | RequestFulfilled
  | DistributionAllocated

/** Four events of the tab, and three of the product's, unchanged. */
export const tabCodec = createEventCodec<TabEvent>([
  defineEvent<TabOpened>(
    z.object({ kind: z.literal('TabOpened'), ...moved }),
    ({ tab, mint, baseUnits: amountBaseUnits }) => [
      { debit: accounts.paymentWallet, credit: prepaid(tab), mint, amountBaseUnits },
    ],
  ),
  defineEvent<TabDebited>(
    z.object({ kind: z.literal('TabDebited'), ...moved }),
    ({ tab, mint, baseUnits: amountBaseUnits }) => [
      { debit: prepaid(tab), credit: accounts.unearned, mint, amountBaseUnits },
    ],
  ),
  defineEvent<TabCredited>(
    z.object({ kind: z.literal('TabCredited'), ...moved }),
    ({ tab, mint, baseUnits: amountBaseUnits }) => [
      { debit: accounts.unearned, credit: prepaid(tab), mint, amountBaseUnits },
    ],
  ),
  defineEvent<TabClosed>(
    z.object({ kind: z.literal('TabClosed'), wallet: address, ...moved }),
    ({ tab, wallet, mint, baseUnits: amountBaseUnits }) => [
      { debit: prepaid(tab), credit: refundDueTo(wallet), mint, amountBaseUnits },
    ],
  ),
  tokensBurned,
  requestFulfilled,
  distributionAllocated,
])

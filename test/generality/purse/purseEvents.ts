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
  readonly purse: string
  readonly mint: Address
  readonly baseUnits: bigint
}

const moved = { purse: z.string(), mint: address, baseUnits }

export function stored(purse: string): Account {
  return `Liabilities:Stored:${purse}`
}

type PurseOpened = Moved<'PurseOpened'>
type PurseDebited = Moved<'PurseDebited'>
type PurseCredited = Moved<'PurseCredited'>
type PurseClosed = Moved<'PurseClosed'> & { readonly wallet: Address }

export type PurseEvent =
  | PurseOpened
  | PurseDebited
  | PurseCredited
  | PurseClosed
  | TokensBurned
  | RequestFulfilled
  | DistributionAllocated

/** Four events of the purse, and three of the product's, unchanged. */
export const purseCodec = createEventCodec<PurseEvent>([
  defineEvent<PurseOpened>(
    z.object({ kind: z.literal('PurseOpened'), ...moved }),
    ({ purse, mint, baseUnits: amountBaseUnits }) => [
      { debit: accounts.paymentWallet, credit: stored(purse), mint, amountBaseUnits },
    ],
  ),
  defineEvent<PurseDebited>(
    z.object({ kind: z.literal('PurseDebited'), ...moved }),
    ({ purse, mint, baseUnits: amountBaseUnits }) => [
      { debit: stored(purse), credit: accounts.unearned, mint, amountBaseUnits },
    ],
  ),
  defineEvent<PurseCredited>(
    z.object({ kind: z.literal('PurseCredited'), ...moved }),
    ({ purse, mint, baseUnits: amountBaseUnits }) => [
      { debit: accounts.unearned, credit: stored(purse), mint, amountBaseUnits },
    ],
  ),
  defineEvent<PurseClosed>(
    z.object({ kind: z.literal('PurseClosed'), wallet: address, ...moved }),
    ({ purse, wallet, mint, baseUnits: amountBaseUnits }) => [
      { debit: stored(purse), credit: refundDueTo(wallet), mint, amountBaseUnits },
    ],
  ),
  tokensBurned,
  requestFulfilled,
  distributionAllocated,
])

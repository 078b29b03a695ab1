import { z } from 'zod'
import { accounts, burnedFor } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { defineEvent } from './eventDefinition.ts'
import { address, baseUnits } from './fields.ts'

/* A round of burning: tokens that we received for burning are burned by one transaction of the service. */

/** Part of a round that is owed for the answers of one endpoint. */
export interface EndpointBurn {
  readonly endpoint: string
  readonly baseUnits: bigint
}

const parts = z.array(z.object({ endpoint: z.string(), baseUnits })).min(1)
const round = z.int().min(1)

/**
 * State of the delegate before its burn. A burn that lands reduces the allowance, which only the owner can renew, and
 * costs a fee.
 */
export interface DelegateState {
  readonly allowanceBaseUnits: bigint
  readonly lamports: bigint
}

/** We put on record that we were about to send the burn, before we sent it. */
export interface BurnSubmitted {
  readonly kind: 'BurnSubmitted'
  readonly round: number
  readonly mint: Address
  /** The burns of all `BurnOwed` events up to this position are in the round. */
  readonly throughPosition: number
  readonly burnBaseUnits: bigint
  readonly parts: readonly EndpointBurn[]
  /** Above this block height the transaction can no longer land. */
  readonly lastValidHeight: number
  readonly delegate: DelegateState
  readonly transactionBase64: string
}

const burnSubmitted = defineEvent<BurnSubmitted>({
  kind: 'BurnSubmitted',
  schema: z.object({
    kind: z.literal('BurnSubmitted'),
    round,
    mint: address,
    throughPosition: z.int().min(1),
    burnBaseUnits: baseUnits,
    parts,
    lastValidHeight: z.int().min(1),
    delegate: z.object({ allowanceBaseUnits: baseUnits, lamports: baseUnits }),
    transactionBase64: z.string(),
  }),
})

const failureReasons = ['absent', 'failed'] as const

export type BurnFailureReason = (typeof failureReasons)[number]

/** The transaction burned nothing and never will. The debts of its round are burned by the next one. */
export interface BurnFailed {
  readonly kind: 'BurnFailed'
  readonly round: number
  readonly mint: Address
  /** `absent`: it is not on the finalized chain and can no longer land. `failed`: it is there, and burned nothing. */
  readonly reason: BurnFailureReason
  /** Slot of the finalized chain that shows it. */
  readonly finalizedSlot: number
}

const burnFailed = defineEvent<BurnFailed>({
  kind: 'BurnFailed',
  schema: z.object({
    kind: z.literal('BurnFailed'),
    round,
    mint: address,
    reason: z.enum(failureReasons),
    finalizedSlot: z.int(),
  }),
})

/** The finalized chain has the burn. */
export interface BurnConfirmed {
  readonly kind: 'BurnConfirmed'
  readonly round: number
  readonly mint: Address
  readonly burnedBaseUnits: bigint
  readonly slot: number
  readonly parts: readonly EndpointBurn[]
}

const burnConfirmed = defineEvent<BurnConfirmed>({
  kind: 'BurnConfirmed',
  schema: z.object({
    kind: z.literal('BurnConfirmed'),
    round,
    mint: address,
    burnedBaseUnits: baseUnits,
    slot: z.int(),
    parts,
  }),
  postings: confirmed,
})

/** The debt is settled out of the wallet, and the burn counts for the endpoints like one that a caller made. */
function confirmed({ mint, burnedBaseUnits, parts: burned }: BurnConfirmed): readonly Posting[] {
  const sum = burned.reduce((total, part) => total + part.baseUnits, 0n)
  assert(sum === burnedBaseUnits, 'the parts of a burn are the whole of it')
  return [
    { debit: accounts.burnOwed, credit: accounts.paymentWallet, mint, amountBaseUnits: burnedBaseUnits },
    ...burned.map((part): Posting => ({
      debit: burnedFor(part.endpoint),
      credit: accounts.burnedByCallers,
      mint,
      amountBaseUnits: part.baseUnits,
    })),
  ]
}

export const burnEvents = [burnSubmitted, burnConfirmed, burnFailed] as const

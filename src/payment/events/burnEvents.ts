import { z } from 'zod'
import { accounts, burnedFor } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import { assert } from '@tollbook/core/assert'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits } from './fields.ts'

/* A round of burning: tokens that we received for burning are burned by one transaction of the service. */

/** Part of a round that is owed for the answers of one endpoint. */
const endpointBurn = z.object({ endpoint: z.string(), baseUnits })
export type EndpointBurn = Readonly<z.output<typeof endpointBurn>>

/**
 * State of the delegate before its burn. A burn that lands reduces the allowance, which only the owner can renew, and
 * costs a fee.
 */
const delegate = z.object({ allowanceBaseUnits: baseUnits, lamports: baseUnits })
export type DelegateState = Readonly<z.output<typeof delegate>>

const parts = z.array(endpointBurn).min(1).readonly()
const ofRound = { round: z.int().min(1), mint: address }

/** We put on record that we were about to send the burn, before we sent it. */
const burnSubmitted = defineEvent(
  z.object({
    kind: z.literal('BurnSubmitted'),
    ...ofRound,
    /** The burns of all `BurnOwed` events up to this position are in the round. */
    throughPosition: z.int().min(1),
    burnBaseUnits: baseUnits,
    parts,
    /** Above this block height the transaction can no longer land. */
    lastValidHeight: z.int().min(1),
    delegate,
    transactionBase64: z.string(),
  }),
)
export type BurnSubmitted = EventOf<typeof burnSubmitted>

const failureReasons = ['absent', 'failed'] as const

export type BurnFailureReason = (typeof failureReasons)[number]

/** The transaction burned nothing and never will. The debts of its round are burned by the next one. */
const burnFailed = defineEvent(
  z.object({
    kind: z.literal('BurnFailed'),
    ...ofRound,
    /** `absent`: it is not on the finalized chain and can no longer land. `failed`: it is there, and burned nothing. */
    reason: z.enum(failureReasons),
    /** Slot of the finalized chain that shows it. */
    finalizedSlot: z.int(),
  }),
)
export type BurnFailed = EventOf<typeof burnFailed>

/**
 * The finalized chain has the burn. The debt is settled out of the wallet, and the burn counts for the endpoints like one
 * that a caller made.
 */
const burnConfirmed = defineEvent(
  z.object({ kind: z.literal('BurnConfirmed'), ...ofRound, burnedBaseUnits: baseUnits, slot: z.int(), parts }),
  ({ mint, burnedBaseUnits, parts: burned }) => {
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
  },
)
export type BurnConfirmed = EventOf<typeof burnConfirmed>

export const burnEvents = [burnSubmitted, burnConfirmed, burnFailed] as const

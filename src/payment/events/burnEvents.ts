import { z } from 'zod'
import { accounts, burnedFor } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import { assert } from '@tollbook/core/assert'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits } from './fields.ts'

/* A round of burning: one transaction of the service burns tokens that it received for that purpose. */

const endpointBurn = z.object({ endpoint: z.string(), baseUnits })
export type EndpointBurn = Readonly<z.output<typeof endpointBurn>>

/**
 * State of the delegate before its burn. A burn that lands costs a fee and reduces the allowance, which only the owner
 * can renew.
 */
const delegate = z.object({ allowanceBaseUnits: baseUnits, lamports: baseUnits })
export type DelegateState = Readonly<z.output<typeof delegate>>

const parts = z.array(endpointBurn).min(1).readonly()
const ofRound = { round: z.int().min(1), mint: address }

/** Recorded before the burn is sent. */
const burnSubmitted = defineEvent(
  z.object({
    kind: z.literal('BurnSubmitted'),
    ...ofRound,
    /** Last position of the `BurnOwed` events whose burns are in the round. */
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

/** The transaction burned nothing and never will. The next round burns the debts of this one. */
const burnFailed = defineEvent(
  z.object({
    kind: z.literal('BurnFailed'),
    ...ofRound,
    /**
     * `absent`: the burn is not on the finalized chain and can no longer land. `failed`: it is on that chain and burned
     * nothing.
     */
    reason: z.enum(failureReasons),
    finalizedSlot: z.int(),
  }),
)
export type BurnFailed = EventOf<typeof burnFailed>

/**
 * The finalized chain has the burn. The debt is settled from the wallet, and the burn counts for the endpoints like a
 * caller's burn.
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

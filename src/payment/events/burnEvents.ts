import { z } from 'zod'
import { accounts, burnedFor } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import { assert } from '@tollbook/core/assert'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits } from './fields.ts'

const endpointBurn = z.object({ endpoint: z.string(), baseUnits })
export type EndpointBurn = Readonly<z.output<typeof endpointBurn>>

/** A burn that lands costs a fee and reduces the allowance, which only the owner of the account can renew. */
const delegate = z.object({ allowanceBaseUnits: baseUnits, lamports: baseUnits })
export type DelegateState = Readonly<z.output<typeof delegate>>

const parts = z.array(endpointBurn).min(1).readonly()
const ofRound = { round: z.int().min(1), mint: address }

/** Recorded before the transaction is sent, so that a crash cannot lead to a second burn of the same debts. */
const burnSubmitted = defineEvent(
  z.object({
    kind: z.literal('BurnSubmitted'),
    ...ofRound,
    /** The round covers the debts of events up to this position that no confirmed round has covered. */
    throughPosition: z.int().min(1),
    burnBaseUnits: baseUnits,
    parts,
    /** Last block height at which the transaction can land. */
    lastValidHeight: z.int().min(1),
    /** State before the burn. */
    delegate,
    transactionBase64: z.string(),
  }),
)
export type BurnSubmitted = EventOf<typeof burnSubmitted>

const failureReasons = ['absent', 'failed'] as const

export type BurnFailureReason = (typeof failureReasons)[number]

/** The transaction burned nothing and never will. The next round burns its debts. */
const burnFailed = defineEvent(
  z.object({
    kind: z.literal('BurnFailed'),
    ...ofRound,
    /** `absent`: it has not landed and never will. `failed`: it landed and burned nothing. */
    reason: z.enum(failureReasons),
    finalizedSlot: z.int(),
  }),
)
export type BurnFailed = EventOf<typeof burnFailed>

/** The payment wallet settles the debt, and the burn counts for the endpoints like a burn by callers. */
const burnConfirmed = defineEvent(
  z.object({ kind: z.literal('BurnConfirmed'), ...ofRound, burnedBaseUnits: baseUnits, slot: z.int(), parts }),
  ({ mint, burnedBaseUnits, parts: burned }) => {
    const sumBaseUnits = burned.reduce((total, part) => total + part.baseUnits, 0n)
    assert(sumBaseUnits === burnedBaseUnits, 'the parts of a burn are the whole of it')
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

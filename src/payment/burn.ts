import { assert, assertNever } from '@tollbook/core/assert'
import type { BurnEvent } from './events.ts'
import type { BurnConfirmed, BurnSubmitted, EndpointBurn } from './events/burnEvents.ts'
import type { Address } from '@tollbook/core/address'

/*
 * The lifecycle of a burn that we make for callers who sent the whole price: submitted, then confirmed. Its stream is the
 * burn transaction's own signature, and its round is a key of the ledger, so one round is burned once.
 */

export type BurnState =
  | { readonly phase: 'unknown'; readonly version: 0 }
  | { readonly phase: 'submitted' | 'confirmed'; readonly version: number; readonly burn: SubmitBurn }

export const unknownBurn: BurnState = { phase: 'unknown', version: 0 }

export interface SubmitBurn {
  readonly round: number
  readonly mint: Address
  /** The burns of all `BurnOwed` events up to this position are in the round. */
  readonly throughPosition: number
  readonly parts: readonly EndpointBurn[]
}

export interface BurnDecision {
  readonly step: 'burn.submit' | 'burn.confirm'
  readonly events: readonly [BurnEvent]
}

/** Undefined when the transaction is on record. */
export function decideBurnSubmit(
  state: BurnState,
  { transactionBase64, ...burn }: SubmitBurn & { readonly transactionBase64: string },
): BurnDecision | undefined {
  assert(burn.parts.length > 0 && sumOf(burn.parts) > 0n, 'a round burns something')
  if (state.phase !== 'unknown') return undefined
  const submitted: BurnSubmitted = {
    kind: 'BurnSubmitted',
    ...burn,
    burnBaseUnits: sumOf(burn.parts),
    transactionBase64,
  }
  return { step: 'burn.submit', events: [submitted] }
}

/** Recorded once the finalized chain has the burn. Undefined when it is not waiting for that. */
export function decideBurnConfirm(
  state: BurnState,
  found: { readonly burnedBaseUnits: bigint; readonly slot: number },
): BurnDecision | undefined {
  if (state.phase !== 'submitted') return undefined
  const { round, mint, parts } = state.burn
  assert(sumOf(parts) === found.burnedBaseUnits, 'the chain burned what the round says')
  const confirmed: BurnConfirmed = { kind: 'BurnConfirmed', round, mint, parts, ...found }
  return { step: 'burn.confirm', events: [confirmed] }
}

export function evolveBurn(state: BurnState, event: BurnEvent): BurnState {
  const version = state.version + 1
  switch (event.kind) {
    case 'BurnSubmitted': {
      const { round, mint, throughPosition, parts } = event
      return { phase: 'submitted', version, burn: { round, mint, throughPosition, parts } }
    }
    case 'BurnConfirmed':
      assert(state.phase === 'submitted', 'a burn is submitted before it is confirmed')
      return { ...state, phase: 'confirmed', version }
    default:
      return assertNever(event)
  }
}

function sumOf(parts: readonly EndpointBurn[]): bigint {
  return parts.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
}

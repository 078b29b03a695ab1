import { assert, assertNever } from '@tollbook/core/assert'
import type { BurnEvent } from './events.ts'
import type {
  BurnConfirmed,
  BurnFailed,
  BurnFailureReason,
  BurnSubmitted,
  DelegateState,
  EndpointBurn,
} from './events/burnEvents.ts'
import type { Address } from '@tollbook/core/address'

/* The ledger accepts each round number once, so that each round is burned once. */

/** A failed round leaves its debts to the next round. */
export type BurnState =
  | { readonly phase: 'unknown'; readonly version: 0 }
  | { readonly phase: 'submitted' | 'confirmed' | 'failed'; readonly version: number; readonly burn: SubmitBurn }

export const unknownBurn: BurnState = { phase: 'unknown', version: 0 }

/** Recorded before its transaction is sent, so that a restarted job looks for this transaction before it signs another. */
export type SubmitBurn = Omit<BurnSubmitted, 'kind' | 'burnBaseUnits'>

export type BurnRound = Pick<SubmitBurn, 'round' | 'mint' | 'throughPosition' | 'parts'>

export interface BurnDecision {
  readonly step: 'burn.submit' | 'burn.confirm' | 'burn.fail'
  readonly events: readonly [BurnEvent]
}

/** Payments up to `throughPosition` are final or reversed, because a burn cannot be undone. */
export type BurnDebts = Pick<BurnRound, 'throughPosition' | 'parts'>

export function planRound(mint: Address, lastRound: number, debts: BurnDebts): BurnRound | undefined {
  assert(lastRound >= 0, 'rounds are counted from 1')
  assert(
    debts.parts.every(({ baseUnits }) => baseUnits > 0n),
    'a debt is a positive amount',
  )
  if (debts.parts.length === 0) return undefined
  return { round: lastRound + 1, mint, ...debts }
}

export function decideBurnSubmit(state: BurnState, burn: SubmitBurn): BurnDecision | undefined {
  assert(burn.parts.length > 0 && sumOf(burn.parts) > 0n, 'a round burns something')
  if (state.phase !== 'unknown') return undefined
  const submitted: BurnSubmitted = { kind: 'BurnSubmitted', ...burn, burnBaseUnits: sumOf(burn.parts) }
  return { step: 'burn.submit', events: [submitted] }
}

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

export function decideBurnFail(
  state: BurnState,
  verdict: { readonly reason: BurnFailureReason; readonly finalizedSlot: number },
): BurnDecision | undefined {
  if (state.phase !== 'submitted') return undefined
  assert(verdict.finalizedSlot >= 0, 'a verdict is of a slot')
  const { round, mint } = state.burn
  const failed: BurnFailed = { kind: 'BurnFailed', round, mint, ...verdict }
  return { step: 'burn.fail', events: [failed] }
}

export function evolveBurn(state: BurnState, event: BurnEvent): BurnState {
  const version = state.version + 1
  switch (event.kind) {
    case 'BurnSubmitted': {
      const { kind: _kind, burnBaseUnits: _burnBaseUnits, ...burn } = event
      return { phase: 'submitted', version, burn }
    }
    case 'BurnConfirmed':
      assert(state.phase === 'submitted', 'a burn is submitted before it is confirmed')
      return { ...state, phase: 'confirmed', version }
    case 'BurnFailed':
      assert(state.phase === 'submitted', 'a burn is submitted before it fails')
      return { ...state, phase: 'failed', version }
    default:
      return assertNever(event)
  }
}

/**
 * Explains why a failed round may still have burned. Undefined if the state of the delegate shows no burn. A burn
 * reduces the allowance and costs a fee. The owner may renew the allowance, so the fee of an absent transaction is
 * checked too.
 */
export function whyMaybeBurned(
  { delegate: before, parts }: Pick<SubmitBurn, 'delegate' | 'parts'>,
  reason: BurnFailureReason,
  now: DelegateState,
): string | undefined {
  const burnBaseUnits = sumOf(parts)
  if (before.allowanceBaseUnits < burnBaseUnits) return 'the allowance of the delegate before the burn did not cover it'
  if (now.allowanceBaseUnits !== before.allowanceBaseUnits)
    return `the allowance of the delegate was ${before.allowanceBaseUnits} base units before the burn of ${burnBaseUnits}, and is ${now.allowanceBaseUnits}`
  if (reason === 'absent' && now.lamports < before.lamports)
    return `the delegate has paid a network fee since: it had ${before.lamports} lamports, and has ${now.lamports}`
  return undefined
}

export function sumOf(parts: readonly EndpointBurn[]): bigint {
  return parts.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
}

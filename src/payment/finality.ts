import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { PaymentReversed, ReversalReason, TransferReceived } from './events/finalityEvents.ts'
import { endAttempt, exposureOf, failureEvent } from './attempt.ts'
import type { PaymentDecision, PaymentState } from './payment.ts'
import { mayTakeOver } from './paymentUse.ts'
import { refundEvent } from './refund.ts'
import type { Price } from '@tollbook/core/quote'
import { smaller } from '@tollbook/core/money'
import { heldForCallerBaseUnits, isPaidWhole } from './settlement.ts'
import { isDebit, isDepositPrice } from './tabSettlement.ts'
import type { TransactionRecord } from './transactionRecord.ts'

/*
 * A decision is undefined if its step does not apply to the state. In this file, `decideExpiry` alone ends an attempt,
 * and only after its lease, so that no delivery is lost.
 */

export type FinalVerdict =
  | { readonly kind: 'finalized'; readonly slot: number }
  | {
      readonly kind: 'reversed'
      readonly reason: ReversalReason
      readonly finalizedSlot: number
      /** Present for a deposit: the balance of its tab. The append refuses to take back more than the balance. */
      readonly prepaidBaseUnits?: bigint
    }

type Resting = Exclude<PaymentState, { phase: 'unknown' | 'submitted' | 'claimed' | 'streaming' | 'unmatched' }>

function findResting(state: PaymentState): Resting | undefined {
  const isResting = state.phase === 'released' || state.phase === 'fulfilled' || state.phase === 'exhausted'
  return isResting ? state : undefined
}

/**
 * Applies a verdict to a released, fulfilled or exhausted payment that is not final yet. Undefined otherwise: during an
 * attempt, a verdict could lose its delivery.
 */
export function decideFinality(state: PaymentState, verdict: FinalVerdict): PaymentDecision | undefined {
  assert((verdict.kind === 'finalized' ? verdict.slot : verdict.finalizedSlot) >= 0, 'a verdict is of a slot')
  const resting = findResting(state)
  if (resting === undefined || resting.isFinal) return undefined
  if (verdict.kind === 'reversed') return reversal(resting, verdict)
  const finalized = { kind: 'PaymentFinalized', slot: verdict.slot, ...stillExposed(resting) } as const
  // The attempts are exhausted and the chain cannot drop the payment, so its refund is due now.
  const refund = resting.phase === 'exhausted' ? [refundEvent({ ...resting, isFinal: true })] : []
  return { step: 'payment.finalize', events: [finalized, ...refund] }
}

/** Returns the amount that is still exposed. Only a delivered payment is: otherwise the exposure ended with the attempt. */
function stillExposed(resting: Resting) {
  const { mint, exposedBaseUnits } = exposureOf(resting)
  return { mint, exposedBaseUnits: resting.phase === 'fulfilled' ? exposedBaseUnits : 0n }
}

function reversal(
  resting: Resting,
  { reason, finalizedSlot, prepaidBaseUnits = 0n }: Extract<FinalVerdict, { kind: 'reversed' }>,
): PaymentDecision {
  const { settlement, phase } = resting
  const { wallet, price, burnedBaseUnits, receivedBaseUnits } = settlement
  const { mint, endpoint } = price
  const heldBaseUnits = heldForCallerBaseUnits(settlement)
  const overpaidBaseUnits = receivedBaseUnits - heldBaseUnits
  assert(overpaidBaseUnits >= 0n, 'no less was received than is held')
  assert(prepaidBaseUnits >= 0n, 'a tab is never overdrawn')
  // A delivery has already moved the burn and the shares out of the held amount.
  const isDelivered = phase === 'fulfilled'
  const burnOwedBaseUnits = isDelivered && isPaidWhole(settlement) ? price.burnBaseUnits : 0n
  assert(burnOwedBaseUnits <= heldBaseUnits, 'the burn is owed out of what is held')
  const reversed: PaymentReversed = {
    kind: 'PaymentReversed',
    reason,
    finalizedSlot,
    wallet,
    endpoint,
    unearnedBaseUnits: isDelivered ? 0n : heldBaseUnits,
    lostBaseUnits: isDelivered ? heldBaseUnits - burnOwedBaseUnits : 0n,
    overpaidBaseUnits,
    burnOwedBaseUnits,
    ...stillExposed(resting),
  }
  if (isDepositPrice(price)) {
    const { tab } = resting
    if (tab === undefined) return { step: 'payment.reverse', events: [reversed] }
    const takenBackBaseUnits = smaller(prepaidBaseUnits, heldBaseUnits)
    const taken = { takenBackBaseUnits, spentBaseUnits: heldBaseUnits - takenBackBaseUnits }
    return { step: 'payment.reverse', events: [reversed, { kind: 'DepositReversed', tab, mint, ...taken }] }
  }
  const burn = { kind: 'BurnReversed', mint, endpoint, burnedBaseUnits } as const
  const ofBurn = isPaidWhole(settlement) ? (isDelivered ? cancelledBurnOf(price) : []) : [burn]
  return { step: 'payment.reverse', events: [reversed, ...ofBurn] }
}

function cancelledBurnOf({ endpoint, tokenBurn }: Price) {
  if (tokenBurn === undefined) return []
  const { mint, baseUnits: owedBaseUnits } = tokenBurn
  return [{ kind: 'BurnOwedReversed', mint, endpoint, owedBaseUnits } as const]
}

export interface ExpiryCommand {
  readonly nowMs: number
  readonly attemptsMax: number
}

/**
 * Ends an attempt whose lease has ended. `nowMs` may come from a wrong clock. It only avoids needless appends, because
 * the ledger decides the end of the lease by its own time.
 */
export function decideExpiry(state: PaymentState, { nowMs, attemptsMax }: ExpiryCommand): PaymentDecision | undefined {
  assert(attemptsMax >= 1, 'a payment has an attempt')
  if (state.phase !== 'claimed' && state.phase !== 'streaming') return undefined
  if (!mayTakeOver(state, nowMs)) return undefined
  const { events } = endAttempt(state, failureEvent(state, 'lease_expired'), attemptsMax)
  return { step: isDebit(state.settlement) ? 'tab_request.expire' : 'payment.expire', events }
}

/** Owes a payment back after a failed attempt, but only once it is final, because the chain could still drop it before. */
export function decideRefund(state: PaymentState): PaymentDecision | undefined {
  // A debit needs no refund, because its tab already has the hold back.
  if (state.phase !== 'released' || !state.isFinal || isDebit(state.settlement)) return undefined
  return { step: 'payment.refund', events: [refundEvent(state)] }
}

export type ReceivedTransfer = Omit<TransferReceived, 'kind'>

/** Transfers of this mint from this wallet are deliveries for the burns of sales in dollars. */
export interface TokenDeliverySource {
  readonly wallet: Address
  readonly mint: Address
}

export function decideDelivery(
  state: PaymentState,
  { wallet, ...transfer }: ReceivedTransfer,
  source: TokenDeliverySource | undefined,
): PaymentDecision | undefined {
  assert(transfer.receivedBaseUnits > 0n, 'a delivery moves tokens')
  if (state.phase !== 'unknown' || source === undefined) return undefined
  if (wallet !== source.wallet || transfer.mint !== source.mint) return undefined
  return { step: 'payment.unmatch', events: [{ kind: 'TokensDelivered', wallet, ...transfer }] }
}

/**
 * Records tokens that no settlement covers. Those of a reversed payment count, because the reversal has taken them out
 * of the accounts.
 */
export function decideUnmatched(state: PaymentState, transfer: ReceivedTransfer): PaymentDecision | undefined {
  assert(transfer.receivedBaseUnits > 0n, 'a received transfer moves tokens')
  assert(transfer.slot >= 0, 'a transfer landed in a slot')
  if (state.phase !== 'unknown' && state.phase !== 'submitted' && state.phase !== 'reversed') return undefined
  return { step: 'payment.unmatch', events: [{ kind: 'TransferReceived', ...transfer }] }
}

/**
 * Returns the wallet that sent most of the tokens from outside to the service's accounts. The wallet is the owner of
 * the source account, or its authority if no owner is shown. Undefined without a transfer, for example if the tokens
 * were minted.
 */
export function senderOf(
  { movements, balances }: Pick<TransactionRecord, 'movements' | 'balances'>,
  mint: Address,
  ownAccounts: readonly Address[],
): Address | undefined {
  assert(ownAccounts.length > 0, 'tokens are sent to an account of the service')
  const sent = new Map<Address, bigint>()
  for (const movement of movements) {
    if (movement.kind !== 'transfer' || movement.mint !== mint) continue
    if (!ownAccounts.includes(movement.destination) || ownAccounts.includes(movement.source)) continue
    const { source, authority } = movement
    const owners = balances.find(({ tokenAccount }) => tokenAccount === source)?.ownersSeen ?? []
    // The transaction may reopen the account for another owner, who then signs for the transfer.
    const owner = owners.includes(authority) ? authority : (owners[0] ?? authority)
    sent.set(owner, (sent.get(owner) ?? 0n) + movement.amountBaseUnits)
  }
  const [most] = [...sent].toSorted(([, one], [, other]) => (one < other ? 1 : one > other ? -1 : 0))
  return most?.[0]
}

/** Records tokens of a second mint in one transaction. Their stream is identified by the signature and the mint. */
export function decideArrival(
  state: PaymentState,
  transfer: ReceivedTransfer,
  source: TokenDeliverySource | undefined,
): PaymentDecision | undefined {
  if (state.phase !== 'unknown') return undefined
  const decision = decideDelivery(state, transfer, source) ?? decideUnmatched(state, transfer)
  return decision === undefined ? undefined : { ...decision, step: 'arrival.record' }
}

/** Returns the mint of a payment. Undefined before a verification, and for a payout or a burn. */
export function mintOf(state: PaymentState): Address | undefined {
  if ('settlement' in state) return state.settlement.price.mint
  return state.phase === 'unmatched' ? state.mint : undefined
}

import { awaitsFinality, type AuditedStream } from '../auditedStream.ts'
import { describeShares } from '../body.ts'
import { dueOf, isPaidWhole } from '../settlement.ts'
import { arrivalStream, isSolanaStream, signatureOf, solanaStream } from '../streamName.ts'
import { noteBurnOwed } from './burnsOwed.ts'
import type { Judged } from './auditedKind.ts'
import type * as bodies from './paymentBodies.ts'

/*
 * Rules for the members of each payment event. They compare the members with the earlier events of the ledger.
 * paymentSteps.ts declares the permitted order of the events.
 */

type Of<K extends keyof typeof bodies> = bodies.Body<(typeof bodies)[K]>

export function judgeSubmitted({ stream, wallet, endpoint }: Of<'submitted'>, { row, blame }: Judged): void {
  expectOwnName(stream, blame)
  row.wallet = wallet
  row.endpoint = endpoint
}

function expectOwnName(stream: string, blame: Judged['blame']): void {
  if (!isSolanaStream(stream)) blame('lifecycle_impossible', 'the stream of a payment is named by its reference')
}

export function judgeVerified(event: Of<'verified'>, at: Judged): void {
  const { settlement } = event
  const { price, evidence } = settlement
  const { row } = at
  judgeSettlement(event, at)
  Object.assign(row, {
    wallet: settlement.wallet,
    endpoint: price.endpoint,
    mint: price.mint,
    quoteId: settlement.quoteId,
    price: price.digest,
    shares: price.sharesText,
    requiredBaseUnits: price.requiredBaseUnits,
    burnBaseUnits: price.burnBaseUnits,
    burnedBaseUnits: settlement.burnedBaseUnits,
    tokenBurnMint: price.tokenBurn?.mint ?? '',
    tokenBurnBaseUnits: price.tokenBurn?.baseUnits ?? 0n,
    overpaidBaseUnits: settlement.receivedBaseUnits - dueOf(settlement),
    isPaidWhole: isPaidWhole(settlement),
    blockTimeMs: evidence.blockTimeMs,
    verifiedSlot: evidence.slot,
    slot: evidence.slot,
  } satisfies Partial<AuditedStream>)
}

function judgeSettlement({ settlement, stream, effectiveAt }: Of<'verified'>, { row, blame, ledger }: Judged): void {
  const { price, wallet, burnedBaseUnits, receivedBaseUnits, priceList } = settlement
  if (row.state === 'submitted') {
    if (row.wallet !== wallet) blame('owner_differs', 'another wallet had submitted the transaction')
    if (row.endpoint !== price.endpoint) blame('owner_differs', 'it was submitted for another endpoint')
  } else expectOwnName(stream, blame)
  if (settlement.reference !== stream) blame('lifecycle_impossible', 'the settlement has another reference')
  // Use the time at which the payment landed, because during an outage the event may be recorded much later.
  const landedAtMs = settlement.evidence.blockTimeMs
  if (landedAtMs !== effectiveAt) blame('lifecycle_impossible', 'it took effect at another time')
  if (price.problem !== undefined) blame('price_wrong', price.problem)
  if (!ledger.prices.offers(price, landedAtMs)) {
    const problem = ledger.prices.findShareProblem(price, landedAtMs)
    if (price.problem === undefined && problem !== undefined) blame('price_wrong', problem)
    blame('price_not_published', `no price list in force had this price for ${price.endpoint}`)
  }
  if (priceList !== undefined && !ledger.prices.has(priceList, price.digest))
    blame('price_not_published', `price list ${priceList} does not have this price for ${price.endpoint}`)
  // A partial burn is wrong, because the service owes the whole burn unless the payer burned all of it.
  if (isPaidWhole(settlement) && burnedBaseUnits !== 0n)
    blame('payment_short', `${burnedBaseUnits} were burned of ${price.burnBaseUnits}`)
  const dueBaseUnits = dueOf(settlement)
  if (receivedBaseUnits < dueBaseUnits) blame('payment_short', `${receivedBaseUnits} were received of ${dueBaseUnits}`)
}

export function judgeBurn(event: Of<'tokensBurned'> | Of<'burnReversed'>, at: Judged): void {
  // A burn and its reversal take effect at the block time of the payment, so both change the totals of the same hour.
  expectBurn(event, at, { foundBaseUnits: event.burnedBaseUnits, rightBaseUnits: at.row.burnedBaseUnits })
  if (event.effectiveAt !== at.row.blockTimeMs) at.blame('burn_differs', 'it took effect at another time')
}

export function judgeBurnOwed(event: Of<'burnOwed'>, at: Judged): void {
  const { owedBaseUnits, mint, endpoint, effectiveAt, source } = event
  if (owesToken(at.row)) expectTokenBurn(event, at)
  else expectBurn(event, at, { foundBaseUnits: owedBaseUnits, rightBaseUnits: at.row.burnBaseUnits })
  if ((source === 'treasury') !== owesToken(at.row))
    at.blame('burn_owed_mismatch', 'the burn is not owed by the side that the price names')
  if (effectiveAt !== at.effectiveAtBefore)
    at.blame('burn_differs', 'it took effect at another time than the event that it belongs to')
  noteBurnOwed(at.ledger.state, { mint, endpoint }, owedBaseUnits)
}

export function judgeBurnOwedReversed(event: Of<'burnOwedReversed'>, at: Judged): void {
  const { mint, endpoint, owedBaseUnits } = event
  expectTokenBurn(event, at)
  noteBurnOwed(at.ledger.state, { mint, endpoint }, -owedBaseUnits)
}

/** True for a payment or a debit in dollars that owes a burn in the service token. */
export function owesToken({ tokenBurnMint }: AuditedStream): boolean {
  return tokenBurnMint !== ''
}

function expectTokenBurn(
  { mint, endpoint, owedBaseUnits }: Of<'burnOwed'> | Of<'burnOwedReversed'>,
  { row, blame }: Judged,
): void {
  const { tokenBurnMint, tokenBurnBaseUnits } = row
  if (owedBaseUnits !== tokenBurnBaseUnits)
    blame('burn_owed_mismatch', `a burn of ${owedBaseUnits} is owed, and the price owes ${tokenBurnBaseUnits}`)
  if (mint !== tokenBurnMint) blame('burn_owed_mismatch', 'the burn is owed in another mint than the price says')
  if (endpoint !== row.endpoint) blame('burn_owed_mismatch', `it was paid for ${row.endpoint}`)
}

function expectBurn(
  event: { readonly kind: string; readonly mint: string; readonly endpoint: string },
  { row, blame }: Judged,
  { foundBaseUnits, rightBaseUnits }: { foundBaseUnits: bigint; rightBaseUnits: bigint },
): void {
  if (foundBaseUnits !== rightBaseUnits)
    blame('burn_differs', `${event.kind} of ${foundBaseUnits}, and the payment's burn is ${rightBaseUnits}`)
  if (event.mint !== row.mint) blame('burn_differs', 'another mint was paid')
  if (event.endpoint !== row.endpoint) blame('burn_differs', `it was paid for ${row.endpoint}`)
}

export function judgeClaimed(event: Of<'claimed'>, at: Judged): void {
  const { row, recordedAtMs, blame } = at
  if (event.attempt !== row.attempt + 1)
    blame('attempt_wrong', `attempt ${event.attempt} follows attempt ${row.attempt}`)
  if (event.wallet !== row.wallet) blame('owner_differs', 'another wallet has paid')
  if (event.endpoint !== row.endpoint) blame('owner_differs', `it was paid for ${row.endpoint}`)
  // The chain can drop a payment that is not final. An answer then puts the whole price at risk.
  expectExposure(event, at, awaitsFinality(row) ? row.requiredBaseUnits : 0n)
  row.exposedBaseUnits += event.exposedBaseUnits
  row.attempt = event.attempt
  row.attemptId = event.attemptId
  row.orderDigest = event.orderDigest
  row.leaseMs = event.leaseMs
  row.leaseUntilMs = recordedAtMs + event.leaseMs
}

export function judgeStarted(event: Of<'started'>, at: Judged): void {
  expectAttempt(event, at)
  at.row.leaseUntilMs = at.recordedAtMs + at.row.leaseMs
}

export function judgeFulfilled(event: Of<'fulfilled'>, at: Judged): void {
  expectAttempt(event, at)
  if (event.orderDigest !== at.row.orderDigest)
    at.blame('attempt_wrong', 'the order that was fulfilled is not the one that was claimed')
  at.row.leaseUntilMs = null
}

export function judgeAllocated({ mint, parts }: Of<'allocated'>, { row, blame }: Judged): void {
  if (mint !== row.mint) blame('distribution_differs', 'another mint was paid')
  const text = describeShares(parts)
  if (text !== row.shares) blame('distribution_differs', `${text} are allocated, and the price divides otherwise`)
}

const failureReasons = new Set([
  'no_data',
  'upstream_failed',
  'upstream_timeout',
  'target_forbidden',
  'internal_error',
  'lease_expired',
  'tab_limit',
])

export function judgeFailed(event: Of<'failed'>, at: Judged): void {
  const { row, recordedAtMs, blame } = at
  const { reason } = event
  if (!failureReasons.has(reason)) blame('lifecycle_impossible', `an attempt does not end with the reason ${reason}`)
  if (reason === 'tab_limit' && row.state !== 'debited')
    blame('lifecycle_impossible', 'only a debit of a tab ends at a limit of the tab')
  if (reason !== 'lease_expired' && row.state.startsWith('streaming'))
    blame('lifecycle_impossible', `an answer that had begun does not end with the reason ${reason}`)
  if (reason === 'lease_expired' && recordedAtMs < (row.leaseUntilMs ?? Infinity))
    blame('lifecycle_impossible', 'the attempt was ended before its lease had')
  judgeReleased(event, at)
}

export function judgeReleased(event: Of<'failed'> | Of<'broken'>, at: Judged): void {
  expectAttempt(event, at)
  endExposure(event, at)
  at.row.leaseUntilMs = null
}

export function judgeExhausted({ attempts }: Of<'exhausted'>, { row, blame }: Judged): void {
  if (attempts !== row.attempt) blame('attempt_wrong', `${attempts} attempts are counted, and ${row.attempt} were made`)
}

function expectAttempt(
  { attempt, attemptId }: Of<'started'> | Of<'failed'> | Of<'broken'> | Of<'fulfilled'>,
  { row, blame }: Judged,
): void {
  if (attempt !== row.attempt) blame('attempt_wrong', `the event names attempt ${attempt}, not ${row.attempt}`)
  if (attemptId !== row.attemptId) blame('attempt_wrong', 'another attempt id was claimed')
}

interface Exposure {
  readonly mint: string
  readonly exposedBaseUnits: bigint
}

function endExposure(event: Exposure, at: Judged): void {
  expectExposure(event, at, at.row.exposedBaseUnits)
  at.row.exposedBaseUnits = 0n
}

function expectExposure({ exposedBaseUnits, mint }: Exposure, { row, blame }: Judged, rightBaseUnits: bigint): void {
  if (exposedBaseUnits !== rightBaseUnits)
    blame('exposure_differs', `${exposedBaseUnits} are recorded as exposed, and ${rightBaseUnits} change`)
  if (mint !== row.mint) blame('owner_differs', 'another mint was paid')
}

export function judgeFinalized(event: Of<'finalized'>, at: Judged): void {
  endExposure(event, at)
  at.row.slot = event.slot
}

export function judgeReversed(event: Of<'reversed'>, at: Judged): void {
  const { row, blame, ledger } = at
  const { mint, endpoint, burnOwedBaseUnits } = event
  const owedBaseUnits = owedBy(row)
  const isServed = isDelivered(row)
  const burnBaseUnits = isServed && row.isPaidWhole ? row.burnBaseUnits : 0n
  const right = [isServed ? 0n : owedBaseUnits, isServed ? owedBaseUnits : 0n, row.overpaidBaseUnits, burnBaseUnits]
  const found = [event.unearnedBaseUnits, event.lostBaseUnits, event.overpaidBaseUnits, burnOwedBaseUnits]
  if (found.join() !== right.join())
    blame('reversal_differs', `${found.join(' / ')} are taken back, and the payment was ${right.join(' / ')}`)
  expectOwner(event, at)
  if (endpoint !== row.endpoint) blame('owner_differs', 'it was for another endpoint')
  endExposure(event, at)
  noteBurnOwed(ledger.state, { mint, endpoint }, -burnOwedBaseUnits)
}

export function judgeRefundDue(event: Of<'refundDue'>, at: Judged): void {
  const owedBaseUnits = owedBy(at.row)
  if (event.refundBaseUnits !== owedBaseUnits)
    at.blame('refund_differs', `${event.refundBaseUnits} are owed back of ${owedBaseUnits}`)
  expectOwner(event, at)
}

type Arrived = Of<'received'> | Of<'delivered'>

export function judgeReceived({ stream, slot, mint }: Arrived, { row, blame, ledger }: Judged): void {
  expectOwnName(stream, blame)
  // Only a payment that was reversed has a mint here. Its transaction may have an arrival in a second mint.
  if (row.mint !== '' && ledger.streams.find(arrivalStream(signatureOf(stream), mint)) !== undefined)
    blame('lifecycle_impossible', 'its tokens are on record as an arrival')
  Object.assign(row, { slot, mint })
}

/**
 * Checks an arrival in a second mint. The stream must have the name of its transaction and mint, and the transaction's
 * own stream must record a different mint.
 */
export function judgeArrival({ stream, slot, mint }: Arrived, { row, blame, ledger }: Judged): void {
  const signature = signatureOf(stream)
  if (stream !== arrivalStream(signature, mint))
    blame('lifecycle_impossible', 'an arrival is named by its transaction and its mint')
  const first = ledger.streams.find(solanaStream(signature))
  if (first === undefined || first.mint === '' || first.mint === mint)
    blame('lifecycle_impossible', 'its transaction is not on record in another mint')
  Object.assign(row, { slot, mint })
}

function expectOwner({ wallet, mint }: Of<'refundDue'> | Of<'reversed'>, { row, blame }: Judged): void {
  if (wallet !== row.wallet) blame('owner_differs', 'another wallet had paid')
  if (mint !== row.mint) blame('owner_differs', 'another mint was paid')
}

function isDelivered({ state }: AuditedStream): boolean {
  return state.startsWith('fulfilled')
}

/**
 * Returns the required amount in base units, without a burn that the payer made or that the delivery owes. This amount
 * is unearned before the delivery, and allocated to shares after it.
 */
function owedBy(row: AuditedStream): bigint {
  const { requiredBaseUnits, burnBaseUnits } = row
  return row.isPaidWhole && !isDelivered(row) ? requiredBaseUnits : requiredBaseUnits - burnBaseUnits
}

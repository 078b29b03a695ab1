import { assertNever } from '@tollbook/core/assert'
import { bindSecret } from '@tollbook/core/binding'
import type { Finding, Unknown } from '../../payment/chainReader.ts'
import { type Order, type PaymentState } from '../../payment/payment.ts'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import { decideSubmit } from '../../payment/submission.ts'
import { transactionReference } from '../../payment/paymentReference.ts'
import type { LandingBound } from '../../payment/absence.ts'
import type { SignedTransaction, SimulatedEffects, Simulation } from '../../payment/proof.ts'
import type { Price } from '@tollbook/core/quote'
import { isRefusal, type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { dueOf, type PaymentTerms, settle } from '../../payment/settlement.ts'
import { isDepositPrice } from '../../payment/tabSettlement.ts'
import type { TokenMovement } from '../../payment/transactionRecord.ts'
import { feeOf } from '@tollbook/core/transferFee'
import { acceptedAt, type WalletDeps } from './acceptedTerms.ts'
import { type BalanceDeps, findShortage, refuseShortage } from './checkBalance.ts'
import { type ChosenPrice, landingNow } from './choosePrice.ts'
import type { KnownPayers } from './knownPayers.ts'
import type { SolanaProof } from './solanaProof.ts'

export interface SubmitDeps extends BalanceDeps, WalletDeps {
  readonly ledger: Pick<PaymentLedger, 'append'>
  /** Wallets whose transactions need no rehearsal. Absent: every transaction is rehearsed before it is sent. */
  readonly knownPayers?: KnownPayers
}

export interface Submission {
  readonly proof: SolanaProof
  readonly order: Order
  readonly payment: PaymentState
  readonly transaction: SignedTransaction
}

/**
 * Needs no node: the wallet must have signed, and the transaction must contain the mint. If it uses lookup tables, only
 * a node can show whether they contain the mint.
 */
export function checkAccounts(
  { mint }: PaymentTerms,
  transaction: SignedTransaction,
  order: Order,
): Refusal | undefined {
  if (!transaction.signers.includes(order.wallet)) return refuseProof('wallet_did_not_sign')
  // Every burn instruction contains the mint, whichever program calls the burn. Without the mint, the transaction burns
  // nothing.
  if (transaction.accounts?.includes(mint) === false)
    return refuseProof(
      'burn_insufficient',
      `the transaction does not name the mint ${mint}, so it burns none of its tokens`,
    )
  return undefined
}

export interface SubmitOutcome {
  /**
   * True if the transaction was sent, by this service or by the caller. False if the nodes returned no certain result,
   * which is not a verdict.
   */
  readonly isSent: boolean
  /**
   * State of the payment with the intent that this call has recorded, or the given state if it recorded none. The
   * intent is recorded before the transaction is sent.
   */
  readonly payment: PaymentState
  /** Last block height at which the transaction can land. Undefined if neither a rehearsal nor a record states it. */
  readonly bound: LandingBound | undefined
}

/**
 * Rehearses a transaction, records the intent, and sends exactly the given bytes. A wallet that has just paid may need
 * no rehearsal, and a transaction with a durable nonce is not sent. A refusal means that this call has not sent the
 * transaction.
 */
export async function submitTransaction(deps: SubmitDeps, submission: Submission): Promise<SubmitOutcome | Refusal> {
  const { transaction, payment } = submission
  // Do not send a transaction with a durable nonce. It could be withheld and sent a year later, so it is accepted only
  // after it has landed.
  if (transaction.usesDurableNonce) {
    const finding = await deps.chain.find(transaction.signature)
    const isAbsent = isUnseen(finding) && finding.isAgreed
    return isAbsent ? refuseProof('durable_nonce') : { isSent: true, payment, bound: undefined }
  }
  const sent = await sendUnrehearsed(deps, submission)
  if (sent !== undefined) return sent
  const accepts = async (effects: SimulatedEffects) => !isRefusal(await judgeEffectsOf(deps, submission, { effects }))
  const simulation = await deps.chain.simulate(transaction, { accepts })
  switch (simulation.outcome) {
    case 'already_landed':
      return { isSent: true, payment, bound: undefined }
    case 'unknown':
      return { isSent: false, payment, bound: undefined }
    case 'would_fail':
      return judgeFailure(deps, submission, simulation)
    case 'would_succeed': {
      const price = await judgeEffectsOf(deps, submission, simulation)
      if (isRefusal(price)) return price
      const recorded = await recordIntent(deps, submission, price.quoteId)
      if (recorded === undefined) return refuseInProgress()
      await deps.chain.broadcast(transaction)
      return { isSent: true, payment: recorded, bound: simulation.bound }
    }
    default:
      return assertNever(simulation)
  }
}

function refuseInProgress(): Refusal {
  return refuse('PAYMENT_IN_PROGRESS', 'another request is sending this transaction; repeat with the same proof', 1)
}

/**
 * Sends a plain transaction of a wallet that has just paid, which saves one call to a node. Undefined if the
 * transaction must be rehearsed first. The receiving node rehearses it. If that node refuses it, the payment is pending
 * until its absence is proven, because its intent is recorded.
 */
async function sendUnrehearsed(deps: SubmitDeps, submission: Submission): Promise<SubmitOutcome | Refusal | undefined> {
  const { proof, order, transaction } = submission
  const { knownPayers } = deps
  if (proof.secret === undefined || knownPayers?.has(order.wallet) !== true) return undefined
  const effects = deps.chain.readEffects(transaction)
  if (effects === undefined) return undefined
  const price = await judgeEffectsOf(deps, submission, { effects })
  if (isRefusal(price) || !knownPayers.take(order.wallet, effects)) return undefined
  const payment = await recordIntent(deps, submission, price.quoteId)
  if (payment === undefined) return refuseInProgress()
  await deps.chain.broadcast(transaction, { rehearses: true })
  return { isSent: true, payment, bound: undefined }
}

/**
 * Decides on a transaction that would fail, for lack of tokens or for another reason. The transaction is not sent. The
 * payment is first searched in the same state or a later one, because it may already have landed and emptied the
 * wallet. If the wallet can pay, one failed rehearsal is not enough for a refusal. The node may have been on a fork,
 * and may have left the fork before it read the wallet.
 */
async function judgeFailure(
  deps: SubmitDeps,
  { order, payment, transaction }: Submission,
  first: Extract<Simulation, { readonly outcome: 'would_fail' }>,
): Promise<SubmitOutcome | Refusal> {
  const shortage = await findShortage(deps, order, first.slot)
  if (isRefusal(shortage)) return shortage
  const last = shortage === undefined ? await deps.chain.simulate(transaction) : first
  if (last.outcome !== 'would_fail') return { isSent: last.outcome === 'already_landed', payment, bound: undefined }
  const minSlot = Math.max(last.slot, shortage?.slot ?? 0)
  const finding = await deps.chain.find(transaction.signature, { minSlot })
  if (!isUnseen(finding)) return { isSent: true, payment, bound: undefined }
  if (finding.slot < minSlot || !finding.isAgreed) return { isSent: false, payment, bound: undefined }
  return shortage === undefined ? refuseProof('simulation_failed', last.text) : refuseShortage(shortage)
}

export function isUnseen(finding: Finding): finding is Unknown {
  return finding.kind === 'unknown' && !finding.isSeen
}

// Maximum time until a transaction lands, in milliseconds. Its blockhash is valid for 150 blocks of about 0.4 s. The
// quote must be open until then. Otherwise the service would send a payment that does not buy the order.
const landingMaxMs = 60_000

/**
 * Returns the price that the payment would meet. Otherwise returns a refusal, so that the service does not send a
 * payment that would not buy the order.
 */
async function judgeEffectsOf(deps: SubmitDeps, submission: Submission, shown: Pick<RehearsedPayment, 'effects'>) {
  const { proof, order, transaction } = submission
  const { effects } = shown
  const binding = bindSecret(effects.memos, proof.secret)
  if (isRefusal(binding)) return binding
  const landing = { ...landingNow(deps.clock), landedAtMs: deps.clock.nowMs() + landingMaxMs }
  const question = { order, memo: binding.memo, ...landing }
  const findRefusal = ({ price }: ChosenPrice): Refusal | undefined => {
    if (isDepositPrice(price) && binding.memo === undefined)
      return refuseProof('deposit_not_bound', 'this transaction was not sent')
    const rehearsal = { effects, order, transaction, price }
    const refusals = acceptedAt(deps, landing.landedAtMs).map((terms) => judgeEffects(terms, rehearsal))
    return refusals.includes(undefined) ? undefined : refusals[0]
  }
  const recalled = deps.recallPrice?.(question)
  if (recalled !== undefined && findRefusal(recalled) === undefined) return recalled
  const chosen = await deps.choosePrice(question)
  return isRefusal(chosen) ? chosen : (findRefusal(chosen) ?? chosen)
}

/** The rules for landed payments apply to these effects before the transaction is sent. */
export interface RehearsedPayment {
  readonly effects: SimulatedEffects
  readonly order: Pick<Order, 'wallet'>
  readonly transaction: Pick<SignedTransaction, 'signers' | 'bytes'>
  readonly price: Price
}

/**
 * Refuses a simulated payment that does not meet its price. It applies the full rules if the node reports balances.
 * Otherwise it compares the amounts of the wallet's own instructions.
 */
export function judgeEffects(
  terms: PaymentTerms,
  { effects, order, transaction, price }: RehearsedPayment,
): Refusal | undefined {
  if (effects.balances !== undefined) {
    const unlanded = { slot: 0, blockTimeMs: undefined, failure: undefined }
    const record = { ...transaction, ...effects, balances: effects.balances, ...unlanded }
    const verdict = settle({ record, wallet: order.wallet, price, terms })
    return isRefusal(verdict) ? verdict : undefined
  }
  const own = effects.movements.filter(
    (movement) => movement.authority === order.wallet && movement.mint === terms.mint,
  )
  const due = dueOf(price, terms)
  const burnedBaseUnits = sumOf(own.filter((movement) => movement.kind === 'burn'))
  if (burnedBaseUnits < due.burnBaseUnits)
    return refuseProof('burn_insufficient', `burns ${burnedBaseUnits}, required ${due.burnBaseUnits} base units`)
  const transferFee = terms.transferFee?.()
  const arrivingBaseUnits = own
    .filter((movement) => movement.kind === 'transfer' && movement.destination === terms.paymentTokenAccount)
    .reduce((sum, { amountBaseUnits }) => {
      return sum + amountBaseUnits - (transferFee === undefined ? 0n : feeOf(amountBaseUnits, transferFee))
    }, 0n)
  return arrivingBaseUnits < due.transferBaseUnits
    ? refuseProof(
        'transfer_insufficient',
        `transfers ${arrivingBaseUnits}, required ${due.transferBaseUnits} base units`,
      )
    : undefined
}

function sumOf(movements: readonly TokenMovement[]): bigint {
  return movements.reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
}

/**
 * Records the intent before the transaction is sent, so that the ledger contains money in transit even after a crash.
 * Returns the recorded state. Undefined if another request was first.
 */
async function recordIntent(
  deps: SubmitDeps,
  { proof: { sponsorship }, order, payment, transaction }: Submission,
  quoteId: string | undefined,
): Promise<PaymentState | undefined> {
  const transactionBase64 = Buffer.from(transaction.bytes).toString('base64')
  const { wallet, endpoint, digest: orderDigest } = order
  const offer = sponsorship === undefined ? {} : { offer: sponsorship.offer }
  const decision = decideSubmit(payment, { wallet, endpoint, quoteId, transactionBase64, ...offer })
  if (decision === undefined) return undefined
  const reference = transactionReference(transaction.signature)
  const nowMs = deps.clock.nowMs()
  const found = sponsorship === undefined ? {} : { sponsored: { message: sponsorship.message, wallet, orderDigest } }
  const appended = await deps.ledger.append({ reference, before: payment, ...decision, nowMs, ...found })
  return appended.outcome === 'appended' ? appended.after : undefined
}

import { isRefusal, type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { assertNever } from '@tollbook/core/assert'
import type { Price } from '@tollbook/core/quote'
import type { Clock } from '@tollbook/core/clock'
import type { Signature } from '@tollbook/core/signature'
import { refuseAbsent } from '../../payment/absence.ts'
import type { ChainReader } from '../../payment/chainReader.ts'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import type { SimulatedEffects, Simulation } from '../../payment/proof.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type {
  PayerSigned,
  SponsoredTransaction,
  SponsorPolicy,
  SponsorProblem,
} from '../../payment/sponsoredTransaction.ts'
import type { PresentedPayment } from '../../paywall/rail.ts'
import { acceptedAt, type WalletDeps } from '../solana/acceptedTerms.ts'
import { type ChosenPrice, landingNow } from '../solana/choosePrice.ts'
import { judgeEffects } from '../solana/submitTransaction.ts'
import type { FirstPresentations } from '../solana/firstPresentation.ts'
import type { FeePayer } from './feePayer.ts'
import { amountToSend, type PriceOfList } from './priceOfList.ts'
import type { SponsoredProof } from './sponsoredProof.ts'

export interface CoSignDeps extends WalletDeps {
  readonly clock: Clock
  readonly priceOfList: PriceOfList
  readonly ledger: Pick<PaymentLedger, 'lookUp'>
  readonly chain: Pick<ChainReader, 'simulate' | 'proveExpiry' | 'readBalance'>
  readonly first: Pick<FirstPresentations, 'record'>
  readonly feePayer: FeePayer
  /** Returns why the service accepts no new payment of this price. Absent if every price is accepted. */
  readonly whyClosed?: (price: Price) => Promise<string | undefined>
  readonly judgeSponsored: (signed: PayerSigned, policy: SponsorPolicy) => SponsoredTransaction | SponsorProblem
}

export type CoSignQuestion = PresentedPayment<SponsoredProof>

/** Result of `coSign`. `signature` is the signature of the fee payer, which is the id of the transaction. */
export interface CoSigned {
  readonly signature: Signature
  readonly chosen: ChosenPrice
  /** Present if the transaction was rehearsed just before the fee payer signed. */
  readonly rehearsed: Simulation | undefined
}

/**
 * Requests the fee payer's signature for a payment that is not recorded. The fee payer signs a new transaction only
 * after all checks and a rehearsal. Otherwise transactions that pay nothing could use up the budget of the fee payer.
 */
export async function coSign(deps: CoSignDeps, question: CoSignQuestion): Promise<CoSigned | Refusal> {
  const { proof } = question
  const { signature: known, asOf } = await deps.feePayer.find(proof.signed)
  if (known !== undefined) return { signature: known, chosen: await choose(deps, question), rehearsed: undefined }
  const judged = await judgeUnsigned(deps, question)
  if (isRefusal(judged)) return judged
  const { sponsored, chosen } = judged
  const closed = await deps.whyClosed?.(chosen.price)
  if (closed !== undefined) return refuse('ENDPOINT_UNAVAILABLE', `${closed}; nothing was sent`, closedRetrySeconds)
  const judge = (effects: SimulatedEffects) => judgePayment(deps, { sponsored, price: chosen.price, effects })
  const accepts = (effects: SimulatedEffects) => judge(effects) === undefined
  const rehearsed = await deps.chain.simulate(sponsored, { withoutSignatures: true, accepts })
  if (rehearsed.outcome === 'unknown') return refuseUnrehearsed(deps, question)
  const flaw =
    rehearsed.outcome === 'would_succeed' ? judge(rehearsed.effects) : await judgeRehearsal(deps, sponsored, rehearsed)
  if (flaw !== undefined) return flaw
  const heldBaseUnits = await findHeld(deps, sponsored, rehearsed)
  const signature = await deps.feePayer.sign(sponsored, { heldBaseUnits, asOf })
  return isRefusal(signature) ? signature : { signature, chosen, rehearsed }
}

const closedRetrySeconds = 60

type UnsignedDeps = Omit<CoSignDeps, 'ledger' | 'chain' | 'first'>

export interface PricedPayment {
  readonly sponsored: SponsoredTransaction
  readonly chosen: ChosenPrice
}

export async function judgeUnsigned(deps: UnsignedDeps, question: CoSignQuestion): Promise<PricedPayment | Refusal> {
  const sponsored = await judgeOffer(deps, question)
  if (isRefusal(sponsored)) return sponsored
  const chosen = await choose(deps, question)
  const requiredBaseUnits = amountToSend(deps.terms, chosen.price.requiredBaseUnits)
  if (sponsored.amountBaseUnits >= requiredBaseUnits) return { sponsored, chosen }
  return refuseProof(
    'transfer_insufficient',
    `transfers ${sponsored.amountBaseUnits}, required ${requiredBaseUnits} base units`,
  )
}

/**
 * Returns the balance of the payer in base units: from the rehearsal, or from a node if the rehearsal shows no
 * balances.
 */
async function findHeld(
  { chain, terms }: CoSignDeps,
  { payer }: SponsoredTransaction,
  rehearsed: Simulation,
): Promise<bigint> {
  // Return the maximum for a transaction that has already landed and paid its fee, so that the balance does not prevent
  // the signature.
  if (rehearsed.outcome !== 'would_succeed') return u64Max
  const spent = rehearsed.effects.balances?.find(
    ({ mint, ownersSeen, beforeBaseUnits, afterBaseUnits }) =>
      mint === terms.mint && ownersSeen.includes(payer) && afterBaseUnits < beforeBaseUnits,
  )
  return spent?.beforeBaseUnits ?? (await chain.readBalance({ wallet: payer, isFresh: true })).baseUnits
}

const u64Max = 2n ** 64n - 1n

function choose(
  { clock, priceOfList }: Pick<CoSignDeps, 'clock' | 'priceOfList'>,
  { proof, order }: CoSignQuestion,
): Promise<ChosenPrice> {
  return priceOfList(proof.priceList, { order, memo: proof.signed.memo, ...landingNow(clock) })
}

/** Uses the current fee payer and the current wallets, because the payment is not signed yet. */
async function judgeOffer(deps: UnsignedDeps, { proof }: CoSignQuestion): Promise<SponsoredTransaction | Refusal> {
  const { address: feePayer } = await deps.feePayer.standing()
  const stale = proof.rules.refuseOffer(feePayer)
  if (stale !== undefined) return stale
  const { mint, paymentWallet } = deps.terms
  const others = acceptedAt(deps, deps.clock.nowMs()).map((terms) => terms.paymentWallet)
  const receivers = new Map([[mint, [paymentWallet, ...others]]])
  const sponsored = deps.judgeSponsored(proof.signed, { feePayer, receivers })
  return typeof sponsored === 'string' ? proof.rules.refuseSponsor(sponsored) : sponsored
}

/**
 * Refuses a payment that no node could rehearse: its blockhash is newer than the state of the nodes, or has expired.
 * The client repeats the request while a block can still include the transaction. After that, the refusal is final, so
 * that the client does not repeat forever. Another request may have sent the transaction in the meantime. Each sending
 * is recorded before it can land, so the ledger is read after the last possible block.
 */
async function refuseUnrehearsed(
  { first, chain, ledger, feePayer }: CoSignDeps,
  { proof: { reference, signed }, order: { wallet } }: CoSignQuestion,
): Promise<Refusal> {
  const { bound } = await first.record({ reference, wallet })
  const expired = await chain.proveExpiry(bound)
  const pending = refuse('PAYMENT_PENDING', unknownBlockhash, 2)
  if (expired === undefined) return pending
  const onRecord = await ledger.lookUp({ reference, wallet, idempotencyKey: undefined })
  const isOver = onRecord.reference === undefined && (await feePayer.find(signed)).signature === undefined
  return isOver ? refuseAbsent(expired) : pending
}

type NotRehearsed = Exclude<Simulation, { readonly outcome: 'unknown' | 'would_succeed' }>

/**
 * Judges a rehearsal that did not succeed. Undefined if the transaction has already landed. Otherwise, the fee payer
 * had not signed the transaction before the rehearsal, so no tokens can have moved, and the client may pay again.
 */
async function judgeRehearsal(
  { chain }: CoSignDeps,
  { payer, amountBaseUnits }: SponsoredTransaction,
  rehearsed: NotRehearsed,
): Promise<Refusal | undefined> {
  switch (rehearsed.outcome) {
    case 'already_landed':
      return undefined
    case 'would_fail': {
      if (/FeePayer|ForFee|AccountNotFound/.test(rehearsed.text))
        return refuse('ENDPOINT_UNAVAILABLE', 'the fee payer lacks SOL; pay on the native rail', 30)
      if (rehearsed.insufficientFunds) return refuseShort()
      // A transfer out of an account that does not exist fails for the account, not for lack of tokens.
      const { baseUnits, isAgreed } = await chain.readBalance({ wallet: payer, minSlot: rehearsed.slot, isFresh: true })
      const isShort = isAgreed && baseUnits < amountBaseUnits
      return isShort ? refuseShort() : refuseProof('simulation_failed', rehearsed.text)
    }
    default:
      return assertNever(rehearsed)
  }
}

function refuseShort(): Refusal {
  return refuse('INSUFFICIENT_BALANCE', 'the wallet holds fewer tokens than the transfer needs; it was not sent')
}

interface JudgedPayment {
  readonly sponsored: SponsoredTransaction
  readonly price: Price
  readonly effects: SimulatedEffects
}

/**
 * Applies the settlement rules before the fee payer signs. For example, a payer who is only a delegate of another
 * wallet's account would move tokens and buy nothing.
 */
function judgePayment(deps: CoSignDeps, { sponsored, price, effects }: JudgedPayment): Refusal | undefined {
  const { payer, bytes } = sponsored
  const transaction = { signers: [payer], bytes }
  const refusals = acceptedAt(deps, deps.clock.nowMs()).map((terms) =>
    judgeEffects(termsOwingBurn(terms), { effects, order: { wallet: payer }, transaction, price }),
  )
  return refusals.includes(undefined) ? undefined : refusals[0]
}

/** A standard client sends the whole price and burns nothing, so the service owes the burn. */
export function termsOwingBurn(terms: PaymentTerms): PaymentTerms {
  return { ...terms, burnMayBeOwed: true }
}

const unknownBlockhash =
  'no node could rehearse the transaction in the newest state, so it was neither signed nor sent; repeat the same request'

import { Fault } from '@tollbook/core/fault'
import { bindSecret } from '@tollbook/core/binding'
import { isRefusal, type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { settleByAny, type Settlement } from '../../payment/settlement.ts'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from '../../payment/transactionRecord.ts'
import { acceptedAt, type WalletDeps } from './acceptedTerms.ts'
import { type BalanceDeps, findShortage } from './checkBalance.ts'
import { choosePrice } from './choosePrice.ts'
import type { SettleQuestion } from '../../paywall/rail.ts'
import type { NativeProof } from './readProof.ts'
import { checkSigners, submitTransaction } from './submitTransaction.ts'

export interface SettleDeps extends BalanceDeps, WalletDeps {
  /** Time to wait for a signature that is not on chain yet. */
  readonly lookupWaitMs: number
  /** Time to wait for a transaction that this service has sent. */
  readonly broadcastWaitMs: number
  /** A payment is presented for the first time within this time of landing. */
  readonly proofMaxAgeMs: number
}

/** Finds out what a proof proves: on chain already, sent by us, or to be sent now. */
export async function settlePayment(
  deps: SettleDeps,
  question: SettleQuestion<NativeProof>,
): Promise<Settlement | Refusal> {
  const { proof, order } = question
  const flaw = proof.transaction === undefined ? undefined : checkSigners(proof.transaction, order)
  if (flaw !== undefined) return flaw

  const waitMs = proof.transaction === undefined ? deps.lookupWaitMs : 0
  const record = await findWithin(deps, proof.signature, waitMs)
  if (record !== undefined) return judgeRecord(deps, question, record)
  if (proof.transaction === undefined) return judgeAbsence(deps, question)

  const refusal = await submitTransaction(deps, { ...question, transaction: proof.transaction })
  if (refusal !== undefined) return refusal
  const landed = await findWithin(deps, proof.signature, deps.broadcastWaitMs)
  if (landed !== undefined) return judgeRecord(deps, question, landed)
  return refuse(
    'PAYMENT_PENDING',
    'the transaction was sent and has not been confirmed yet; repeat with the same proof, never with another',
    2,
  )
}

/**
 * The payment is not on chain. A wallet that cannot pay is refused for that, but only after a second lookup: a payment that
 * landed since the first one has emptied the wallet, and a caller who reads that it has not paid would pay again (I8).
 */
async function judgeAbsence(deps: SettleDeps, question: SettleQuestion<NativeProof>): Promise<Settlement | Refusal> {
  const shortage = await findShortage(deps, question.order)
  if (shortage === undefined) return refuseProof('not_found')
  const record = await deps.chain.findTransaction(question.proof.signature)
  return record === undefined ? shortage : judgeRecord(deps, question, record)
}

const pollMs = 250

/** Asks once, and again until the time is over. A landed payment costs one call (yardstick: RPC calls per paid request). */
async function findWithin(
  deps: SettleDeps,
  signature: Signature,
  waitMs: number,
): Promise<TransactionRecord | undefined> {
  const deadlineMs = deps.clock.monotonicMs() + waitMs
  let record = await deps.chain.findTransaction(signature)
  while (record === undefined && deps.clock.monotonicMs() + pollMs <= deadlineMs) {
    await deps.clock.sleep(pollMs)
    record = await deps.chain.findTransaction(signature)
  }
  return record
}

/** On chain: is it this caller's, is it fresh, which price does it have to meet, and does it meet it? */
async function judgeRecord(
  deps: SettleDeps,
  { proof, order, payment }: SettleQuestion<NativeProof>,
  record: TransactionRecord,
): Promise<Settlement | Refusal> {
  const { blockTimeMs } = record
  if (blockTimeMs === undefined)
    throw new Fault('the node does not know the time of the block yet', { retryable: true })

  const binding = bindSecret(record.memos, proof.secret)
  if (isRefusal(binding)) return binding
  const ageMs = deps.clock.nowMs() - blockTimeMs
  // A payment that this service has sent was presented in time, as the ledger shows.
  if (ageMs > deps.proofMaxAgeMs && payment.phase !== 'submitted')
    return refuseProof('too_old', `landed ${Math.floor(ageMs / 1000)} s ago`)
  const chosen = await choosePrice(deps, {
    order,
    memo: binding.memo,
    landedAtMs: blockTimeMs,
    landedSlot: record.slot,
  })
  if (isRefusal(chosen)) return chosen

  const amounts = settleByAny({ record, wallet: order.wallet, price: chosen.price }, acceptedAt(deps, blockTimeMs))
  if (isRefusal(amounts)) return amounts
  const transactionBase64 = record.bytes === undefined ? undefined : Buffer.from(record.bytes).toString('base64')
  return {
    reference: proof.reference,
    wallet: order.wallet,
    price: chosen.price,
    priceList: chosen.priceList,
    quoteId: chosen.quoteId,
    memo: binding.memo,
    ...amounts,
    evidence: { kind: 'solana', slot: record.slot, blockTimeMs, transactionBase64 },
  }
}

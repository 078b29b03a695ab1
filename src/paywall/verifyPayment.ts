import type { Clock } from '../primitives/clock.ts'
import { Fault } from '../primitives/fault.ts'
import { bindSecret } from '../payment/binding.ts'
import type { Order } from '../payment/payment.ts'
import type { Proof } from '../payment/proof.ts'
import { isRefusal, type Refusal, refuse, refuseProof } from '../payment/refusal.ts'
import { type PaymentTerms, settle, type Settlement } from '../payment/settlement.ts'
import type { Signature } from '../payment/signature.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'
import { type BalanceDeps, findShortage } from './checkBalance.ts'
import { choosePrice } from './choosePrice.ts'
import type { PaymentRail, SettleQuestion } from './rail.ts'
import { readProof } from './readProof.ts'
import { checkTransaction, submitTransaction } from './submitTransaction.ts'

export interface VerifyDeps extends BalanceDeps {
  readonly clock: Clock
  readonly terms: PaymentTerms
  /** How long a signature that is not on chain yet is waited for. */
  readonly lookupWaitMs: number
  /** How long a transaction that we have sent is waited for. */
  readonly broadcastWaitMs: number
  /** A payment is presented for the first time within this time of landing. */
  readonly proofMaxAgeMs: number
}

/** The native rail: `x-payment-proof` with a burn and a transfer made by the caller's own wallet. */
export function createNativeRail(deps: VerifyDeps): PaymentRail {
  return {
    header: 'x-payment-proof',
    readProof: (value) => readProof(value, deps.chain),
    settle: (question) => verifyPayment(deps, question),
  }
}

async function verifyPayment(deps: VerifyDeps, question: SettleQuestion): Promise<Settlement | Refusal> {
  const { proof, order } = question
  const flaw = proof.transaction === undefined ? undefined : checkTransaction(proof.transaction, order)
  if (flaw !== undefined) return flaw

  const waitMs = proof.transaction === undefined ? deps.lookupWaitMs : 0
  const record = await findWithin(deps, proof.signature, waitMs)
  if (record !== undefined) return judgeRecord(deps, { record, proof, order })
  if (proof.transaction === undefined) return (await findShortage(deps, order)) ?? refuseProof('not_found')

  const refusal = await submitTransaction(deps, { ...question, transaction: proof.transaction })
  if (refusal !== undefined) return refusal
  const landed = await findWithin(deps, proof.signature, deps.broadcastWaitMs)
  if (landed !== undefined) return judgeRecord(deps, { record: landed, proof, order })
  return refuse(
    'PAYMENT_PENDING',
    'the transaction was sent and has not been confirmed yet; repeat with the same proof, never with another',
    2,
  )
}

const pollMs = 250

/** Asks once, and again until the time is over. A landed payment costs one call (yardstick: RPC calls per paid request). */
async function findWithin(
  deps: VerifyDeps,
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

interface Landed {
  readonly record: TransactionRecord
  readonly proof: Proof
  readonly order: Order
}

/** On chain: is it this caller's, is it fresh, which price does it have to meet, and does it meet it? */
async function judgeRecord(deps: VerifyDeps, { record, proof, order }: Landed): Promise<Settlement | Refusal> {
  const { blockTimeMs } = record
  if (blockTimeMs === undefined)
    throw new Fault('the node does not know the time of the block yet', { retryable: true })

  const binding = bindSecret(record.memos, proof.secret)
  if (isRefusal(binding)) return binding
  if (deps.clock.nowMs() - blockTimeMs > deps.proofMaxAgeMs) {
    return refuseProof('too_old', `landed ${Math.floor((deps.clock.nowMs() - blockTimeMs) / 1000)} s ago`)
  }
  const chosen = await choosePrice(deps, {
    order,
    memo: binding.memo,
    landedAtMs: blockTimeMs,
    landedSlot: record.slot,
  })
  if (isRefusal(chosen)) return chosen

  const evidence = settle({ record, wallet: order.wallet, price: chosen.price, terms: deps.terms })
  if (isRefusal(evidence)) return evidence
  return {
    signature: record.signature,
    wallet: order.wallet,
    price: chosen.price,
    quoteId: chosen.quoteId,
    memo: binding.memo,
    ...evidence,
    slot: record.slot,
    blockTimeMs,
    transactionBase64: record.bytes === undefined ? undefined : Buffer.from(record.bytes).toString('base64'),
  }
}

import { assert } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { type Fulfilment, receiptOf, type SignedReceipt } from '../payment/receipt.ts'
import { isBound } from '../payment/settlement.ts'
import type { PriceListPublished } from '../payment/events/settingEvents.ts'
import type { PaymentLedger } from '../payment/paymentLedger.ts'
import { type Answer, type Dispatch, jsonAnswer, type RawAnswer } from './answer.ts'
import type { SignJws } from '@tollbook/core/compactJws'
import { distributionOf } from '../pricing/splitSetting.ts'
import { inclusionProofOf } from './inclusionProof.ts'
import type { PaymentRail } from './rail.ts'
import { rawBody, rawHeaders, readStoredRaw, type WholeAnswer } from './rawFormat.ts'

/** Ed25519 is deterministic, so the same receipt and key always produce the same JWS. */
export type SignReceipt = (fulfilment: Fulfilment) => Promise<SignedReceipt>

export interface SignerDeps {
  /** True if verifiers accept the signing key at that moment. */
  readonly isAccepted: (atMs: number) => boolean
  readonly nowMs: () => number
  readonly splitsOf: (priceList: number) => Promise<ListedSplits | undefined>
}

type ListedSplits = Pick<PriceListPublished, 'split' | 'dollarSplits'>

const receiptType = 'tollbook-receipt'

/**
 * A reissued receipt states the time of its reissue, and has the same id as before. Throws a retryable `Fault` if
 * verifiers accept the key neither for the time of the delivery nor now.
 */
export function createReceiptSigner(signJws: SignJws, deps: SignerDeps): SignReceipt {
  return async (fulfilment) => {
    const receipt = receiptOf(fulfilment, {
      ...(await splitOf(deps, fulfilment)),
      ...reissueOf(deps, fulfilment),
    })
    return { ...receipt, jws: signJws({ ...receipt }, { typ: receiptType }) }
  }
}

async function splitOf(deps: SignerDeps, { settlement: { priceList, price } }: Fulfilment) {
  const listed = priceList === undefined ? undefined : await deps.splitsOf(priceList)
  if (listed === undefined) return {}
  const own = listed.dollarSplits?.find(({ mint }) => mint === price.mint)
  const dollarSplit = own === undefined ? {} : { dollarSplit: distributionOf(own.split) }
  return { split: distributionOf(listed.split), ...dollarSplit }
}

/** If verifiers do not accept the current key for the time of the delivery, the receipt states the time of signing. */
function reissueOf({ isAccepted, nowMs }: SignerDeps, { recordedAtMs }: Fulfilment) {
  if (isAccepted(recordedAtMs)) return {}
  const reissuedAtMs = nowMs()
  if (reissuedAtMs < recordedAtMs || !isAccepted(reissuedAtMs))
    throw new Fault('RECEIPT_SIGNING_KEY is not accepted now, so it signs no receipt', { retryable: true })
  return { reissuedAtMs }
}

export interface Sale extends Pick<WholeAnswer, 'answerJson' | 'raw'> {
  readonly fulfilment: Fulfilment
  readonly replayed: boolean
}

export interface ReceiptDeps {
  readonly signReceipt: SignReceipt
  readonly rail: PaymentRail
  readonly ledger: Pick<PaymentLedger, 'markSent'>
}

/** The response is private to this caller, so no cache may store it. */
export async function sendReceipt(deps: ReceiptDeps, sale: Sale): Promise<Answer | RawAnswer> {
  const { signReceipt, rail } = deps
  const { answerJson, fulfilment } = sale
  const receipt = await signReceipt(fulfilment)
  const headers = {
    ...rail.respond(fulfilment),
    'cache-control': 'private, no-store',
    ...(sale.replayed ? { 'idempotent-replay': 'true' } : {}),
  }
  const dispatch = dispatchOf(deps, sale)
  const raw = sale.raw ?? readStoredRaw(answerJson)
  if (raw !== undefined) {
    const sold = { raw, receipt, fulfilment }
    return { status: 200, headers: rawHeaders(sold, headers), body: rawBody(sold), dispatch }
  }
  // Insert the stored text, which starts with {"data": …, without parsing it, so that its bytes still match the digest.
  const inclusionProof = inclusionProofOf(receipt)
  const body = `{"success":true,"receipt":${JSON.stringify(receipt)},"inclusionProof":"${inclusionProof}",${answerJson.slice(1)}`
  const sample = isSample(answerJson) ? { 'x-sample-data': 'true' } : {}
  return { ...jsonAnswer(200, body, { ...headers, ...sample }), dispatch }
}

export function dispatchOf(
  { ledger }: Pick<ReceiptDeps, 'ledger'>,
  sale: Pick<Sale, 'fulfilment' | 'replayed'>,
): Dispatch {
  const { settlement, position } = sale.fulfilment
  const { wallet, reference } = settlement
  assert(position > 0, 'a delivery has a position')
  return {
    wallet,
    reference,
    position,
    isReplay: sale.replayed,
    markSent: () => ledger.markSent({ reference, isBound: isBound(settlement) }),
  }
}

function isSample(answerJson: string): boolean {
  // Search in `meta` only. Canonical JSON sorts its keys, so `meta` is the last member, and quotes inside texts are
  // escaped.
  return answerJson.includes('"source":"sample:', answerJson.lastIndexOf('"meta":{'))
}

import { isoTime } from '@tollbook/core/clock'
import { plainPrice, type Price } from '@tollbook/core/quote'
import { readAddress } from '@tollbook/core/address'
import { isRefusal, type Refusal, refuse, refuseField, refuseProof } from '@tollbook/core/refusal'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { type PaymentReference, requireSignature, transactionReference } from '../../src/payment/paymentReference.ts'
import type { ChainReader } from '../../src/payment/chainReader.ts'
import { type PaymentTerms, settle, type Settlement } from '../../src/payment/settlement.ts'
import type { PaymentRail, Proof, SettleQuestion } from '../../src/paywall/rail.ts'

/*
 * A payment scheme that the service does not have: other headers, a challenge in WWW-Authenticate, a payer that only
 * the
 * proof names, and a separate mount. It sells for the same transactions as the native rail.
 */

interface ToyProof extends Proof {
  readonly reference: PaymentReference
  readonly offerId: string
  readonly paid: Signature
}

export interface ToyRailDeps {
  readonly chain: Pick<ChainReader, 'find'>
  readonly terms: PaymentTerms
}

const scheme = /^Toy offer="([\w-]+)", payer="(\w+)", paid="(\w+)"$/

export function createToyRail({ chain, terms }: ToyRailDeps): PaymentRail<ToyProof> {
  const offers = new Map<string, Price>()
  async function judge({ proof, order }: SettleQuestion<ToyProof>): Promise<Settlement | Refusal> {
    const price = offers.get(proof.offerId)
    if (price === undefined) return refuseProof('quote_unknown')
    const finding = await chain.find(proof.paid)
    if (finding.kind !== 'found') return refuseProof('not_found')
    const { record } = finding
    if (record.blockTimeMs === undefined) return refuse('PAYMENT_PENDING', 'the block has no time yet', 1)
    if (record.memos.some((memo) => memo.startsWith('tollbook:'))) return refuseProof('secret_required')
    const amounts = settle({ record, wallet: order.wallet, price, terms })
    if (isRefusal(amounts)) return amounts
    return {
      reference: proof.reference,
      wallet: order.wallet,
      price,
      quoteId: undefined,
      memo: undefined,
      ...amounts,
      evidence: {
        kind: 'solana',
        slot: record.slot,
        blockTimeMs: record.blockTimeMs,
        transactionBase64: undefined,
      },
    }
  }
  return {
    name: 'toy',
    description: { protocol: 'Toy', request: 'with `Accept-Payment: toy`', mount: '/toy' },
    secretHeaders: ['authorization'],
    requestHeaders: ['authorization', 'accept-payment'],
    responseHeaders: ['www-authenticate', 'toy-receipt'],
    carriesProof: (request) => request.header('authorization')?.startsWith('Toy ') === true,
    identify(request) {
      const isMarked = request.mount === '/toy' || request.header('accept-payment') === 'toy'
      return isMarked || this.carriesProof(request) ? { payer: undefined } : undefined
    },
    challenge({ id, price, expiresAtMs }) {
      offers.set(id, plainPrice(price))
      return Promise.resolve({
        instruction: `pay ${price.requiredBaseUnits} base units and repeat the request with Authorization: Toy`,
        members: { toy: { offer: id, expiresAt: isoTime(expiresAtMs) } },
        headers: { 'www-authenticate': `Toy offer="${id}"` },
      })
    },
    read(request) {
      const [, offerId = '', payerText = '', paid = ''] = scheme.exec(request.header('authorization') ?? '') ?? []
      const payer = readAddress(payerText)
      const signature = readSignature(paid)
      if (payer === undefined || signature === undefined)
        return refuseField('authorization', 'must be Toy offer="…", payer="<address>", paid="<signature>"')
      return { payer, proof: { reference: transactionReference(signature), offerId, paid: signature } }
    },
    // A payment that is bound to a native quote buys only with that quote's secret.
    checkHolder: (_proof, { memo }) => (memo === undefined ? undefined : refuseProof('secret_required')),
    async settle(question) {
      return { verdict: await judge(question), payment: question.payment }
    },
    respond: ({ settlement }) => ({ 'toy-receipt': requireSignature(settlement.reference) }),
  }
}

export function toyProof(offerId: string, payer: string, paid: string): { readonly authorization: string } {
  return { authorization: `Toy offer="${offerId}", payer="${payer}", paid="${paid}"` }
}

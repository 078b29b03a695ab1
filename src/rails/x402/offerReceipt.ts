import type { Json } from '@tollbook/core/canonicalJson'
import { pathOf } from '@tollbook/core/endpointName'
import { requireSignature } from '../../payment/paymentReference.ts'
import type { PaidOrder } from '../../paywall/rail.ts'
import { mount } from './challenge.ts'

/* The x402 extension `offer-receipt`: a second receipt in a form that x402 clients can verify. */

export interface OfferReceiptDeps {
  readonly network: string
  readonly serviceUrl: () => string
  /** Signs a statement with the receipt key, and returns the JWS. */
  readonly signStatement: (statement: { readonly [name: string]: Json }) => string
}

const version = 1

export function receiptExtension(
  deps: OfferReceiptDeps,
  { endpoint, settlement: { reference, wallet, evidence } }: PaidOrder,
): { readonly [name: string]: Json } {
  const signature = deps.signStatement({
    version,
    network: deps.network,
    resourceUrl: `${deps.serviceUrl()}${mount}${pathOf(endpoint)}`,
    payer: wallet,
    issuedAt: Math.floor(evidence.blockTimeMs / 1000),
    transaction: requireSignature(reference),
  })
  return { 'offer-receipt': { info: { receipt: { format: 'jws', signature } }, schema } }
}

const text = { type: 'string' }
const schema: Json = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    receipt: { type: 'object', properties: { format: text, signature: text }, required: ['format', 'signature'] },
  },
  required: ['receipt'],
}

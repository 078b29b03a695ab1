import { assertPresent } from '@tollbook/core/assert'
import { readAddress } from '@tollbook/core/address'
import type { Order } from '../../src/payment/payment.ts'
import type { Price } from '@tollbook/core/quote'
import type { PaymentTerms, Settlement } from '../../src/payment/settlement.ts'
import { signatureOfBytes } from '@tollbook/core/signature'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { type PaymentReference, transactionReference } from '../../src/payment/paymentReference.ts'

/** The persons and things of the tests' stories. */
export const wallet = address('A49WZKxeih54nXzPtAez9tQmdAveq7jtxk1EtcW85seq')
export const otherWallet = address('HonTEwkKeE5xnZ9jPZMhUgPEmSRxjnfmaxg9FNkY7HK9')
export const mint = address('HtXt2NbeeHZDtBP9FpHTPTb1WXwixSuYrcdn52KWd34t')
export const terms: PaymentTerms = {
  mint,
  decimals: 6,
  tokenProgram: mint,
  paymentWallet: otherWallet,
  paymentTokenAccount: otherWallet,
  network: 'solana:test',
}

const price: Price = {
  endpoint: '/api/tools/qrcode',
  priceMicroUsd: 5_000n,
  tokenPriceAttoUsd: 10n ** 15n,
  mint,
  decimals: 6,
  requiredBaseUnits: 5_000_000n,
  ...split(5_000_000n, defaultSplit),
}

export const order: Order = { wallet, endpoint: price.endpoint, digest: 'ab'.repeat(32) }

/** A payment reference that differs by its number. */
export function referenceNumber(number: number): PaymentReference {
  const bytes = new Uint8Array(64).fill(7)
  new DataView(bytes.buffer).setUint32(0, number)
  return transactionReference(assertPresent(signatureOfBytes(bytes), 'a filled signature is one'))
}

export function settlementOf(reference: PaymentReference, changes: Partial<Settlement> = {}): Settlement {
  return {
    reference,
    wallet,
    price,
    quoteId: 'quote_1',
    memo: undefined,
    burnedBaseUnits: price.burnBaseUnits,
    receivedBaseUnits: price.requiredBaseUnits - price.burnBaseUnits,
    evidence: { kind: 'solana', slot: 100, blockTimeMs: 1_790_000_000_000, transactionBase64: undefined },
    ...changes,
  }
}

function address(text: string) {
  return assertPresent(readAddress(text), 'the story names addresses')
}

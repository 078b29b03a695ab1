import { assertPresent } from '@tollbook/core/assert'
import { readAddress } from '@tollbook/core/address'
import type { Order } from '../../src/payment/payment.ts'
import type { Price } from '@tollbook/core/quote'
import type { Settlement } from '../../src/payment/settlement.ts'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import { split } from '../../src/pricing/split.ts'

/** The persons and things of the tests' stories. */
export const wallet = address('A49WZKxeih54nXzPtAez9tQmdAveq7jtxk1EtcW85seq')
export const otherWallet = address('HonTEwkKeE5xnZ9jPZMhUgPEmSRxjnfmaxg9FNkY7HK9')
export const mint = address('HtXt2NbeeHZDtBP9FpHTPTb1WXwixSuYrcdn52KWd34t')

const price: Price = {
  endpoint: '/api/tools/qrcode',
  priceMicroUsd: 5_000n,
  tokenPriceAttoUsd: 10n ** 15n,
  mint,
  decimals: 6,
  requiredBaseUnits: 5_000_000n,
  ...split(5_000_000n),
}

export const order: Order = { wallet, endpoint: price.endpoint, digest: 'ab'.repeat(32) }

/** A signature that differs by its number. */
export function signatureNumber(number: number): Signature {
  const bytes = new Uint8Array(64).fill(7)
  new DataView(bytes.buffer).setUint32(0, number)
  return assertPresent(signatureOfBytes(bytes), 'a filled signature is one')
}

export function settlementOf(signature: Signature, changes: Partial<Settlement> = {}): Settlement {
  return {
    signature,
    wallet,
    price,
    quoteId: 'quote_1',
    memo: undefined,
    burnedBaseUnits: price.burnBaseUnits,
    receivedBaseUnits: price.requiredBaseUnits - price.burnBaseUnits,
    slot: 100,
    blockTimeMs: 1_790_000_000_000,
    transactionBase64: undefined,
    ...changes,
  }
}

function address(text: string) {
  return assertPresent(readAddress(text), 'the story names addresses')
}

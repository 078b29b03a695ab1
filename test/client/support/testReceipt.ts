import { Keypair } from '@solana/web3.js'
import { jwsSigner } from '@tollbook/core/compactJws'
import { type Ed25519PrivateJwk, ed25519Signer } from '@tollbook/core/ed25519'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { sha256, sha256Hex } from '@tollbook/core/digest'
import { randomBytesOf } from '@tollbook/core/id'
import { readAddress } from '@tollbook/core/address'
import type { Fulfilment } from '../../../src/payment/receipt.ts'
import { readSignature } from '@tollbook/core/signature'
import { createReceiptSigner } from '../../../src/paywall/sendReceipt.ts'
import { type PublicReceiptKey, receiptKeyId } from '../../../src/settings/receiptKeys.ts'
import { split } from '../../../src/pricing/split.ts'
import { defaultSplit } from '../../../src/pricing/splitSetting.ts'
import { transactionReference } from '../../../src/payment/paymentReference.ts'
import { makeReceiptKey } from '../../../src/cli/local/home.ts'

export interface ReceiptTerms {
  readonly endpoint?: string
  readonly wallet?: string
  readonly signature?: string
  readonly requiredBaseUnits?: bigint
  readonly overburnedBaseUnits?: bigint
  readonly position?: number
  readonly leafHash?: string
  /** Receipt of a payment that the first release verified: without price list and split. */
  readonly ofFirstRelease?: boolean
}

/** Receipts as the server makes them, with a key of the test. */
export interface ReceiptFixture {
  readonly privateKey: Ed25519PrivateJwk & PublicReceiptKey
  readonly keys: { readonly keys: readonly object[] }
  sign(terms?: ReceiptTerms): Promise<Record<string, unknown>>
}

export async function openReceiptFixture(
  privateKey: Ed25519PrivateJwk & PublicReceiptKey = makeReceiptKey(),
  { endsAtMs = Infinity, nowMs = Infinity } = {},
): Promise<ReceiptFixture> {
  const signReceipt = createReceiptSigner(jwsSigner(ed25519Signer(privateKey), receiptKeyId(privateKey)), {
    isAccepted: (atMs) => atMs < endsAtMs || atMs === nowMs,
    nowMs: () => nowMs,
    splitsOf: () => Promise.resolve({ split: defaultSplit }),
  })
  const { kty, crv, x } = privateKey
  return {
    privateKey,
    keys: { keys: [{ kty, crv, x, kid: receiptKeyId(privateKey), alg: 'EdDSA', use: 'sig' }] },
    sign: async (terms = {}) => ({ ...(await signReceipt(fulfilmentOf(terms))) }),
  }
}

/** Time of each fulfilment. */
export const fulfilledAtMs = 1_700_000_001_000

function fulfilmentOf(terms: ReceiptTerms): Fulfilment {
  const { endpoint = '/api/data/crypto', requiredBaseUnits = 20_000_000n, overburnedBaseUnits = 0n } = terms
  const address = (seed: string) =>
    assertPresent(readAddress(Keypair.fromSeed(sha256(seed)).publicKey.toBase58()), 'a key')
  const shares = split(requiredBaseUnits, defaultSplit)
  const price = {
    endpoint,
    priceMicroUsd: 20_000n,
    tokenPriceAttoUsd: 10n ** 15n,
    mint: address('mint'),
    decimals: 6,
    requiredBaseUnits,
    ...shares,
  }
  const settlement = {
    reference: transactionReference(
      assertPresent(readSignature(terms.signature ?? encodeBase58(randomBytesOf(64))), 'a signature'),
    ),
    wallet: assertPresent(readAddress(terms.wallet ?? address('wallet')), 'a wallet'),
    price,
    ...(terms.ofFirstRelease === true ? {} : { priceList: 3 }),
    quoteId: 'quote_1',
    memo: undefined,
    burnedBaseUnits: shares.burnBaseUnits + overburnedBaseUnits,
    receivedBaseUnits: requiredBaseUnits - shares.burnBaseUnits,
    evidence: { kind: 'solana', slot: 1_234, blockTimeMs: 1_700_000_000_000, transactionBase64: undefined } as const,
  }
  const { position = 7, leafHash = sha256Hex('leaf') } = terms
  return { settlement, endpoint, attemptId: 'attempt_1', position, leafHash, recordedAtMs: fulfilledAtMs }
}

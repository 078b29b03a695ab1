import { expect, test } from 'vitest'
import { refuseProof } from '@tollbook/core/refusal'
import { messageReference } from '../../../src/payment/paymentReference.ts'
import type { PayerSigned } from '../../../src/payment/sponsoredTransaction.ts'
import { createSponsoredPayments, type SponsoredDeps } from '../../../src/rails/sponsored/sponsoredPayments.ts'
import { heldClock } from '../../jobs/jobFixture.ts'
import { mint as token, order, otherWallet, referenceNumber, settlementOf, wallet } from '../../payment/paymentStory.ts'
import { sampleAddress } from '../../store/samplePayment.ts'

const dollar = sampleAddress()
const terms = {
  mint: token,
  decimals: 6,
  tokenProgram: token,
  paymentWallet: otherWallet,
  paymentTokenAccount: otherWallet,
  network: 'solana:test',
}
const price = { ...settlementOf(referenceNumber(1)).price, priceList: 1 }
// One dollar buys what a thousand tokens buy.
const priceInDollars = { ...price, mint: dollar, requiredBaseUnits: price.requiredBaseUnits / 1_000n }

const bytes = new Uint8Array([1])
const earlier = messageReference('cd'.repeat(32))

/** The reference with which a second payment for the same order resumes the first. */
async function resumed(mint: typeof token, amountBaseUnits: bigint) {
  const parts: Partial<SponsoredDeps> = {
    clock: heldClock,
    terms,
    dollars: {
      termsOf: (asked) => (asked === dollar ? { ...terms, mint: dollar } : undefined),
      offers: () => Promise.resolve([]),
      whyOff: () => Promise.resolve(undefined),
      whyClosed: () => Promise.resolve(undefined),
    },
    currentPrice: (_endpoint, asked) => (asked === dollar ? priceInDollars : price),
    feePayer: Object.assign(Object.create(null), { standing: () => Promise.resolve({ address: sampleAddress() }) }),
    // The transaction pays its own mint, to the wallet that accepts it.
    judgeSponsored: (signed, { receivers }) =>
      receivers.has(mint) ? { ...signed, amountBaseUnits, blockhash: 'hash', feeLamports: 10_000n } : 'mint',
  }
  const deps: SponsoredDeps = Object.assign(Object.create(null), parts)
  const limits = { proofLookupWaitMs: 1, broadcastWaitMs: 1, proofMaxAgeMs: 60_000, priceHoldMs: 60_000 }
  const signed: PayerSigned = { bytes, message: bytes, digest: 'ab'.repeat(32), payer: wallet, mint, memo: undefined }
  const rules = { refuseOffer: () => undefined, refuseSponsor: () => refuseProof('not_sponsored') }
  const reference = messageReference(signed.digest)
  const proof = { reference, signed, secret: 'secret', rail: 'x402', priceList: 1, rules }
  const found = await createSponsoredPayments(limits, deps).resume({ proof, order }, earlier)
  return found && [found.reference, found.isPayer]
}

test('a second payment for an order resumes the first if it pays the price in its own mint, and not otherwise', async () => {
  expect(await resumed(token, price.requiredBaseUnits)).toEqual([earlier, true])
  expect(await resumed(token, priceInDollars.requiredBaseUnits)).toBeUndefined()
  expect(await resumed(dollar, priceInDollars.requiredBaseUnits)).toEqual([earlier, true])
  expect(await resumed(dollar, priceInDollars.requiredBaseUnits - 1n)).toBeUndefined()
  expect(await resumed(sampleAddress(), price.requiredBaseUnits)).toBeUndefined()
})

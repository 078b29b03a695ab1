import { expect, test } from 'vitest'
import { isRefusal, refuseProof } from '@tollbook/core/refusal'
import { messageReference } from '../../../src/payment/paymentReference.ts'
import type { PayerSigned } from '../../../src/payment/sponsoredTransaction.ts'
import { createSponsoredPayments, type SponsoredDeps } from '../../../src/rails/sponsored/sponsoredPayments.ts'
import { heldClock, signatureNumber } from '../../jobs/jobFixture.ts'
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
const priceInDollars = {
  ...price,
  mint: dollar,
  requiredBaseUnits: price.requiredBaseUnits / 1_000n,
  burnBaseUnits: 0n,
}

const limits = { proofLookupWaitMs: 1, broadcastWaitMs: 1, proofMaxAgeMs: 60_000, priceHoldMs: 60_000 }
const bytes = new Uint8Array([1])
const signature = signatureNumber(1)
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

/** The settlement of a payment in a dollar that the service has sent, after the dollar has left CURRENCIES. */
async function settledLater() {
  const landed = { slot: 9, blockTimeMs: 1_789_999_990_000, failure: undefined, signers: [wallet], memos: [] }
  const amount = {
    tokenProgram: token,
    mint: dollar,
    authority: wallet,
    amountBaseUnits: priceInDollars.requiredBaseUnits,
  }
  const balance = { mint: dollar, tokenAccount: otherWallet, ownersSeen: [otherWallet], beforeBaseUnits: 0n }
  const record = {
    ...landed,
    signature,
    bytes: undefined,
    movements: [{ kind: 'transfer', source: wallet, destination: otherWallet, ...amount }],
    balances: [
      { ...balance, afterBaseUnits: amount.amountBaseUnits },
      {
        mint: dollar,
        tokenAccount: wallet,
        ownersSeen: [wallet],
        beforeBaseUnits: amount.amountBaseUnits,
        afterBaseUnits: 0n,
      },
    ],
  }
  const sent = { signature, bytes, signers: [wallet], accounts: [dollar], usesDurableNonce: false }
  const deps: SponsoredDeps = Object.assign(Object.create(null), {
    clock: heldClock,
    terms,
    formerTerms: (asked: typeof token) => (asked === dollar ? { ...terms, mint: dollar } : undefined),
    findListed: (_endpoint: string, _list: number, asked?: typeof token) =>
      Promise.resolve(asked === dollar ? priceInDollars : price),
    chain: {
      readTransaction: () => sent,
      find: () => Promise.resolve({ kind: 'found', record, slot: 9, nodes: 2, isAgreed: true }),
      landingBound: () => undefined,
      timeMs: () => landed.blockTimeMs,
    },
    presentations: { find: () => Promise.resolve(undefined) },
  })
  const { endpoint } = order
  const payment = { phase: 'submitted', version: 1, wallet, endpoint, transactionBase64: 'AQ==' }
  const question = Object.assign(Object.create(null), {
    proof: { reference: earlier, signed: { mint: dollar }, secret: '', isPayer: true },
    order,
    payment: { ...payment, offer: { rail: 'x402', priceList: 1, mint: dollar } },
  })
  const { verdict } = await createSponsoredPayments(limits, deps).settle(question)
  return isRefusal(verdict) ? verdict.reason : verdict.price.mint
}

test('a payment that was sent in a dollar keeps its answer after the dollar has left CURRENCIES', async () => {
  expect(await settledLater()).toBe(dollar)
})

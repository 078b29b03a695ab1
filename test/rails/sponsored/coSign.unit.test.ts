import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { isRefusal, refuseProof } from '@tollbook/core/refusal'
import { type LandingBound, ProvenExpired } from '../../../src/payment/absence.ts'
import { messageReference, transactionReference } from '../../../src/payment/paymentReference.ts'
import type { Simulation } from '../../../src/payment/proof.ts'
import type { SponsoredTransaction } from '../../../src/payment/sponsoredTransaction.ts'
import { coSign, type CoSignDeps } from '../../../src/rails/sponsored/coSign.ts'
import { heldClock, signatureNumber } from '../../jobs/jobFixture.ts'
import { mint, order, otherWallet, referenceNumber, settlementOf, wallet, terms } from '../../payment/paymentStory.ts'
import { sampleAddress } from '../../store/samplePayment.ts'

const [signature, former, formerAccount] = [signatureNumber(1), sampleAddress(), sampleAddress()]
const { price } = settlementOf(referenceNumber(1))
const bytes = new Uint8Array([1])
const sponsored: SponsoredTransaction = {
  bytes,
  message: bytes,
  digest: 'ab'.repeat(32),
  payer: wallet,
  mint,
  memo: undefined,
  amountBaseUnits: price.requiredBaseUnits,
  blockhash: 'hash',
  feeLamports: 10_000n,
}
const bound: LandingBound = { lastValidHeight: 400, basis: 'first_presentation' }
const expired = assertPresent(
  ProvenExpired.prove({ bound, readings: [{ node: 'node', finalizedHeight: 401 }] }),
  'the reading proves it',
)

interface Script {
  readonly simulation: Simulation
  /** True: another request has recorded the payment. */
  readonly isOnRecord?: boolean
  readonly freshBaseUnits?: bigint
}

async function sign({ simulation, isOnRecord = false, freshBaseUnits = 10n ** 12n }: Script) {
  const deps: CoSignDeps = {
    clock: heldClock,
    terms,
    acceptedTerms: () => [terms, { ...terms, paymentWallet: former, paymentTokenAccount: formerAccount }],
    priceOfList: () => Promise.resolve({ price, priceList: 1, quoteId: undefined }),
    ledger: {
      lookUp: () => {
        const reference = isOnRecord ? transactionReference(signature) : undefined
        return Promise.resolve({
          payment: { phase: 'unknown', version: 0 },
          reference,
          earlier: undefined,
          stored: undefined,
        })
      },
    },
    chain: {
      simulate: () => Promise.resolve(simulation),
      proveExpiry: () => Promise.resolve(expired),
      // A cached balance may not show the payment that this wallet made a moment ago.
      readBalance: ({ isFresh = false }) =>
        Promise.resolve({ baseUnits: isFresh ? freshBaseUnits : 0n, slot: 1, isAgreed: true }),
    },
    first: { record: (presented) => Promise.resolve({ ...presented, presentedAtMs: 0, bound }) },
    feePayer: {
      standing: () => Promise.resolve({ address: sampleAddress(), whyClosed: undefined }),
      find: () => Promise.resolve({ signature: undefined, asOf: '' }),
      sign: async (_transaction, { heldBaseUnits }) => (heldBaseUnits > 0n ? signature : refuseProof('not_sponsored')),
      recordOutcome: () => Promise.resolve(),
    },
    judgeSponsored: () => sponsored,
  }
  const rules = { refuseOffer: () => undefined, refuseSponsor: () => refuseProof('transfer_insufficient') }
  const reference = messageReference(sponsored.digest)
  const proof = { reference, signed: sponsored, secret: 'secret', rail: 'x402', priceList: 1, rules }
  const signed = await coSign(deps, { proof, order })
  return isRefusal(signed) ? (signed.reason ?? signed.code) : signed.signature
}

test('a payment that can no longer land is refused for good only if no other request has recorded it', async () => {
  const simulation: Simulation = { outcome: 'unknown' }
  expect(await sign({ simulation })).toBe('blockhash_expired')
  expect(await sign({ simulation, isOnRecord: true })).toBe('PAYMENT_PENDING')
})

test('a payment to the wallet of a moment ago is signed, and one to a stranger is not', async () => {
  const paying = (destination: typeof wallet) => {
    const movement = {
      kind: 'transfer',
      tokenProgram: mint,
      mint,
      authority: wallet,
      source: wallet,
      destination,
    } as const
    const movements = [{ ...movement, amountBaseUnits: price.requiredBaseUnits }]
    return sign({
      simulation: { outcome: 'would_succeed', effects: { movements, memos: [], balances: undefined }, bound },
    })
  }
  expect(await paying(otherWallet)).toBe(signature)
  expect(await paying(formerAccount)).toBe(signature)
  expect(await paying(sampleAddress())).toBe('transfer_insufficient')
})

test('a wallet without a token account has an insufficient balance', async () => {
  const text = '{"InstructionError":[2,"InvalidAccountData"]}'
  const simulation: Simulation = { outcome: 'would_fail', text, insufficientFunds: false, slot: 1 }
  expect(await sign({ simulation, freshBaseUnits: 0n })).toBe('INSUFFICIENT_BALANCE')
  expect(await sign({ simulation, freshBaseUnits: sponsored.amountBaseUnits })).toBe('simulation_failed')
})

test('a payer holds what is in the account that it pays from, and not in an empty one before it', async () => {
  const [source, other] = [sampleAddress(), sampleAddress()]
  const amountBaseUnits = price.requiredBaseUnits
  const movement = { kind: 'transfer', tokenProgram: mint, mint, authority: wallet, amountBaseUnits, source } as const
  const own = { mint, ownersSeen: [wallet], beforeBaseUnits: 0n, afterBaseUnits: 0n }
  const balances = [
    { ...own, tokenAccount: other },
    { ...own, tokenAccount: source, beforeBaseUnits: amountBaseUnits, afterBaseUnits: 0n },
    { ...own, tokenAccount: otherWallet, ownersSeen: [terms.paymentWallet], afterBaseUnits: amountBaseUnits },
  ]
  const effects = { movements: [{ ...movement, destination: otherWallet }], memos: [], balances }
  expect(await sign({ simulation: { outcome: 'would_succeed', effects, bound } })).toBe(signature)
})

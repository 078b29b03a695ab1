import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { z } from 'zod'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { sha256Hex } from '@tollbook/core/digest'
import { isRefusal } from '@tollbook/core/refusal'
import { judgeSponsored, readPayerSigned, readSponsored } from '../../../src/chain/sponsoredTransaction.ts'
import type { Simulation } from '../../../src/payment/proof.ts'
import type { PaymentTerms } from '../../../src/payment/settlement.ts'
import type { SponsoredTransaction } from '../../../src/payment/sponsoredTransaction.ts'
import type { Offer } from '../../../src/paywall/rail.ts'
import { challenge } from '../../../src/rails/mpp/challenge.ts'
import type { MppRailDeps } from '../../../src/rails/mpp/mppRail.ts'
import { readPayment } from '../../../src/rails/mpp/readPayment.ts'
import { createOfferTexts } from '../../../src/rails/sponsored/offerText.ts'
import { coSign, type CoSignDeps } from '../../../src/rails/sponsored/coSign.ts'
import { createFeePayerSigner } from '../../../src/signer/feePayerSigner.ts'
import { referenceNumber, settlementOf } from '../../payment/paymentStory.ts'
import { requestOf, type RequestFacts } from '../../paywall/requestOf.ts'
import { openMemoryJournal } from '../../signer/memoryJournal.ts'
import { partsOf, signPayment, sponsoredWallets, type TransferChange } from '../../signer/sponsoredPayment.ts'
import { addressOf, signerKey } from '../../support/feePayerKey.ts'

const day = 24 * 60 * 60 * 1000
/** Rehearsal by a node that reports no balances: the transfer of the payer. */
function rehearse({ payer, amountBaseUnits }: Transferred, terms: PaymentTerms): Simulation {
  const { mint, tokenProgram, paymentTokenAccount: destination } = terms
  const base = { tokenProgram, mint, authority: payer, amountBaseUnits }
  return {
    outcome: 'would_succeed',
    effects: { movements: [{ ...base, kind: 'transfer', source: payer, destination }], memos: [], balances: undefined },
    bound: { lastValidHeight: 100, basis: 'blockhash_accepted' },
  }
}

type Transferred = Pick<SponsoredTransaction, 'payer' | 'amountBaseUnits'>

export const challengeShape = z.object({
  id: z.string(),
  realm: z.string(),
  method: z.string(),
  intent: z.string(),
  request: z.string(),
  expires: z.string(),
  digest: z.string().optional(),
  opaque: z.string(),
})

export type Challenge = z.infer<typeof challengeShape>

export const body = '{"data":"hello"}'

/** The rail's own parts with a real signer and no chain: whatever is rehearsed would succeed. */
export function openRailParts() {
  const wallets = sponsoredWallets()
  const { price: plain } = settlementOf(referenceNumber(1))
  const price = { ...plain, priceList: 7 }
  const clock = { ...systemClock, now: 20_000 * day, nowMs: () => clock.now }
  const { journal } = openMemoryJournal()
  const limits = { perDayLamports: 10n ** 9n, perWalletAndDayLamports: 10n ** 9n, perPaymentLamports: 20_000n }
  const signer = createFeePayerSigner({
    key: signerKey(wallets.feePayer),
    journal,
    limits,
    terms: wallets.terms,
  })
  const signed: string[] = []
  const terms: PaymentTerms = {
    mint: wallets.terms.mint,
    paymentWallet: addressOf(wallets.paymentWallet.toBase58()),
    decimals: 6,
    tokenProgram: price.mint,
    paymentTokenAccount: price.mint,
    network: 'solana:x',
  }
  const authenticate = (text: string) => sha256Hex(`key of the service ${text}`)
  const deps: MppRailDeps & CoSignDeps = {
    clock,
    terms,
    feePayer: {
      standing: () => Promise.resolve({ address: signer.address, whyClosed: undefined }),
      find: ({ digest, payer: wallet }) => signer.find({ digest, wallet }),
      async sign({ bytes, digest }, balance) {
        signed.push(digest)
        const outcome = await signer.sign(bytes, balance)
        return assertPresent('signature' in outcome ? outcome.signature : undefined, 'it is signed')
      },
      recordOutcome: signer.recordOutcome,
    },
    serviceUrl: () => 'https://api.example:8443',
    describe: () => ({ summary: 'A "QR" code \u2013 \\ as SVG' }),
    authenticate,
    isAuthentic: (text, code) => authenticate(text) === code,
    offerTexts: createOfferTexts(),
    priceOfList: () => Promise.resolve({ price: plain, priceList: price.priceList, quoteId: undefined }),
    chain: {
      simulate: (transaction) => {
        const sponsored = readSponsored(transaction.bytes, { ...wallets.terms, feePayer: signer.address })
        assert(typeof sponsored !== 'string', 'it was read before')
        return Promise.resolve(rehearse(sponsored, terms))
      },
      proveExpiry: () => Promise.reject(new Error('not asked')),
      readBalance: () => Promise.resolve({ baseUnits: 10n ** 12n, slot: 1, isAgreed: true }),
    },
    ledger: { lookUp: () => Promise.reject(new Error('not asked')) },
    first: { record: () => Promise.reject(new Error('not asked')) },
    readPayerSigned,
    judgeSponsored,
  }
  const offerOf = (facts: RequestFacts): Offer => ({
    id: 'quote_1',
    request: requestOf(facts),
    product: { path: price.endpoint, method: 'POST' },
    payer: undefined,
    price,
    issuedAtMs: clock.now,
    expiresAtMs: clock.now + 300_000,
  })
  return {
    clock,
    wallets,
    price,
    /** Number of payments that the fee payer was asked to sign. */
    signatures: () => signed.length,
    offer: async (facts: RequestFacts = { body }) =>
      assertPresent(await challenge(deps, offerOf(facts)), 'a fee payer signs'),
    async ask(facts: RequestFacts = { body }) {
      const { headers } = assertPresent(await challenge(deps, offerOf(facts)), 'a fee payer signs')
      return parseChallenge(headers['www-authenticate'] ?? '')
    },
    async present(header: string, facts: RequestFacts = { body }) {
      const request = requestOf({ ...facts, headers: { authorization: header } })
      const presented = readPayment(deps, request)
      if (isRefusal(presented)) return presented
      const { payer: wallet, proof } = presented
      const signed = await coSign(deps, { proof, order: { wallet, endpoint: price.endpoint, digest: '' } })
      return isRefusal(signed) ? signed : { payer: wallet, signature: signed.signature }
    },
    /** A payment as the stock client signs it, with other instructions where a test says so. */
    pay: (given: Challenge, change: Instructions = asAsked) =>
      Buffer.from(signPayment(wallets, change(partsFor(given)))),
    payBy: (feePayer: PublicKey, given: Challenge) =>
      Buffer.from(signPayment(wallets, asAsked(partsFor(given)), { feePayer })),
  }

  function partsFor(given: Challenge): Parts {
    const { limit, price: fee, transfer, memo } = partsOf(wallets)
    const { externalId } = z.object({ externalId: z.string() }).parse(decode(given.request))
    return {
      head: [fee(), limit(200_000)],
      transfer: (changed) => transfer({ amount: price.requiredBaseUnits, ...changed }),
      memo: (text = externalId) => memo(text),
    }
  }
}

const asAsked: Instructions = ({ head, transfer, memo }) => [...head, transfer(), memo()]

export interface Parts {
  /** Price and limit of the compute units. */
  readonly head: readonly TransactionInstruction[]
  transfer(changed?: TransferChange): TransactionInstruction
  memo(text?: string): TransactionInstruction
}

export type Instructions = (parts: Parts) => readonly TransactionInstruction[]

export function parseChallenge(header: string): Challenge {
  const parameters = [...header.matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value])
  return challengeShape.parse(Object.fromEntries(parameters))
}

export function decode(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'base64url').toString())
}

export function encode(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

export function credentialOf(challengeGiven: Challenge, transaction: Buffer, more: object = {}): string {
  const payload = { type: 'transaction', transaction: transaction.toString('base64') }
  return `Payment ${encode({ challenge: challengeGiven, payload, ...more })}`
}

export function reasonOf(outcome: object): string | undefined {
  return isRefusal(outcome) ? outcome.reason : undefined
}

import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { randomToken } from '@tollbook/core/id'
import type { Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../../../src/payment/settlement.ts'
import { memoOfSecret } from '@tollbook/core/binding'
import { imitated, memo, payment, relayed } from '../fixtureTokens.ts'
import { type Customer, land, newCustomer, signedBy } from '../chainFixture.ts'
import {
  type Offer,
  type VerifierFixture,
  present,
  quoteFor,
  signatureProof,
  transactionProof,
} from '../verifierFixture.ts'
import type { Verdict } from './verificationCase.ts'

/** A proof presented to the native rail of a service, and the expected verdict. */
export interface RailCase {
  readonly rule: string
  readonly says: string
  readonly verdict: Verdict
  readonly present: (verifier: VerifierFixture) => Promise<Settlement | Refusal>
}

interface Binding {
  readonly memos: (offer: Offer) => readonly TransactionInstruction[]
  readonly secret?: (offer: Offer) => string
}

const rightSecret = ({ secret }: Offer): string => secret
const boundMemo = ({ quote }: Offer): TransactionInstruction => memo(quote.memo)

/** Rule 7: a payment with the memo of a quote buys only with that quote's secret, and a secret only with its memo. */
export const bindingCases: readonly RailCase[] = [
  { rule: '7a', says: 'no memo and no secret', verdict: 'accepted', present: landed({ memos: () => [] }) },
  {
    rule: '7b',
    says: "the quote's memo and its secret",
    verdict: 'accepted',
    present: landed({ memos: (offer) => [boundMemo(offer)], secret: rightSecret }),
  },
  {
    rule: '7b',
    says: "the quote's memo, by version 1 of the memo program, and its secret",
    verdict: 'accepted',
    present: landed({ memos: ({ quote }) => [memo(quote.memo, 1)], secret: rightSecret }),
  },
  {
    rule: '7b',
    says: "the quote's memo among memos of others, and its secret",
    verdict: 'accepted',
    present: landed({
      memos: (offer) => [memo('invoice 42'), boundMemo(offer), memo('Tollbook:42'), memo(' tollbook:42')],
      secret: rightSecret,
    }),
  },
  {
    rule: '7b',
    says: "the quote's memo in an inner instruction, and its secret",
    verdict: 'accepted',
    present: landed({ memos: (offer) => [relayed(boundMemo(offer))], secret: rightSecret }),
  },
  {
    rule: '7c',
    says: "the quote's memo without the secret: the signature was copied from the chain",
    verdict: 'secret_required',
    present: landed({ memos: (offer) => [boundMemo(offer)] }),
  },
  {
    rule: '7c',
    says: "the quote's memo by version 1 of the memo program, without the secret",
    verdict: 'secret_required',
    present: landed({ memos: ({ quote }) => [memo(quote.memo, 1)] }),
  },
  {
    rule: '7c',
    says: "the quote's memo in an inner instruction, without the secret",
    verdict: 'secret_required',
    present: landed({ memos: (offer) => [relayed(boundMemo(offer))] }),
  },
  {
    rule: '7c',
    says: "the quote's memo and a secret of no quote",
    verdict: 'secret_mismatch',
    present: landed({ memos: (offer) => [boundMemo(offer)], secret: () => randomToken() }),
  },
  {
    rule: '7d',
    says: 'a secret without a memo',
    verdict: 'memo_missing',
    present: landed({ memos: () => [], secret: rightSecret }),
  },
  {
    rule: '7d',
    says: 'a secret, and its memo for a program that is not a memo program',
    verdict: 'memo_missing',
    present: landed({ memos: (offer) => [imitated(boundMemo(offer))], secret: rightSecret }),
  },
  {
    rule: '7e',
    says: 'the memos of two quotes',
    verdict: 'memo_ambiguous',
    present: landed({
      memos: (offer) => [boundMemo(offer), memo(memoOfSecret(randomToken()))],
      secret: rightSecret,
    }),
  },
  {
    rule: '7e',
    says: 'the same memo twice, once in an inner instruction',
    verdict: 'memo_ambiguous',
    present: landed({ memos: (offer) => [boundMemo(offer), relayed(boundMemo(offer))], secret: rightSecret }),
  },
  {
    rule: '7f',
    says: 'a memo and its secret that no quote has',
    verdict: 'quote_unknown',
    async present(verifier) {
      const [payer, secret] = [await newCustomer(verifier), randomToken()]
      return payBound(verifier, payer, { payer, secret, memo: memoOfSecret(secret) })
    },
  },
  {
    rule: '7f',
    says: "the memo and the secret of another wallet's quote",
    verdict: 'quote_unknown',
    async present(verifier) {
      const [payer, other] = [await newCustomer(verifier), await newCustomer(verifier, 0n)]
      const { quote, secret } = await quoteFor(verifier, other)
      return payBound(verifier, payer, { payer, secret, memo: quote.memo })
    },
  },
  {
    rule: '7f',
    says: "the memo and the secret of another endpoint's quote",
    verdict: 'quote_unknown',
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const { quote, secret } = await quoteFor(verifier, payer, { endpoint: '/api/tools/qrcode' })
      return payBound(verifier, payer, { payer, secret, memo: quote.memo })
    },
  },
  {
    rule: '7g',
    says: 'a transaction that is not sent yet, with memo and secret',
    verdict: 'accepted',
    present: unsent({ memos: (offer) => [boundMemo(offer)], secret: rightSecret }),
  },
  {
    rule: '7g',
    says: 'a transaction that is not sent yet, with the memo but without the secret',
    verdict: 'secret_required',
    present: unsent({ memos: (offer) => [boundMemo(offer)] }),
  },
  {
    rule: '7g',
    says: 'a transaction that is not sent yet, with the memo and another secret',
    verdict: 'secret_mismatch',
    present: unsent({ memos: (offer) => [boundMemo(offer)], secret: () => randomToken() }),
  },
  {
    rule: '7g',
    says: 'a transaction that is not sent yet, whose memo is in an inner instruction, without the secret',
    verdict: 'secret_required',
    present: unsent({ memos: (offer) => [relayed(boundMemo(offer))] }),
  },
  {
    rule: '7g',
    says: 'a transaction that is not sent yet, with a secret but no memo',
    verdict: 'memo_missing',
    present: unsent({ memos: () => [], secret: rightSecret }),
  },
]

function landed({ memos, secret }: Binding) {
  return async (verifier: VerifierFixture): Promise<Settlement | Refusal> => {
    const payer = await newCustomer(verifier)
    const offer = await quoteFor(verifier, payer)
    const signature = await land(verifier, [...memos(offer), ...payment(verifier, payer)], [payer.keypair])
    return present(verifier, payer, signatureProof(signature, secret?.(offer)))
  }
}

function unsent({ memos, secret }: Binding) {
  return async (verifier: VerifierFixture): Promise<Settlement | Refusal> => {
    const payer = await newCustomer(verifier)
    const offer = await quoteFor(verifier, payer)
    const instructions = [...memos(offer), ...payment(verifier, payer)]
    const transaction = await signedBy(verifier.connection, instructions, [payer.keypair])
    return present(verifier, payer, transactionProof(transaction.serialize(), secret?.(offer)))
  }
}

interface Bound {
  readonly payer: Customer
  readonly memo: string
  readonly secret: string
}

async function payBound(
  verifier: VerifierFixture,
  presenter: { readonly address: PublicKey },
  { payer, memo: text, secret }: Bound,
): Promise<Settlement | Refusal> {
  const signature = await land(verifier, [memo(text), ...payment(verifier, payer)], [payer.keypair])
  return present(verifier, presenter, signatureProof(signature, secret))
}

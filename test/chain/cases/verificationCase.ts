import type { PublicKey } from '@solana/web3.js'
import { type Refusal, type RefusalCode, type InvalidPaymentReason, isRefusal } from '@tollbook/core/refusal'
import { type ProvenAmounts, type PaymentTerms, settle } from '../../../src/payment/settlement.ts'
import type { Signature } from '@tollbook/core/signature'
import { type MintKind, type ChainFixture, addressOf, mintKinds } from '../chainFixture.ts'

export type Verdict = 'accepted' | InvalidPaymentReason | Exclude<RefusalCode, 'INVALID_PAYMENT'>

/** A landed transaction and the wallet that says it has paid with it. */
export interface Presented {
  readonly signature: Signature
  readonly wallet: PublicKey
  /** The fixture's, unless the case has a separate payment wallet. */
  readonly terms?: PaymentTerms
}

/**
 * One row of the table in docs/verification.md: an action on a real chain, and the verdict that the verifier must
 * return.
 * The tests run these rows and the document lists them, so each list contains exactly the same cases.
 */
export interface VerificationCase {
  /** A number of the rules in docs/verification.md. */
  readonly rule: string
  readonly says: string
  readonly verdict: Verdict
  readonly kinds: readonly MintKind[]
  readonly pay: (fixture: ChainFixture) => Promise<Presented>
}

type CaseOf = Omit<VerificationCase, 'kinds'> & Partial<Pick<VerificationCase, 'kinds'>>

/** Cases for every kind of mint, unless they name the kinds that can have them. */
export function casesOf(list: readonly CaseOf[]): readonly VerificationCase[] {
  return list.map((each) => ({ kinds: mintKinds, ...each }))
}

export const token2022Kinds = ['Token-2022', 'Token-2022 with a transfer fee'] as const
export const feeKind = ['Token-2022 with a transfer fee'] as const
export const withoutFeeKinds = ['SPL Token', 'Token-2022'] as const

/** Reads the transaction with one call and judges it, as the paywall does. Undefined: the chain does not have it. */
export async function judge(fixture: ChainFixture, presented: Presented): Promise<ProvenAmounts | Refusal | undefined> {
  const finding = await fixture.reader.find(presented.signature)
  if (finding.kind !== 'found') return undefined
  const { record } = finding
  const { terms = fixture.terms, wallet } = presented
  return settle({ record, wallet: addressOf(wallet), price: fixture.price, terms })
}

export function verdictOf(judged: object | undefined): Verdict {
  if (judged === undefined) return 'not_found'
  if (!isRefusal(judged)) return 'accepted'
  if (judged.code !== 'INVALID_PAYMENT') return judged.code
  return judged.reason ?? 'malformed_proof'
}

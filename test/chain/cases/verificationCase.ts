import type { PublicKey } from '@solana/web3.js'
import { type Refusal, type RefusalCode, type InvalidPaymentReason, isRefusal } from '@tollbook/core/refusal'
import { type ProvenAmounts, type PaymentTerms, settle } from '../../../src/payment/settlement.ts'
import { bindSecret } from '@tollbook/core/binding'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from '../../../src/payment/transactionRecord.ts'
import { type MintKind, type ChainFixture, addressOf, mintKinds } from '../chainFixture.ts'

export type Verdict = 'accepted' | InvalidPaymentReason | Exclude<RefusalCode, 'INVALID_PAYMENT'>

/** A landed transaction and the wallet that says it has paid with it. */
export interface Presented {
  readonly signature: Signature
  readonly wallet: PublicKey
  /** The secret that is presented with it. */
  readonly secret?: string
  /** The fixture's, unless the case has a separate payment wallet. */
  readonly terms?: PaymentTerms
}

/**
 * One row of the table in docs/verification.md: an action on a real chain, and the verdict that the verifier must
 * return. The tests run these rows and the document lists them, so each list contains exactly the same cases.
 */
export interface VerificationCase {
  /** A number of the rules in docs/verification.md. */
  readonly rule: string
  readonly says: string
  readonly verdict: Verdict
  /** The verdict of the rehearsal before broadcast, where it differs. */
  readonly rehearsed?: Verdict
  /** The verdict of the audit, where it differs: the audit reads the chain later. */
  readonly audited?: 'accepted'
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
  const record = await findRecord(fixture, presented)
  if (record === undefined) return undefined
  const { terms = fixture.terms, wallet, secret } = presented
  const bound = bindSecret(record.memos, secret)
  if (isRefusal(bound)) return bound
  return settle({ record, wallet: addressOf(wallet), price: fixture.price, terms })
}

/** Undefined: the chain does not have it. */
export async function findRecord(
  { reader }: ChainFixture,
  { signature }: Pick<Presented, 'signature'>,
): Promise<TransactionRecord | undefined> {
  const finding = await reader.find(signature)
  return finding.kind === 'found' ? finding.record : undefined
}

export function verdictOf(judged: object | undefined): Verdict {
  if (judged === undefined) return 'not_found'
  if (!isRefusal(judged)) return 'accepted'
  if (judged.code !== 'INVALID_PAYMENT') return judged.code
  return judged.reason ?? 'malformed_proof'
}

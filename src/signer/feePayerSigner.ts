import { type Address, readAddress } from '@tollbook/core/address'
import { assert, assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Ed25519Signer } from '@tollbook/core/ed25519'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import { smaller } from '@tollbook/core/money'
import { readSponsored } from '../chain/sponsoredTransaction.ts'
import { type DollarSetting, possibleMints } from '../payment/dollar.ts'
import type { RehearsedBalance, SponsorPolicy, SponsorProblem } from '../payment/sponsoredTransaction.ts'
import type { SigningJournal, SigningQuestion } from './signingJournal.ts'
import { isSigningRule, type LamportLimits, type SigningRule } from './signingRules.ts'

export type FeePayerSigner = ReturnType<typeof createFeePayerSigner>

/** Budget of one UTC day. */
export interface DayBudget {
  readonly lamports: bigint
  readonly leftLamports: bigint
}

export type SigningOutcome =
  | { readonly signature: Signature }
  | { readonly problem: SponsorProblem }
  | { readonly rule: SigningRule }

export interface FeePayerSignerDeps {
  readonly key: Ed25519Signer
  readonly journal: SigningJournal
  readonly limits: LamportLimits
  readonly terms: SigningTerms
}

export interface SigningTerms extends Pick<SponsorPolicy, 'receivers'> {
  readonly mint: Address
}

export interface SigningWallets {
  readonly mint: Address
  readonly paymentWallet: Address
  readonly currencies?: readonly Pick<DollarSetting, 'symbol' | 'mint' | 'wallet'>[]
  /** May receive every mint: the wallet for tabs, and a payment wallet that is being replaced. */
  readonly others?: readonly Address[]
}

/**
 * The configuration of a signer does not contain the network, so the terms include the mints of a dollar on all
 * networks.
 */
export function signingTerms({ mint, paymentWallet, currencies = [], others = [] }: SigningWallets): SigningTerms {
  const ofDollars = currencies.flatMap((dollar) =>
    possibleMints(dollar).map((each) => [each, [dollar.wallet ?? paymentWallet, ...others]] as const),
  )
  return { mint, receivers: new Map([[mint, [paymentWallet, ...others]], ...ofDollars]) }
}

// Usual lamports of a payment: two signatures of 5,000 lamports, and a priority fee of one lamport.
const usualLamports = 10_001n

/** Undefined while the budget is enough for one usual payment. */
export function whySpent({ leftLamports }: DayBudget, limits: LamportLimits): string | undefined {
  const neededLamports = smaller(limits.perPaymentLamports, usualLamports)
  return leftLamports < neededLamports ? "the signer's budget of this day is used up" : undefined
}

/**
 * Signs payments of other wallets as their fee payer, only within its rules and budget. A wrong statement of the
 * service can cost the signer only lamports of its budget.
 */
export function createFeePayerSigner({ key, journal, limits, terms }: FeePayerSignerDeps) {
  const address = assertPresent(readAddress(encodeBase58(key.publicKey)), 'a public key is an address')
  return {
    address,
    async day(): Promise<DayBudget> {
      return { lamports: limits.perDayLamports, leftLamports: limits.perDayLamports - (await journal.spentToday()) }
    },
    find: (question: SigningQuestion) => journal.find(question),
    async sign(bytes: Uint8Array, balance: RehearsedBalance): Promise<SigningOutcome> {
      const transaction = readSponsored(bytes, { ...terms, feePayer: address })
      if (typeof transaction === 'string') return { problem: transaction }
      const { digest, payer: wallet, mint, amountBaseUnits, message, feeLamports: lamports } = transaction
      const dollar = mint === terms.mint ? undefined : mint
      if (lamports > limits.perPaymentLamports) return { rule: 'perPayment' }
      const signature = assertPresent(signatureOfBytes(key.sign(message)), 'a signature has 64 bytes')
      const rule = await journal.record(
        { digest, signature, wallet, dollar, amountBaseUnits, lamports },
        balance,
        limits,
      )
      if (rule === undefined) return { signature }
      assert(isSigningRule(rule), `${rule} is a rule of the journal`)
      return { rule }
    },
    recordOutcome: (digest: string, outcome: 'failed' | 'absent') => journal.recordOutcome(digest, outcome),
  }
}

import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Ed25519Signer } from '@tollbook/core/ed25519'
import { readSponsored } from '../chain/sponsoredTransaction.ts'
import type { SponsoredTransaction, SponsorPolicy, SponsorProblem } from '../payment/sponsoredTransaction.ts'
import { createLamportBudget, type LamportLimits, type OverBudget } from './lamportBudget.ts'
import type { Signing, SigningJournal } from './signingJournal.ts'

/** Signs payments of others as their fee payer, within its rules and its budget. */
export interface FeePayerSigner {
  readonly address: Address
  /** Reason why it signs no new payment: its budget of the day is used up, or its journal cannot be written. */
  whyClosed(): string | undefined
  /** Budget of this day, and the rest of it. */
  day(): DayBudget
  /** The signature that was given to the message with this digest. */
  find(digest: string): string | undefined
  sign(bytes: Uint8Array): Promise<SigningOutcome>
}

/** Lamports of one UTC day. */
export interface DayBudget {
  readonly lamports: number
  readonly leftLamports: number
}

export type SigningOutcome =
  | { readonly signature: string }
  | { readonly problem: SponsorProblem }
  | { readonly overBudget: OverBudget }

export interface FeePayerSignerDeps {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly key: Ed25519Signer
  readonly journal: SigningJournal
  readonly limits: LamportLimits
  readonly terms: Omit<SponsorPolicy, 'feePayer'>
}

// Two signatures and a priority fee of some lamports.
const usualLamports = 10_001

/**
 * Signs as the fee payer what satisfies the conditions of `readSponsored`. It believes nothing that the service says about a
 * transaction, and one message costs its budget once.
 */
export function createFeePayerSigner({ clock, key, journal, limits, terms }: FeePayerSignerDeps): FeePayerSigner {
  const address = assertPresent(readAddress(encodeBase58(key.publicKey)), 'a public key is an address')
  const budget = createLamportBudget(limits, journal.entries)
  const signed = new Map<string, Promise<string>>(
    journal.entries.map(({ digest, signature }) => [digest, Promise.resolve(signature)]),
  )
  const known = new Map<string, string>(journal.entries.map(({ digest, signature }) => [digest, signature]))

  async function record(entry: Signing): Promise<string> {
    await journal.append(entry)
    known.set(entry.digest, entry.signature)
    return entry.signature
  }

  function start({ payer, digest, message, feeLamports }: SponsoredTransaction): Promise<string> | OverBudget {
    // Before the budget is charged: the caller repeats the payment until the journal can be written again.
    if (!journal.isWritable()) throw new Fault('the journal of the signer cannot be written', { retryable: true })
    const expense = { atMs: clock.nowMs(), wallet: payer, lamports: feeLamports }
    const over = budget.spend(expense)
    if (over !== undefined) return over
    const recorded = record({ ...expense, digest, signature: encodeBase58(key.sign(message)) })
    signed.set(digest, recorded)
    recorded.catch(() => signed.delete(digest))
    return recorded
  }

  return {
    address,
    whyClosed() {
      if (!journal.isWritable()) return 'the journal of the signer cannot be written'
      const isSpent = budget.leftLamports(clock.nowMs()) < Math.min(usualLamports, limits.perPayment)
      return isSpent ? "the signer's budget of this day is used up" : undefined
    },
    day: () => ({ lamports: limits.perDay, leftLamports: budget.leftLamports(clock.nowMs()) }),
    find: (digest) => known.get(digest),
    async sign(bytes) {
      const transaction = readSponsored(bytes, { ...terms, feePayer: address })
      if (typeof transaction === 'string') return { problem: transaction }
      const started = signed.get(transaction.digest) ?? start(transaction)
      return typeof started === 'string' ? { overBudget: started } : { signature: await started }
    },
  }
}

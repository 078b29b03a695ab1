import type { Address } from '@tollbook/core/address'

/**
 * A transaction of two signers that the second of them has signed: the payer. The fee payer's signature comes first and
 * is the id of the transaction, so until it is known nothing can be looked for on chain. The instructions are not
 * judged yet.
 */
export interface PayerSigned {
  readonly bytes: Uint8Array
  /** The signed part: the transaction without its signatures. */
  readonly message: Uint8Array
  /** SHA-256 in hex of the message. The fee payer's signature is a function of the message alone. */
  readonly digest: string
  /** Its signature holds. */
  readonly payer: Address
  readonly memo: string | undefined
}

/** A payment whose network fee this service pays: it does nothing but pay one of the accepted wallets. */
export interface SponsoredTransaction extends PayerSigned {
  readonly amountBaseUnits: bigint
  readonly blockhash: string
  /** The most that the fee payer can be charged: signatures and priority fee. */
  readonly feeLamports: number
}

/** Why this service does not pay the fee of a transaction. */
export const sponsorProblems = {
  malformed: 'it is not the canonical base64 of a transaction of at most 1,232 bytes',
  lookup_table: 'it has an address lookup table',
  fee_payer: 'its fee payer is not the one of the offer',
  signers: 'it must be signed by the fee payer and the payer alone',
  signature: "the payer's signature does not hold",
  fee_payer_in_accounts: 'the fee payer is an account of an instruction, or its program',
  program: 'it calls a program other than ComputeBudget, a token program, Memo and Lighthouse',
  compute_limit: 'it must limit its compute units once, to at most 200,000',
  compute_price: 'it must price its compute units once, at 5 lamports at most',
  compute_other: 'it has a ComputeBudget instruction other than limit and price',
  transfer: 'it must have exactly one token instruction, a TransferChecked with four accounts',
  mint: 'it transfers another token',
  recipient: 'it transfers to another account than that of the payment wallet',
  authority: 'its transfer is not authorized by the payer',
  amount: 'it transfers nothing',
  memo: 'it must have at most one memo, of UTF-8 text',
  length: 'it has more than eight instructions',
} as const satisfies Record<string, string>

export type SponsorProblem = keyof typeof sponsorProblems

/** Accounts that a transaction may touch so that the fee payer signs it. */
export interface SponsorPolicy {
  readonly feePayer: Address
  readonly mint: Address
  readonly paymentWallet: Address
  /** Other wallets that take payments while the payment wallet changes. */
  readonly otherWallets?: readonly Address[]
}

import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'

/**
 * The fee payer's signature is the id of the transaction. It is still missing, so the chain cannot be searched for the
 * transaction. The instructions are not judged yet.
 */
export interface PayerSigned {
  readonly bytes: Uint8Array
  readonly message: Uint8Array
  /** SHA-256 in hex. It identifies the payment, because the message determines the fee payer's signature. */
  readonly digest: string
  readonly payer: Address
  /** Mint of the first transfer. Undefined without a transfer. */
  readonly mint: Address | undefined
  readonly memo: string | undefined
}

/** This service pays the network fee, so the only effect must be a payment to one of the accepted wallets. */
export interface SponsoredTransaction extends PayerSigned {
  readonly amountBaseUnits: bigint
  readonly blockhash: string
  /** Maximum charge to the fee payer: signatures and priority fee. */
  readonly feeLamports: bigint
}

export interface SigningStanding {
  /** Undefined: the signer has never signed this message. */
  readonly signature: Signature | undefined
  /** Time of the signer's journal. A simulation that begins later includes all settlements up to this time. */
  readonly asOf: string
}

/** Balance of the paying token account, from a simulation or a reading that began after `asOf`. */
export interface RehearsedBalance {
  readonly heldBaseUnits: bigint
  readonly asOf: string
}

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

export interface SponsorPolicy {
  readonly feePayer: Address
  /** Wallets that may receive each accepted mint. */
  readonly receivers: ReadonlyMap<Address, readonly Address[]>
}

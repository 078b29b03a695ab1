import { createAssociatedTokenAccountIdempotentInstruction, createTransferCheckedInstruction } from '@solana/spl-token'
import { Keypair, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { memoProgram } from '@tollbook/core/programs'
import type { PaymentTerms } from '../payment/settlement.ts'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import { tokenAccountOf } from './walletTerms.ts'

/** A payout transaction lands or fails as a whole. */
export interface PayoutOrder {
  readonly terms: PaymentTerms
  readonly memo: string
  readonly payments: readonly { readonly wallet: Address; readonly baseUnits: bigint }[]
  /**
   * The transaction opens token accounts for these wallets. A transfer to any other wallet fails if the wallet has no
   * token account.
   */
  readonly opens: readonly Address[]
  readonly blockhash: string
  /** Pays the network fee and the rent of new token accounts. */
  readonly feePayer: Address
}

/** The result is unsigned, so that a multisig or `signPayout` can sign it. */
export function buildPayout({ terms, memo, payments, opens, blockhash, feePayer }: PayoutOrder): Uint8Array {
  const key = (address: string) => new PublicKey(address)
  const [mint, program] = [key(terms.mint), key(terms.tokenProgram)] as const
  const [owner, payer] = [key(terms.paymentWallet), key(feePayer)] as const
  const instructions = payments.flatMap(({ wallet, baseUnits }) => {
    const account = key(tokenAccountOf(terms, wallet))
    const opening = createAssociatedTokenAccountIdempotentInstruction(payer, account, key(wallet), mint, program)
    return [
      ...(opens.includes(wallet) ? [opening] : []),
      createTransferCheckedInstruction(
        key(terms.paymentTokenAccount),
        mint,
        account,
        owner,
        baseUnits,
        terms.decimals,
        [],
        program,
      ),
    ]
  })
  const memoInstruction = new TransactionInstruction({ programId: key(memoProgram), keys: [], data: Buffer.from(memo) })
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash: blockhash,
    instructions: [memoInstruction, ...instructions],
  })
  return new VersionedTransaction(message.compileToV0Message()).serialize()
}

/** The keys must include the fee payer's key, whose signature comes first and identifies the transaction. */
export function signPayout(
  unsigned: Uint8Array,
  signers: readonly { readonly secretKey: Uint8Array }[],
): { readonly signature: Signature; readonly transaction: Uint8Array } {
  const transaction = VersionedTransaction.deserialize(unsigned)
  transaction.sign(signers.map(({ secretKey }) => Keypair.fromSecretKey(secretKey)))
  const signature = signatureOfBytes(transaction.signatures[0] ?? new Uint8Array())
  return { signature: assertPresent(signature, 'the fee payer has signed'), transaction: transaction.serialize() }
}

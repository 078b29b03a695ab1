import { createBurnCheckedInstruction, createTransferCheckedInstruction } from '@solana/spl-token'
import { PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import type { Address } from '@tollbook/core/address'
import { memoProgram } from '@tollbook/core/programs'
import type { PaymentContent } from '../payment/paymentContent.ts'
import { tokenAccountOf } from './walletTerms.ts'

/** Burn, memo and transfer are one transaction, so they land together or not at all. The payer signs it. */
export function buildPaymentTransaction(content: PaymentContent): Uint8Array {
  const { terms, payer, burnBaseUnits, transferBaseUnits, blockhash } = content
  const { decimals } = terms
  const [owner, mint, program] = [key(payer), key(terms.mint), key(terms.tokenProgram)] as const
  const account = key(tokenAccountOf(terms, payer))
  const memo = new TransactionInstruction({
    programId: new PublicKey(memoProgram),
    keys: [],
    data: Buffer.from(content.memo),
  })
  const burn = createBurnCheckedInstruction(account, mint, owner, burnBaseUnits, decimals, [], program)
  const to = key(terms.paymentTokenAccount)
  const transfer = createTransferCheckedInstruction(account, mint, to, owner, transferBaseUnits, decimals, [], program)
  // If the whole payment is burned, the transaction has no transfer, so add the reference to the burn.
  const listed = transferBaseUnits > 0n ? transfer : burn
  listed.keys.push({ pubkey: key(content.reference), isSigner: false, isWritable: false })
  // Put the memo directly in front of the transfer, because a Token-2022 account may require this.
  const instructions = [burn, memo, ...(transferBaseUnits > 0n ? [transfer] : [])]
  const message = new TransactionMessage({ payerKey: owner, recentBlockhash: blockhash, instructions })
  return new VersionedTransaction(message.compileToV0Message()).serialize()
}

function key(address: Address): PublicKey {
  return new PublicKey(address)
}

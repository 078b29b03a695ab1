import { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { randomToken } from '@tollbook/core/id'
import { memoProgram } from '@tollbook/core/programs'

export function memoInstruction(memo: string): TransactionInstruction {
  return new TransactionInstruction({
    programId: new PublicKey(memoProgram),
    keys: [],
    data: Buffer.from(memo, 'utf8'),
  })
}

/** Distinguishes two equal transactions within one blockhash: without it they would be identical and count once. */
export function nonceMemo(): string {
  return `nonce:${randomToken()}`
}

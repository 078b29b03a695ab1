import { createTransferCheckedInstruction, getAssociatedTokenAddressSync, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Keypair,
  type PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { signingTerms } from '../../src/signer/feePayerSigner.ts'
import { addressOf } from '../support/feePayerKey.ts'
import { memoProgramKey } from './programs.ts'

/** Wallets of a payment that needs no chain. */
export function sponsoredWallets() {
  const [feePayer, payer, mint, paymentWallet] = Array.from({ length: 4 }, () => Keypair.generate())
  if (feePayer === undefined || payer === undefined || mint === undefined || paymentWallet === undefined)
    throw new Error('four wallets are made')
  const terms = signingTerms({
    mint: addressOf(mint.publicKey.toBase58()),
    paymentWallet: addressOf(paymentWallet.publicKey.toBase58()),
  })
  return { feePayer, payer, mint: mint.publicKey, paymentWallet: paymentWallet.publicKey, terms }
}

export type SponsoredWallets = ReturnType<typeof sponsoredWallets>

export interface TransferChange {
  readonly to?: PublicKey
  readonly mint?: PublicKey
  readonly authority?: PublicKey
  readonly amount?: bigint
  readonly program?: PublicKey
}

/** The instructions of the stock client, each by itself. */
export function partsOf({ payer, mint, paymentWallet }: SponsoredWallets) {
  return {
    limit: (units = 20_000) => ComputeBudgetProgram.setComputeUnitLimit({ units }),
    price: (microLamports = 1) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
    transfer({ to = paymentWallet, amount = 5n, program = TOKEN_PROGRAM_ID, ...change }: TransferChange = {}) {
      const { mint: token = mint, authority = payer.publicKey } = change
      const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(token, owner, true, program)
      return createTransferCheckedInstruction(
        accountOf(authority),
        token,
        accountOf(to),
        authority,
        amount,
        6,
        [],
        program,
      )
    },
    memo: (text: string | Uint8Array = 'tollbook:x', keys: readonly PublicKey[] = []) =>
      new TransactionInstruction({
        programId: memoProgramKey,
        keys: keys.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
        data: Buffer.from(text),
      }),
  }
}

/** A transaction as the stock client signs it, with other instructions or another fee payer where a test says so. */
export function signPayment(
  wallets: SponsoredWallets,
  instructions: readonly TransactionInstruction[] = stockInstructions(wallets),
  { feePayer = wallets.feePayer.publicKey, cosigners = [] }: { feePayer?: PublicKey; cosigners?: Keypair[] } = {},
): Uint8Array {
  const blockhash = Keypair.generate().publicKey.toBase58()
  const message = new TransactionMessage({
    payerKey: feePayer,
    recentBlockhash: blockhash,
    instructions: [...instructions],
  })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  const { staticAccountKeys, header } = transaction.message
  const required = staticAccountKeys.slice(0, header.numRequiredSignatures)
  transaction.sign(
    [wallets.payer, ...cosigners].filter(({ publicKey }) => required.some((key) => key.equals(publicKey))),
  )
  return transaction.serialize()
}

export function stockInstructions(wallets: SponsoredWallets): readonly TransactionInstruction[] {
  const { limit, price, transfer, memo } = partsOf(wallets)
  return [limit(), price(), transfer(), memo()]
}

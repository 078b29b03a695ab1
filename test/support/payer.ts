import { randomBytes } from 'node:crypto'
import {
  createBurnCheckedInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Connection, type Keypair, PublicKey, Transaction, TransactionInstruction } from '@solana/web3.js'
import { encodeBase58 } from '@tollbook/core/base58'
import type { QuoteBody } from '@tollbook/core/wire'
import { awaitThat } from './awaitThat.ts'

/*
 * A payer who knows only the 402 and two libraries. It shares nothing with our SDK, so that a slip in the SDK and the
 * same slip in the server cannot cancel each other out.
 */

export type Form = 'signature' | 'raw' | 'transaction' | 'boundSignature' | 'boundTransaction'
export const forms: readonly Form[] = ['signature', 'raw', 'transaction', 'boundSignature', 'boundTransaction']

export interface Payment {
  /** Base58 of the first signature. */
  readonly signature: string
  /** The signed transaction. */
  readonly bytes: Uint8Array
  readonly secret: string | undefined
}

export interface Payer {
  readonly address: string
  /** Signs a payment of the quote; sends nothing. */
  sign(body: QuoteBody, options?: { readonly bound?: boolean; readonly shortBy?: bigint }): Promise<Payment>
  /** Sends it and waits until it is confirmed. */
  send(payment: Payment): Promise<void>
  /** The whole way: signs, sends where the form wants it, and spells the proof. */
  pay(body: QuoteBody, form?: Form): Promise<string>
}

const memoProgram = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

export function createPayer({ rpcUrl, wallet }: { readonly rpcUrl: string; readonly wallet: Keypair }): Payer {
  const connection = new Connection(rpcUrl, 'confirmed')
  const payer: Payer = {
    address: wallet.publicKey.toBase58(),
    async sign(body, { bound = false, shortBy = 0n } = {}) {
      const { blockhash } = await connection.getLatestBlockhash()
      const transaction = new Transaction({ feePayer: wallet.publicKey, recentBlockhash: blockhash })
      transaction.add(...instructionsFor(body, wallet, { bound, shortBy }))
      transaction.sign(wallet)
      // Verifying our own signature again takes web3.js 4 ms.
      const bytes = transaction.serialize({ verifySignatures: false })
      return { signature: encodeBase58(bytes.subarray(1, 65)), bytes, secret: bound ? body.quote.secret : undefined }
    },
    async send({ bytes, signature }) {
      await connection.sendRawTransaction(bytes)
      await untilConfirmed(connection, signature)
    },
    async pay(body, form = 'signature') {
      const payment = await payer.sign(body, { bound: form.startsWith('bound') })
      if (form !== 'transaction' && form !== 'boundTransaction') await payer.send(payment)
      return proofOf(payment, form)
    },
  }
  return payer
}

function instructionsFor(
  body: QuoteBody,
  wallet: Keypair,
  { bound, shortBy }: { bound: boolean; shortBy: bigint },
): TransactionInstruction[] {
  const { quote, tokenMint, tokenProgram, paymentTokenAccount } = body
  const [mint, program] = [new PublicKey(tokenMint), new PublicKey(tokenProgram)]
  const source = getAssociatedTokenAddressSync(mint, wallet.publicKey, false, program)
  const memo = bound ? quote.memo : `nonce ${randomBytes(12).toString('hex')}`
  return [
    createBurnCheckedInstruction(
      source,
      mint,
      wallet.publicKey,
      BigInt(quote.burnBaseUnits),
      quote.decimals,
      [],
      program,
    ),
    createTransferCheckedInstruction(
      source,
      mint,
      new PublicKey(paymentTokenAccount),
      wallet.publicKey,
      BigInt(quote.transferBaseUnits) - shortBy,
      quote.decimals,
      [],
      program,
    ),
    new TransactionInstruction({ programId: memoProgram, keys: [], data: Buffer.from(memo) }),
  ]
}

function proofOf({ signature, bytes, secret }: Payment, form: Form): string {
  switch (form) {
    case 'signature':
      return base64(signature)
    case 'raw':
      return base64(bytes.subarray(1, 65))
    case 'transaction':
      return base64(bytes)
    case 'boundSignature':
      return base64(JSON.stringify({ signature, secret }))
    case 'boundTransaction':
      return base64(JSON.stringify({ transaction: base64(bytes), secret }))
    default:
      throw new Error('unknown form')
  }
}

function base64(data: string | Uint8Array): string {
  return Buffer.from(data).toString('base64')
}

async function untilConfirmed(connection: Connection, signature: string): Promise<void> {
  await awaitThat(`${signature} is confirmed`, async () => {
    const { value } = await connection.getSignatureStatuses([signature])
    if ((value[0]?.err ?? null) !== null) throw new Error(`the payment failed: ${JSON.stringify(value[0]?.err)}`)
    return value[0]?.confirmationStatus === 'confirmed' || value[0]?.confirmationStatus === 'finalized'
  })
}

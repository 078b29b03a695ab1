import { readSecretKey, type SecretKey } from './solana/keypair.ts'
import { signTransaction } from './solana/transaction.ts'

/** Wallet of the payer: a keypair, or another signer. The paying fetch needs no access to its key. */
export interface PayerWallet {
  readonly address: string
  /**
   * Returns the serialized transaction with the wallet's signature. The call may last until the quote expires, which
   * gives a person time to approve it.
   */
  signTransaction(transaction: Uint8Array): Promise<Uint8Array>
}

/**
 * Creates a wallet from a secret key of 64 bytes, or from a `Keypair` of @solana/web3.js.
 *
 * @example
 *   import { keypairWallet } from '@tollbook/client'
 *
 *   const secretKey = Uint8Array.from(JSON.parse(process.env['PAYER_KEY'] ?? '[]'))
 *   console.log(keypairWallet(secretKey).address)
 */
export function keypairWallet(key: SecretKey): PayerWallet {
  const keypair = readSecretKey(key)
  return {
    address: keypair.address,
    signTransaction: async (transaction) => signTransaction(transaction, [keypair]),
  }
}

import { readSecretKey, type SecretKey } from './solana/keypair.ts'
import { signTransaction } from './solana/transaction.ts'

/** The payer: a keypair, or a signer with an address that signs transactions. The key itself is never read. */
export interface PayerWallet {
  readonly address: string
  /**
   * Returns the serialized transaction with the wallet's signature. It may take as long as a quote is valid, so a
   * person can be asked.
   */
  signTransaction(transaction: Uint8Array): Promise<Uint8Array>
}

/**
 * A wallet from a secret key of 64 bytes, or from a `Keypair` of @solana/web3.js.
 *
 * @example
 *   ;```ts
 *   import { keypairWallet } from '@tollbook/client'
 *
 *   const secretKey = Uint8Array.from(JSON.parse(process.env['PAYER_KEY'] ?? '[]'))
 *   console.log(keypairWallet(secretKey).address)
 *   ```
 */
export function keypairWallet(key: SecretKey): PayerWallet {
  const keypair = readSecretKey(key)
  return {
    address: keypair.address,
    signTransaction: async (transaction) => signTransaction(transaction, [keypair]),
  }
}

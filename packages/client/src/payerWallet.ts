import type { Keypair, VersionedTransaction } from '@solana/web3.js'

/** Payer: a keypair, or any signer with an address that signs transactions. The key itself is never requested. */
export interface PayerWallet {
  readonly address: string
  /** Adds the wallet's signature. It may take as long as a quote lives, so a person can be asked. */
  signTransaction(transaction: VersionedTransaction): Promise<VersionedTransaction>
}

export function keypairWallet(keypair: Keypair): PayerWallet {
  return {
    address: keypair.publicKey.toBase58(),
    signTransaction: async (transaction) => {
      transaction.sign([keypair])
      return transaction
    },
  }
}

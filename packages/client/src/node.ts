export { openPaymentFolder, type PaymentFolder } from './paymentFolder.ts'
import { readKeypair } from './keypairFile.ts'
import { keypairWallet, type PayerWallet } from './payerWallet.ts'

/** A wallet from a keypair file of the Solana CLI. It reads a file, so it is not part of what a browser bundles. */
export async function readKeypairFile(path: string): Promise<PayerWallet> {
  return keypairWallet(await readKeypair(path))
}

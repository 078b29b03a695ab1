export { readBalance, type Balance, type BalanceQuestion } from './balance.ts'
export { openPaymentFolder, type PaymentFolder } from './paymentFolder.ts'
import { readKeypair } from './keypairFile.ts'
import { keypairWallet, type PayerWallet } from './payerWallet.ts'

/**
 * Creates a wallet from a keypair file of the Solana CLI. Not available in a browser, because it reads a file.
 *
 * @example
 *   import { readKeypairFile } from '@tollbook/client/node'
 *
 *   const wallet = await readKeypairFile('payer.json')
 *   console.log(wallet.address)
 */
export async function readKeypairFile(path: string): Promise<PayerWallet> {
  return keypairWallet(await readKeypair(path))
}

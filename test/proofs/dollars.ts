import '@tollbook/core/quietBindings'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { mppFetch } from '../support/mppClient.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openStockPurchases, type PurchaseOptions } from './stockPurchases.ts'

/*
 * The samples of the READMEs of `@x402/fetch` and `mppx`, with other addresses only, buy every product of local mode in
 * dollars, from two instances. The audit reads the burn that each sale owes.
 */

const options = proofCommand('clients', 'Stock clients with no option set buy every product of local mode in dollars.')
  .option('--rounds <n>', 'purchases of each product by each client', wholeNumber, 1)
  .option('--drop <n>', 'lose the answer to every Nth payment; 0: none', wholeNumber, 0)
  .parse()
  .opts<PurchaseOptions>()

await using purchases = await openStockPurchases(options)
const { wallet, rpcUrl } = purchases
const signer = await createKeyPairSignerFromBytes(wallet.secretKey)
const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }))
await purchases.prove(
  [
    {
      name: '@x402/fetch without options',
      receiptHeader: 'payment-response',
      mount: '/x402',
      repeats: false,
      fetch: wrapFetchWithPayment(fetch, client),
    },
    {
      name: 'mppx without options',
      receiptHeader: 'payment-receipt',
      mount: '',
      repeats: false,
      fetch: await mppFetch(wallet, { rpcUrl }),
    },
  ],
  () => purchases.paidInDollars(),
)

import '@tollbook/core/quietBindings'
import { mppFetch } from '../support/mppClient.ts'
import { repeatingFetch } from '../support/x402Service.ts'
import { validateByMppx } from './mppValidation.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openStockPurchases, type PurchaseOptions } from './stockPurchases.ts'

/*
 * The unmodified stock client of MPP buys every product of local mode from two instances. With `--drop N` a proxy loses
 * the answer to every Nth payment: the stock client alone pays again, and on a fetch that repeats a broken request it
 * does not.
 */

const options = proofCommand('mpp', 'The stock client of MPP buys every product of local mode, from two instances.')
  .option('--rounds <n>', 'purchases of each product by each client', wholeNumber, 3)
  .option('--drop <n>', 'lose the answer to every Nth payment; 0: none', wholeNumber, 2)
  .parse()
  .opts<PurchaseOptions>()

await using purchases = await openStockPurchases(options)
const { wallet, rpcUrl } = purchases
const stock = { name: 'mppx 0.11 with @solana/mpp 0.6', receiptHeader: 'payment-receipt', mount: '' }
const clients = [
  { ...stock, fetch: await mppFetch(wallet, { rpcUrl }), repeats: false },
  { ...stock, fetch: await mppFetch(wallet, { rpcUrl, inner: repeatingFetch }), repeats: true },
]
// Every product is on sale by then.
await purchases.prove(clients, () => validateByMppx(purchases.baseUrl, purchases.pageUrl))

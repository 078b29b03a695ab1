import '@tollbook/core/quietBindings'
import { repeatingFetch, stockFetch } from '../support/x402Service.ts'
import { earlierAxios, earlierFetch } from './earlierX402.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openStockPurchases, type PurchaseOptions } from './stockPurchases.ts'

/*
 * Unmodified stock clients of x402 buy every product of local mode from two instances. With `--drop N` a proxy loses
 * the answer to every Nth payment: a stock client alone pays again, and on a fetch that repeats a broken request it
 * does not.
 */

const options = proofCommand('x402', 'Stock clients of x402 buy every product of local mode, from two instances.')
  .option('--rounds <n>', 'purchases of each product by each client', wholeNumber, 3)
  .option('--drop <n>', 'lose the answer to every Nth payment; 0: none', wholeNumber, 2)
  .parse()
  .opts<PurchaseOptions>()

await using purchases = await openStockPurchases(options)
const { wallet, rpcUrl, tokenMint: asset } = purchases
const stock = { receiptHeader: 'payment-response', mount: '/x402', repeats: false }
const name = '@x402/fetch 2.27'
await purchases.prove([
  { ...stock, name, fetch: await stockFetch(wallet, { rpcUrl, asset }) },
  { ...stock, name, fetch: await stockFetch(wallet, { rpcUrl, asset, inner: repeatingFetch }), repeats: true },
  { ...stock, name: '@x402/fetch 2.10', fetch: await earlierFetch(wallet, rpcUrl) },
  { ...stock, name: '@x402/axios 2.11', fetch: await earlierAxios(wallet, rpcUrl) },
])

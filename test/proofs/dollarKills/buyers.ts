import { createKeyPairSignerFromBytes } from '@solana/kit'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { readReceiptHeader } from '@tollbook/client/receiptHeader'
import { quoteBody, receiptBody, saleBody } from '@tollbook/core/wire'
import { sampleDollarMint } from '../../../src/cli/local/provisionDollar.ts'
import { debitProof, newSessionKey, type OpenedTab, readOpenedTab } from '../../tabs/tabClient.ts'
import { mppFetch } from '../../support/mppClient.ts'
import { stockFetch } from '../../support/x402Service.ts'
import type { ProofEnvironment } from '../proofEnvironment.ts'
import type { Instances } from './instances.ts'

/** A receipt of one answer, and who bought it. */
export interface Sale {
  readonly buyer: string
  readonly receipt: z.infer<typeof saleBody>['receipt']
}

export interface Buyer {
  readonly name: string
  /** Undefined: not sold, and nothing was paid. A text says what went wrong. */
  buy(order: ProofOrder): Promise<Sale | string | undefined>
}

/** A product of this release, or a route of the file. */
export interface ProofOrder {
  readonly path: string
}

const host = 'http://instance'
const marked = { headers: { 'accept-payment': 'solana/charge' } }

/** Callers of three rails, in the token and in dollars, and of a tab in each. */
export async function openBuyers(
  environment: ProofEnvironment,
  instances: Instances,
): Promise<{ readonly buyers: readonly Buyer[]; readonly deposits: Readonly<Record<'token' | 'dollar', bigint>> }> {
  const { chain, demoWallet, env } = environment
  const rpcUrl = chain.rpcUrls.at(-1) ?? chain.rpcUrl
  const inner = instances.persistentFetch
  const signer = await createKeyPairSignerFromBytes(demoWallet.secretKey)
  const inDollars = wrapFetchWithPayment(
    inner,
    new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl })),
  )
  const inToken = await stockFetch(demoWallet, { rpcUrl, asset: env['TOKEN_MINT'] ?? '', inner })
  const byMpp = await mppFetch(demoWallet, { rpcUrl, inner })
  const inTokens = await openTab('tab', instances, ({ post, headers }) =>
    payNatively(environment, instances, { post, headers }),
  )
  // By default the client pays at most one dollar.
  const forDeposit = await stockFetch(demoWallet, { rpcUrl, asset: sampleDollarMint, inner })
  const byDollars = await openTab('tab in dollars', instances, ({ post, headers }) =>
    forDeposit(`${host}/x402/api/tabs`, { ...post, headers }),
  )
  const buyers: readonly Buyer[] = [
    // Only one: two clients of a wallet sign the same transaction for the same price at once.
    stockBuyer('x402 in dollars', instances, ({ path }) => inDollars(`${host}/x402${path}`)),
    stockBuyer('x402 in the token', instances, ({ path }) => inToken(`${host}/x402${path}`)),
    stockBuyer('mpp in what comes first', instances, ({ path }) => byMpp(`${host}${path}`, marked)),
    stockBuyer('mpp in what comes first, second', instances, ({ path }) => byMpp(`${host}${path}`, marked)),
    { name: 'native', buy: (order) => buyNatively(environment, instances, order) },
    inTokens.buyer,
    byDollars.buyer,
  ]
  return { buyers, deposits: { token: inTokens.depositBaseUnits, dollar: byDollars.depositBaseUnits } }
}

/** A stock client pays once; the fetch below it repeats the paid request. */
function stockBuyer(name: string, instances: Instances, send: (order: ProofOrder) => Promise<Response>): Buyer {
  return {
    name,
    async buy(order) {
      // A client refuses offers that it does not know, and an offer that has changed meanwhile is not signed.
      const response = await send(order).catch(() => undefined)
      return response === undefined || response.status === 402 ? undefined : saleOf(name, response, instances)
    },
  }
}

/** The receipt is left out of headers that would be too long. Its address is always there. */
async function saleOf(
  buyer: string,
  response: Response,
  { persistentFetch }: Instances,
): Promise<Sale | string | undefined> {
  const text = await response.text()
  // Dollars may be off for longer than a caller waits. The sums at the end show whether that was true.
  if (response.status === 503 && /nothing was (?:sent|charged)/.test(text)) return undefined
  if (response.status !== 200) return `${buyer}: ${response.status} ${text.slice(0, 300)}`
  const { data } = saleBody.safeParse(JSON.parse(text))
  if (data !== undefined) return { buyer, receipt: data.receipt }
  const inHeader = readReceiptHeader(response.headers)
  if (inHeader !== undefined) return { buyer, receipt: receiptBody.parse(inHeader) }
  const answer = await persistentFetch(`${host}${response.headers.get('receipt-location')}`)
  return { buyer, receipt: z.object({ data: receiptBody }).parse(await answer.json()).data }
}

const notFoundMax = 100
const refusal = z.object({ reason: z.string().optional() })

async function buyNatively(
  { payer }: ProofEnvironment,
  instances: Instances,
  { path }: ProofOrder,
): Promise<Sale | string | undefined> {
  const { persistentFetch } = instances
  const headers = { 'x-wallet-address': payer.address }
  const offer = await persistentFetch(`${host}${path}`, { headers })
  if (offer.status !== 402) return `native: an offer was answered ${offer.status}`
  const quote = quoteBody.parse(await offer.json())
  const payment = await payer.sign(quote, { bound: true })
  const sent = await payer.send(payment).then(
    () => true,
    () => false,
  )
  const proof = Buffer.from(JSON.stringify({ signature: payment.signature, secret: payment.secret })).toString('base64')
  for (let tries = 1; ; tries++) {
    const response = await persistentFetch(`${host}${path}`, { headers: { ...headers, 'x-payment-proof': proof } })
    if (response.status !== 402) return saleOf('native', response, instances)
    const { reason } = refusal.parse(await response.json())
    if (reason === 'not_found' && tries < notFoundMax) await systemClock.sleep(200)
    else return sent ? `native: a payment was refused as ${reason}` : undefined
  }
}

const depositUsd = 20
/** Longer than an outage. */
const debitMs = 240_000

interface DepositOrder {
  readonly post: { readonly method: string; readonly body: string }
  readonly headers: Readonly<Record<string, string>>
}

async function payNatively(
  { payer }: ProofEnvironment,
  { persistentFetch }: Instances,
  { post, headers }: DepositOrder,
): Promise<Response> {
  const withPayer = { ...headers, 'x-wallet-address': payer.address }
  const offer = await persistentFetch(`${host}/api/tabs`, { ...post, headers: withPayer })
  const proof = await payer.pay(quoteBody.parse(await offer.json()), 'boundSignature')
  return persistentFetch(`${host}/api/tabs`, { ...post, headers: { ...withPayer, 'x-payment-proof': proof } })
}

/** The names of buyers on a tab begin with `tab`. */
async function openTab(name: string, instances: Instances, pay: (order: DepositOrder) => Promise<Response>) {
  const key = newSessionKey()
  const body = JSON.stringify({ depositUsd, sessionKey: key.address })
  const opened = await pay({ post: { method: 'POST', body }, headers: { 'content-type': 'application/json' } })
  const tab: OpenedTab = { ...readOpenedTab(await opened.json()), key }
  let number = 0
  const buyer: Buyer = {
    name,
    async buy({ path }) {
      const validUntilMs = systemClock.nowMs() + debitMs
      const debit = debitProof(tab, { path }, { number: ++number, validUntilMs })
      const paid = { 'x-wallet-address': tab.wallet, 'x-payment-proof': debit }
      const response = await instances.persistentFetch(`${host}${path}`, { headers: paid })
      // A fast machine spends the tab before the end of the trouble, and dollars may be off until the debit expires.
      const isUnsold =
        response.status === 402 && /INSUFFICIENT_BALANCE|tab_debit_expired/.test(await response.clone().text())
      return isUnsold ? undefined : saleOf(name, response, instances)
    },
  }
  return { buyer, depositBaseUnits: BigInt(tab.depositBaseUnits) }
}

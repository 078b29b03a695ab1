import { readAddress } from '@tollbook/core/address'
import { Fault } from '@tollbook/core/fault'
import { isRefusal, type Refusal, refuse, refuseField } from '@tollbook/core/refusal'
import type { ListedPrice } from '@tollbook/core/quote'
import type { AcceptedDollar } from '../document/acceptedDollars.ts'
import { paymentPage, payMount, payPathOf } from '../document/paymentPage.ts'
import type { Seller } from '../product/seller.ts'
import type { Endpoint } from '../product/endpoint.ts'
import QRCode from 'qrcode'
import { type Answer, jsonAnswer, refusalStatuses } from '../paywall/answer.ts'
import type { Sales } from '../paywall/sales.ts'
import type { TokenNames } from '../pricing/tokenNames.ts'
import type { Product } from '../product/product.ts'
import { pageHeaders } from '../pages/pageHeaders.ts'
import type { FreeAction, FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { publicAnswer } from '../transport/publicAnswer.ts'
import type { ServiceAddress } from '../transport/serviceAddress.ts'
import { createStaticFile } from '../transport/staticFile.ts'
import { pathNotFound } from '../transport/transportError.ts'

/** Prepares payments for wallets that only sign a transaction and do not build it. */
export interface WalletPort {
  prepare(question: {
    readonly product: Product
    readonly account: string
    readonly digest: string
  }): Promise<{ readonly transaction: Uint8Array; readonly price: ListedPrice } | Refusal>
  find(digest: string): Promise<{ readonly signature: string; readonly wallet: string } | undefined>
  /** Sends tokens and SOL to a wallet. Returns a problem if the address is not a wallet. Absent outside local mode. */
  readonly fund?: (address: string) => Promise<string | undefined>
}

export interface PayRouteDeps {
  readonly endpoints: readonly Endpoint[]
  readonly sales: Pick<Sales, 'whyClosed' | 'whyNoQuotes'>
  readonly wallets: WalletPort
  readonly terms: { readonly mint: string; readonly network: string }
  readonly token: TokenNames
  readonly seller: Pick<Seller, 'name'>
  readonly dollars: readonly AcceptedDollar[]
  readonly address: Pick<ServiceAddress, 'urlFor'>
}

/** Creates the payment pages, and the routes that wallets use (Wallet Standard, Solana Pay). */
export function createPayRoutes(deps: PayRouteDeps) {
  const { wallets, token, seller, dollars } = deps
  // Give the product of deposits a page without a transaction, because that transaction pays the payment wallet. A
  // deposit must go to the wallet for tabs.
  const deposit = deps.endpoints.find(({ isDeposit }) => isDeposit === true)
  const endpoints = deps.endpoints.filter((endpoint) => endpoint !== deposit)
  const tabPage = deposit && payPathOf(deposit.path)
  const { mint, network } = deps.terms
  const hasTestWallet = wallets.fund !== undefined
  const page = (endpoint: Endpoint, at: string) =>
    createStaticFile(
      'text/html',
      paymentPage({ endpoint, at, token, sellerName: seller.name, mint, network, hasTestWallet, dollars, tabPage }),
    ).prepared
  const refusing = new Map(endpoints.map((endpoint) => [endpoint.path, page(endpoint, endpoint.path)]))
  const fund = wallets.fund
  const routes: readonly FreeRoute[] = [
    ...(deposit === undefined ? [] : [pageRoute(deposit, page(deposit, payPathOf(deposit.path)))]),
    ...endpoints.flatMap((endpoint) => productRoutes(deps, endpoint, page(endpoint, payPathOf(endpoint.path)))),
    { path: `${payMount}/payment/:digest`, serve: (request) => findPayment(deps, request) },
    ...(fund === undefined ? [] : [testWalletRoute(fund)]),
  ]
  return {
    routes,
    /** Returns the payment page for a person who opens the address of a product. */
    async paymentPage(path: string): Promise<FreeAnswer> {
      const prepared = refusing.get(path)
      if (prepared === undefined) return pathNotFound()
      // Forbid caches to store the answer, because it is about one payment.
      const { bytes } = await prepared()
      return { status: 402, headers: { ...pageHeaders, vary: 'accept', 'cache-control': 'no-store' }, body: bytes }
    },
  }
}

type Page = ReturnType<typeof createStaticFile>['prepared']

function productRoutes(deps: PayRouteDeps, endpoint: Endpoint, page: Page): readonly FreeRoute[] {
  return [
    pageRoute(endpoint, page),
    {
      path: `${payPathOf(endpoint.path)}/:digest`,
      serve: (request) => describePayment(deps, endpoint, request),
      post: (action) => preparePayment(deps, endpoint, action),
    },
  ]
}

function pageRoute({ path }: Endpoint, page: Page): FreeRoute {
  return { path: payPathOf(path), serve: async () => publicAnswer(await page(), pageHeaders) }
}

/** Answers a GET of Solana Pay: name and icon for a wallet, or with `?qr` the QR code for the page. */
async function describePayment(deps: PayRouteDeps, { path }: Endpoint, request: FreeRequest): Promise<FreeAnswer> {
  const { host, segment, query } = request
  const baseUrl = deps.address.urlFor(host)
  if (query !== 'qr') {
    const icon = `${baseUrl}/page/icon.svg`
    return jsonAnswer(200, JSON.stringify({ label: deps.seller.name, icon }))
  }
  if (!/^[A-Za-z0-9_-]{43}$/.test(segment)) return pathNotFound()
  const address = `solana:${baseUrl}${payMount}${path}/${segment}`
  const image = await QRCode.toString(address, { type: 'svg', width: qrPixels })
  const headers = { 'content-type': 'image/svg+xml', 'cache-control': 'private, max-age=600' }
  return { status: 200, headers, body: image }
}

const qrPixels = 256

/** Answers a POST of Solana Pay with the transaction that this account has to sign. */
async function preparePayment(deps: PayRouteDeps, endpoint: Endpoint, action: FreeAction): Promise<FreeAnswer> {
  const { sales, wallets } = deps
  const closed = sales.whyClosed() ?? endpoint.whyUnavailable() ?? sales.whyNoQuotes()
  if (closed !== undefined) return refused(refuse('ENDPOINT_UNAVAILABLE', closed, 5))
  const { account } = action.body
  // Check the address before the limits, which store it.
  if (typeof account !== 'string' || readAddress(account) === undefined)
    return refused(refuseField('account', 'must be the Solana address of the wallet'))
  const limited = action.limits.limitQuotes(account)
  if (limited !== undefined) return refused(limited)
  const prepared = await settled(wallets.prepare({ product: endpoint, account, digest: action.segment }))
  if (isRefusal(prepared)) return refused(prepared)
  const transaction = Buffer.from(prepared.transaction).toString('base64')
  return jsonAnswer(200, JSON.stringify({ transaction, message: endpoint.summary }))
}

/** Answers whether the payment of a page was sent, because the payer may have used a phone. */
async function findPayment({ wallets }: PayRouteDeps, { segment, limits }: FreeRequest): Promise<FreeAnswer> {
  const limited = limits.limitLookups()
  if (limited !== undefined) return refused(limited)
  const found = await settled(wallets.find(segment).then((payment) => payment ?? notYet))
  if (isRefusal(found)) return refused(found)
  return jsonAnswer(200, JSON.stringify({ success: true, data: found }))
}

const notYet = refuse('NO_DATA', 'the chain does not have this payment yet', 3)

async function settled<T extends object>(work: Promise<T | Refusal>): Promise<T | Refusal> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Fault && error.retryable)) throw error
    return refuse('ENDPOINT_UNAVAILABLE', 'the ledger or the chain did not answer; try again', 2)
  }
}

/** Creates a refusal that follows both the API and Solana Pay. Wallets of Solana Pay show `message`. */
function refused({ code, message, retryAfterSeconds }: Refusal): Answer {
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return jsonAnswer(refusalStatuses[code], JSON.stringify({ error: message, code, message }), retry)
}

function testWalletRoute(fund: NonNullable<WalletPort['fund']>): FreeRoute {
  return {
    path: `${payMount}/test-wallet/:address`,
    serve: () => Promise.resolve(pathNotFound()),
    async post({ segment }) {
      const problem = await fund(segment)
      if (problem !== undefined) return refused(refuse('INVALID_REQUEST', problem))
      return jsonAnswer(200, JSON.stringify({ success: true, data: { address: segment } }))
    },
  }
}

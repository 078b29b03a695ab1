import { z } from 'zod'
import { paymentPage } from '../../../src/document/paymentPage.ts'
import { products } from '../../support/builtinProducts.ts'
import { openReceiptFixture } from '../../client/support/testReceipt.ts'
import { type Answered, type Asked, type OpenPage, openPage } from './openPage.ts'

export const receipts = await openReceiptFixture()
export const receipt = await receipts.sign({})
export const { wallet, endpoint } = z.object({ wallet: z.string(), endpoint: z.string() }).parse(receipt)

function htmlOf(
  path: string,
  { hasTestWallet = false, parameters }: Pick<Service, 'hasTestWallet' | 'parameters'>,
): string {
  const product = products.find((each) => each.path === path)
  if (product === undefined) throw new Error(path)
  const facts = { whyUnavailable: () => undefined, suppliedBy: () => 'providers' as const, probes: [] }
  const sold = {
    ...product,
    ...facts,
    ...(parameters && { parameters }),
    read: () => ({ ok: false, issues: [] }) as const,
  }
  const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
  return paymentPage({
    sellerName: 'Acme',
    endpoint: sold,
    at: `/pay${path}`,
    token: { symbol: 'TOLL' },
    mint: 'Mint',
    network,
    hasTestWallet,
    dollars: [],
  })
}

export const sale = (sold: object = receipt): Answered => ({
  json: { success: true, data: { price: 1 }, receipt: sold, inclusionProof: '/api/ledger/inclusion/8' },
})
export const quote = (priced: string = endpoint): Answered => ({
  status: 402,
  json: { pricing: { endpoint: priced, requiredTokens: 20 }, burnInfo: { percentage: 30 } },
})

/** Answers of the service to the page. */
export interface Service {
  readonly path?: string
  readonly url?: string
  /** Answers to a request with a proof, in turn; the last one stays. */
  readonly answers?: readonly (Answered | 'lost')[]
  readonly quoted?: Answered
  readonly prepared?: Answered
  readonly stored?: object
  /** Product of the stored payment; this one by default. */
  readonly storedFor?: string
  /** Other content of `localStorage`. */
  readonly storage?: Readonly<Record<string, string>>
  readonly catalog?: readonly object[] | 'lost'
  readonly hasTestWallet?: boolean
  /** Instead of those of the product. */
  readonly parameters?: z.ZodType
  /** Answers to the request for tokens of the test wallet. */
  readonly funded?: () => Answered
  /** True if the connection breaks when the page reads the keys of receipts. */
  readonly keysAreLost?: () => boolean
  /** Answer to the question for the payment of a phone. */
  readonly found?: () => Answered
  /** Answer to the question for the receipt of a stream. */
  readonly streamReceipt?: () => Answered
}

interface Opened extends OpenPage {
  /** Waits that the page asked for. */
  readonly waitsMs: readonly number[]
  readonly proofs: () => readonly Asked[]
  readonly storedNow: () => string | null
}

export const signed = Uint8Array.from([9, 9, 9])

/** The payment page of a product, in a browser with a wallet; waits end at once. */
export async function openPayPage(service: Service = {}): Promise<Opened> {
  const { path = endpoint, answers = [sale()], quoted = quote(), stored } = service
  const { prepared = { json: { transaction: 'AQID' } } } = service
  const waitsMs: number[] = []
  const key = `tollbook payment ${path}`
  let presented = 0
  const page = await openPage({
    page: 'pay',
    html: htmlOf(path, service),
    url: service.url ?? `https://host/pay${path}`,
    answer(asked) {
      if (asked.path === '/api/catalog' && service.catalog === 'lost') throw new TypeError('Failed to fetch')
      if (asked.path === '/api/catalog')
        return { json: { data: { products: service.catalog ?? [{ path, requiredTokens: 20, available: true }] } } }
      if (asked.path === '/.well-known/jwks.json') {
        if (service.keysAreLost?.() === true) throw new TypeError('Failed to fetch')
        return { json: receipts.keys }
      }
      if (asked.path.startsWith('/api/receipts/'))
        return service.streamReceipt?.() ?? { json: { data: { receipt, inclusionProof: '/api/ledger/inclusion/8' } } }
      if (asked.path.startsWith('/pay/payment/'))
        return service.found?.() ?? { json: { data: { signature: 'sent', wallet } } }
      if (asked.path.startsWith('/pay/test-wallet/')) return service.funded?.() ?? { json: { success: true } }
      if (asked.path.startsWith('/pay/')) return prepared
      if (!asked.headers.has('x-payment-proof')) return quoted
      const answer = answers[Math.min(presented++, answers.length - 1)] ?? 'lost'
      if (answer === 'lost') throw new TypeError('Failed to fetch')
      return answer
    },
    before(window) {
      if (stored !== undefined)
        window.localStorage.setItem(
          service.storedFor === undefined ? key : `tollbook payment ${service.storedFor}`,
          JSON.stringify(stored),
        )
      for (const [name, text] of Object.entries(service.storage ?? {})) window.localStorage.setItem(name, text)
      // Waits end at once.
      const setTimeout = (work: () => void, ms: number) => {
        waitsMs.push(ms)
        queueMicrotask(work)
      }
      Object.assign(window, { setTimeout })
      register(window, {
        name: 'Test & Wallet',
        icon: 'data:image/svg+xml,',
        features: {
          'standard:connect': { connect: async () => ({ accounts: [{ address: 'other', features: [] }, account] }) },
          'solana:signTransaction': { supportedTransactionVersions: ['legacy', 0], signTransaction },
        },
      })
      register(window, { name: 'Old', icon: '', features: { 'standard:connect': {} } })
    },
  })
  const proofs = () => page.asked.filter(({ headers }) => headers.has('x-payment-proof'))
  const storedNow = () => {
    const { localStorage } = page.window
    const name = Object.keys(localStorage).find((each) => each.startsWith(key))
    return name === undefined ? null : localStorage.getItem(name)
  }
  return { ...page, waitsMs, proofs, storedNow }
}

export const account = { address: wallet, features: ['solana:signTransaction'] }
/** Input of the wallet's last signature. */
export const lastSigned: { input: unknown } = { input: undefined }
export const signTransaction = async (input: unknown) => {
  lastSigned.input = input
  return [{ signedTransaction: signed }]
}

/** A wallet announces itself when the page says that it is ready. */
function register(window: Parameters<NonNullable<Parameters<typeof openPage>[0]['before']>>[0], offered: object): void {
  window.addEventListener('wallet-standard:app-ready', (event) => {
    const { detail } = z
      .object({ detail: z.looseObject({ register: z.unknown() }) })
      .parse({ detail: Reflect.get(event, 'detail') })
    if (typeof detail.register === 'function') detail.register(offered)
  })
}

export const statusOf = (page: OpenPage) => page.textOf('#status')
export const paid = (page: OpenPage) => page.until('an answer', () => page.isShown('#answer'))
export const ended = (page: OpenPage) =>
  page.until('an end', () => page.window.document.querySelector('#status.problem') !== null)

import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { type QuoteBody, quoteBody } from '@tollbook/core/wire'

/** The request that buys a symbol. */
export interface Product {
  readonly path: string
  readonly init?: RequestInit
}

export interface Request {
  readonly baseUrl: string
  readonly wallet: string
  readonly symbol: string
  /** By default the counted endpoint. */
  readonly productOf?: (symbol: string) => Product
  readonly proof?: string
  readonly idempotencyKey?: string
  /** Ends a request that is not answered. */
  readonly signal?: AbortSignal
}

export interface Presented {
  readonly status: number
  readonly code: string | undefined
  readonly reason: string | undefined
  readonly replayed: boolean
  /** Text of `data` in a 200, as it was sent. */
  readonly data: string | undefined
  readonly retryAfterMs: number
}

const bodyShape = z.object({ code: z.string().optional(), reason: z.string().optional(), data: z.unknown().optional() })

const countedEndpoint = (symbol: string): Product => ({ path: `/api/data/crypto?symbol=${symbol}` })

/** One request with its proof. Rejects when the connection breaks. */
export async function present(request: Request): Promise<Presented> {
  const response = await send(request)
  const { code, reason, data } = bodyShape.parse(await response.json())
  return {
    status: response.status,
    code,
    reason,
    replayed: response.headers.get('idempotent-replay') === 'true',
    data: response.status === 200 ? JSON.stringify(data) : undefined,
    retryAfterMs: Number(response.headers.get('retry-after') ?? 0) * 1000,
  }
}

/** Rejects when the service makes no offer. */
export async function askQuote(request: Request): Promise<QuoteBody> {
  return quoteBody.parse(await (await fetchOffer(request)).json())
}

// A service whose payments wait for finality closes for a moment, and says when to ask again.
const quoteTriesMax = 60

/** Waits while the service makes no offer. */
export async function awaitQuote(request: Request): Promise<QuoteBody> {
  for (let tries = 1; ; tries++) {
    const response = await fetchOffer(request)
    const body: unknown = await response.json()
    if (response.status !== 503 || tries === quoteTriesMax) return quoteBody.parse(body)
    await systemClock.sleep(Number(response.headers.get('retry-after') ?? 1) * 1000)
  }
}

function fetchOffer({ proof: _proof, idempotencyKey: _key, ...request }: Request): Promise<Response> {
  return send(request)
}

function send({ baseUrl, wallet, symbol, productOf = countedEndpoint, ...rest }: Request): Promise<Response> {
  const { path, init = {} } = productOf(symbol)
  const headers = new Headers(init.headers)
  headers.set('x-wallet-address', wallet)
  if (rest.proof !== undefined) headers.set('x-payment-proof', rest.proof)
  if (rest.idempotencyKey !== undefined) headers.set('idempotency-key', rest.idempotencyKey)
  return fetch(`${baseUrl}${path}`, { ...init, headers, ...(rest.signal === undefined ? {} : { signal: rest.signal }) })
}

import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { type QuoteBody, quoteBody } from '@tollbook/core/wire'

export interface Request {
  readonly baseUrl: string
  readonly wallet: string
  readonly symbol: string
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
  /** Of a 200: `data`, as it was sent. */
  readonly data: string | undefined
  readonly retryAfterMs: number
}

const bodyShape = z.object({ code: z.string().optional(), reason: z.string().optional(), data: z.unknown().optional() })

/** One request for the counted endpoint. Rejects when the connection breaks. */
export async function present({ baseUrl, wallet, symbol, proof, idempotencyKey, signal }: Request): Promise<Presented> {
  const response = await fetch(`${baseUrl}/api/data/crypto?symbol=${symbol}`, {
    ...(signal === undefined ? {} : { signal }),
    headers: {
      'x-wallet-address': wallet,
      ...(proof === undefined ? {} : { 'x-payment-proof': proof }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
  })
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

function fetchOffer({ baseUrl, wallet, symbol, signal }: Request): Promise<Response> {
  return fetch(`${baseUrl}/api/data/crypto?symbol=${symbol}`, {
    ...(signal === undefined ? {} : { signal }),
    headers: { 'x-wallet-address': wallet },
  })
}

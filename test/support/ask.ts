import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { quoteBody, type QuoteBody, saleBody, type SaleBody } from '@tollbook/core/wire'
import type { TestService } from './testService.ts'

/** Address of the service, and the payer. */
export type Counter = Pick<TestService, 'baseUrl' | 'payer'>

export interface Order {
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Another wallet than the payer's. */
  readonly wallet?: string
  readonly proof?: string
  readonly idempotencyKey?: string
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

export const qrOrder: Order = { path: '/api/tools/qrcode', body: { data: 'hello' } }

/** One request of the service's payer. */
export async function ask(service: Counter, order: Order): Promise<Reply> {
  const headers: Record<string, string> = {
    'x-wallet-address': order.wallet ?? service.payer.address,
    ...order.headers,
  }
  if (order.proof !== undefined) headers['x-payment-proof'] = order.proof
  if (order.idempotencyKey !== undefined) headers['idempotency-key'] = order.idempotencyKey
  const post = order.body === undefined ? {} : { method: 'POST', body: JSON.stringify(order.body) }
  if (order.body !== undefined) headers['content-type'] = 'application/json'
  const response = await fetch(`${service.baseUrl}${order.path}`, { headers, ...post })
  const body = z.record(z.string(), z.unknown()).parse(JSON.parse(await response.text()))
  return { status: response.status, headers: response.headers, body }
}

export async function askForQuote(service: Counter, order: Order = qrOrder): Promise<QuoteBody> {
  const { status, body } = await ask(service, order)
  assert(status === 402, `${order.path} has a price: ${JSON.stringify(body)}`)
  return quoteBody.parse(body)
}

/** Asks, pays and asks again. */
export async function buy(service: Counter, order: Order = qrOrder): Promise<SaleBody> {
  const proof = await service.payer.pay(await askForQuote(service, order))
  const { status, body } = await ask(service, { ...order, proof })
  assert(status === 200, `${order.path} is sold: ${JSON.stringify(body)}`)
  return saleBody.parse(body)
}

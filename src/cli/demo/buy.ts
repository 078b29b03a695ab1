import { z } from 'zod'
import { purchase } from '@tollbook/client/command/purchase'
import { type PayOrder, readPayOrder } from '@tollbook/client/command/payOrder'
import { PaymentError, PaymentUnspent } from '@tollbook/client/paymentError'
import type { PaymentProgress } from '@tollbook/client/paymentProgress'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { errorBody, errorMessage } from '@tollbook/core/wire'
import { type DemoDeps, type DemoSpending, expectThat } from './demoDeps.ts'

/** The order is sent as a POST if it has a body, and as a GET otherwise. */
export interface DemoOrder {
  readonly target: string
  readonly body: object | undefined
}

const saleJson = z.object({
  data: z.unknown(),
  meta: z.object({ source: z.string().min(1), asOf: z.iso.datetime(), cached: z.boolean() }),
  receipt: z.object({ slot: z.int(), ledger: z.object({ position: z.int() }) }),
})

export type DemoSale = z.infer<typeof saleJson> & {
  readonly isSample: boolean
}

export type PurchaseOutcome =
  | { readonly kind: 'bought'; readonly sale: DemoSale; readonly spent: DemoSpending }
  /** The service refused the request before it gave a quote, so the request cost nothing. */
  | { readonly kind: 'not on sale'; readonly why: string }
  /** The payment was made, but nothing was delivered. The payment stays valid for this endpoint, so it counts as spent. */
  | { readonly kind: 'not delivered'; readonly why: string; readonly spent: DemoSpending }

/** Returns the order of a purchase, with the arguments that a user of `tollbook pay` would type. */
export function payOrderOf({ local }: DemoDeps, { target, body }: DemoOrder): Promise<PayOrder> {
  const json = body === undefined ? {} : { json: JSON.stringify(body) }
  const options = { 'max-usd': '0.10', form: 'bound', ...json }
  return readPayOrder(local, { method: body === undefined ? 'GET' : 'POST', path: target, options })
}

export interface DemoPurchase {
  readonly order: PayOrder
  readonly onEvent?: (event: PaymentProgress) => void
}

export function send({ order, onEvent = () => undefined }: DemoPurchase): ReturnType<typeof purchase> {
  // Make two attempts, which are enough for a short outage. The demo does not wait for a longer outage.
  return purchase(order, { interrupted: new AbortController().signal, retry: { attemptsMax: 2 }, onEvent })
}

export async function buy({ order, onEvent }: DemoPurchase, name: string): Promise<PurchaseOutcome> {
  let quoted: DemoSpending | undefined
  const spent = () => assertPresent(quoted, 'a payment was quoted')
  try {
    const { status, headers, body, verdict } = await send({
      order,
      onEvent(event) {
        if (event.kind === 'quoted')
          quoted = { burnBaseUnits: event.plan.quote.burnBaseUnits, transferBaseUnits: event.plan.sentBaseUnits }
        onEvent?.(event)
      },
    })
    // The service answers 503 before any quote if no provider of the product answers, so nothing was paid.
    if (status === 503) return { kind: 'not on sale', why: reasonOf(status, body) }
    if (status !== 200) throw new Fault(`${name}: ${reasonOf(status, body)}`, { retryable: false })
    expectThat(verdict?.valid === true, `the receipt is valid: ${verdict?.valid === false ? verdict.message : ''}`)
    const sale = { ...saleJson.parse(body), isSample: headers.get('x-sample-data') === 'true' }
    return { kind: 'bought', sale, spent: spent() }
  } catch (error) {
    if (error instanceof PaymentUnspent) {
      const { lastAnswer } = error
      return { kind: 'not delivered', why: reasonOf(lastAnswer?.status ?? 0, lastAnswer?.body), spent: spent() }
    }
    if (error instanceof PaymentError) throw new Fault(error.message, { cause: error, retryable: false })
    throw error
  }
}

function reasonOf(status: number, body: unknown): string {
  const { data } = errorBody.safeParse(body)
  return data === undefined ? `HTTP ${status}` : `${status} ${data.code}, ${errorMessage(data.error)}`
}

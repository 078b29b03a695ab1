import { z } from 'zod'
import { PaymentError, PaymentUnspent } from '@tollbook/client/paymentError'
import { readKeypairFile } from '@tollbook/client/node'
import { createPayingFetch } from '@tollbook/client/payingFetch'
import type { PendingPayment } from '@tollbook/client/pendingPayment'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { errorBody, errorText } from '@tollbook/core/wire'
import { type DemoDeps, rpcUrlOf, type DemoSpending, walletOf } from './demoDeps.ts'

/** One request of the demo. With a body it is a POST. */
export interface DemoOrder {
  /** The path, and the query of a GET. */
  readonly target: string
  readonly body: object | undefined
}

const saleJson = z.object({
  data: z.unknown(),
  meta: z.object({ source: z.string().min(1), asOf: z.iso.datetime(), cached: z.boolean() }),
  receipt: z.object({ signature: z.string(), slot: z.int(), ledger: z.object({ position: z.int() }).loose() }).loose(),
})

export type DemoSale = z.infer<typeof saleJson> & {
  /** The header `x-sample-data`. */
  readonly isSample: boolean
}

/** Outcome of one purchase of the demo. */
export type PurchaseOutcome =
  | { readonly kind: 'bought'; readonly sale: DemoSale; readonly payment: PendingPayment; readonly spent: DemoSpending }
  /** Refused before a quote, so it cost nothing. */
  | { readonly kind: 'not on sale'; readonly why: string }
  /** Paid and not delivered: the payment stays valid for this endpoint. */
  | { readonly kind: 'not delivered'; readonly why: string; readonly spent: DemoSpending }

const spendingLimit = { perRequest: { usd: '0.10' } }
// A second try covers a short outage. The demo does not wait for a longer one.
const retry = { attemptsMax: 2 }

/** Asks, pays the quote of the 402, and asks again. `onSigned` is called before the payment is sent. */
export async function buy(
  deps: DemoDeps,
  { target, body }: DemoOrder,
  onSigned: (payment: PendingPayment) => void = () => undefined,
): Promise<PurchaseOutcome> {
  const wallet = await readKeypairFile(walletOf(deps).keypairPath)
  let spent: DemoSpending | undefined
  let signed: PendingPayment | undefined
  const payingFetch = createPayingFetch({
    wallet,
    rpcUrl: rpcUrlOf(deps),
    expectedMint: deps.local.tokenMint,
    spendingLimit,
    retry,
    onEvent(event) {
      if (event.kind === 'quoted')
        spent = { burnBaseUnits: event.plan.quote.burnBaseUnits, transferBaseUnits: event.plan.sentBaseUnits }
      if (event.kind === 'signed') onSigned((signed = event.payment))
    },
  })
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
  const paid = () => assertPresent(spent, 'a payment was quoted')
  try {
    const response = await payingFetch(new URL(target, deps.local.baseUrl), init)
    if (response.status === 503) return { kind: 'not on sale', why: await reasonOf(response) }
    if (response.status !== 200) throw new Fault(`${target}: ${await reasonOf(response)}`, { retryable: false })
    const isSample = response.headers.get('x-sample-data') === 'true'
    const sale = { ...saleJson.parse(await response.json()), isSample }
    return { kind: 'bought', sale, payment: assertPresent(signed, 'a payment was signed'), spent: paid() }
  } catch (error) {
    if (error instanceof PaymentUnspent) return { kind: 'not delivered', why: whyOf(error), spent: paid() }
    if (error instanceof PaymentError) throw new Fault(error.message, { cause: error, retryable: false })
    throw error
  }
}

async function reasonOf(response: Response): Promise<string> {
  const { data } = errorBody.safeParse(await response.json())
  return data === undefined ? `HTTP ${response.status}` : errorText(data.error)
}

function whyOf({ lastAnswer, message }: PaymentUnspent): string {
  const { data } = errorBody.safeParse(lastAnswer?.body)
  return data === undefined ? message : `${lastAnswer?.status} ${data.code}, ${errorText(data.error)}`
}

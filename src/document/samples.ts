import type { Endpoint } from '../product/endpoint.ts'
import { type ProductOrder, requestOf } from '../product/productFacts.ts'
import { displayUsd } from '../pricing/priceList.ts'

export interface Samples {
  /** Command that requests the price. It runs unchanged and pays nothing. */
  readonly curl: string
  /** Command that pays at most the price and shows the answer. Undefined for a raw body, which `pay` cannot send. */
  readonly pay: string | undefined
}

export interface SampleService {
  readonly baseUrl: string
  readonly mint: string
}

// Wallet address in sample requests. A quote can be requested for any address, and the service has no key for this
// address.
export const someWallet = 'A49WZKxeih54nXzPtAez9tQmdAveq7jtxk1EtcW85seq'

export function samplesOf(endpoint: Endpoint, { baseUrl, mint }: SampleService): Samples {
  const { method, rawBody, example } = endpoint
  const priceUsd = displayUsd(endpoint)
  const { target, body } = requestOf(endpoint, example.order)
  const ask = `curl -si${method === 'GET' || (body !== undefined && method === 'POST') ? '' : ` -X ${method}`} '${baseUrl}${target}' -H 'x-wallet-address: ${someWallet}'`
  if (rawBody !== undefined)
    return { curl: `${ask} -H 'content-type: ${rawBody.contentTypes[0] ?? ''}' --data-binary @input`, pay: undefined }
  const pay = `npx tollbook pay ${method} '${target}'`
  const limits = `--base-url ${baseUrl} --mint ${mint} --max-usd ${priceUsd}`
  if (body === undefined) return { curl: ask, pay: `${pay} ${limits}` }
  const json = quotable(body)
  return { curl: `${ask} -H 'content-type: application/json' -d '${json}'`, pay: `${pay} --json '${json}' ${limits}` }
}

/** Writes JSON without single quotes, so that samples for a shell can put it in single quotes. */
export function quotable(value: ProductOrder): string {
  return JSON.stringify(value).replaceAll("'", String.raw`\u0027`)
}

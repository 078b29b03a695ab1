import type { Endpoint } from '../product/endpoint.ts'
import { requestOf } from '../product/productFacts.ts'
import { displayUsd } from '../pricing/priceList.ts'

export interface Samples {
  /** Command that requests the price. It runs unchanged and pays nothing. */
  readonly curl: string
  /** Command that pays at most the price and shows the answer. */
  readonly pay: string
}

// Address for sample quotes, because any address may request one. The service has no key for it.
export const someWallet = 'A49WZKxeih54nXzPtAez9tQmdAveq7jtxk1EtcW85seq'

/** Creates shell commands for the server at this address. */
export function samplesOf(endpoint: Endpoint, baseUrl: string): Samples {
  const { path, example } = endpoint
  const priceUsd = displayUsd(endpoint)
  const { target, body } = requestOf(endpoint, example.order)
  if (body === undefined) {
    return {
      curl: `curl -si '${baseUrl}${target}' -H 'x-wallet-address: ${someWallet}'`,
      pay: `npx tollbook pay GET '${target}' --base-url ${baseUrl} --max-usd ${priceUsd}`,
    }
  }
  const json = JSON.stringify(body)
  return {
    curl: `curl -si '${baseUrl}${path}' -H 'x-wallet-address: ${someWallet}' -H 'content-type: application/json' -d '${json}'`,
    pay: `npx tollbook pay POST ${path} --json '${json}' --base-url ${baseUrl} --max-usd ${priceUsd}`,
  }
}

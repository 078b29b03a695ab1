import type { Endpoint } from '../endpoints/endpoint.ts'
import { examples } from '../endpoints/examples.ts'
import { displayNumber } from '@tollbook/core/money'
import { priceList, usdDecimals } from '../pricing/priceList.ts'

export interface Samples {
  /** Asks for the price: anybody can run it, it pays nothing. */
  readonly curl: string
  /** Pays, within the price, and shows the answer. */
  readonly pay: string
}

// Any address may ask for a quote. This one has no key that we know of.
export const someWallet = 'A49WZKxeih54nXzPtAez9tQmdAveq7jtxk1EtcW85seq'

/** Lines for a shell, against the server at this address. */
export function samplesOf({ path, method }: Endpoint, baseUrl: string): Samples {
  const { parameters } = examples[path]
  const priceUsd = displayNumber(priceList[path], usdDecimals)
  if (method === 'GET') {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(parameters))
      query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
    const target = `${path}?${query.toString()}`
    return {
      curl: `curl -si '${baseUrl}${target}' -H 'x-wallet-address: ${someWallet}'`,
      pay: `npx tollbook pay GET '${target}' --base-url ${baseUrl} --max-usd ${priceUsd}`,
    }
  }
  const json = JSON.stringify(parameters)
  return {
    curl: `curl -si '${baseUrl}${path}' -H 'x-wallet-address: ${someWallet}' -H 'content-type: application/json' -d '${json}'`,
    pay: `npx tollbook pay POST ${path} --json '${json}' --base-url ${baseUrl} --max-usd ${priceUsd}`,
  }
}

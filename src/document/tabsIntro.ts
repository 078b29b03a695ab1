import type { Endpoint } from '../product/endpoint.ts'

const text =
  'A tab pays for many requests with one deposit: buy `POST /api/tabs`, sign each request with the session key instead of a transaction, and close the tab to get the rest back. Until then the operator holds the deposit.'

/** Returns an empty list if the service does not sell tabs, so that no document describes them. */
export function tabsIntro(endpoints: readonly Pick<Endpoint, 'isDeposit'>[]): readonly string[] {
  return endpoints.some(({ isDeposit }) => isDeposit === true) ? [text] : []
}

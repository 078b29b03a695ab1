import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { assertPresent } from '@tollbook/core/assert'
import type { JsonObject } from '../../src/document/jsonSchema.ts'
import { callPaidTool } from '../../src/mcp/callPaidTool.ts'
import type { PaidRequest } from '../../src/paywall/paidRequest.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import { scriptedEndpoint } from '../support/scriptedEndpoint.ts'

interface Call {
  readonly meta?: JsonObject
  /** The product at the path of the call. Default: the one that is called. */
  readonly sold?: Endpoint
}

/** Calls the tool of a GET product, and returns the request that is sold. */
async function requestOf(values: JsonObject, { meta = {}, sold }: Call = {}): Promise<PaidRequest> {
  const { endpoint } = scriptedEndpoint()
  const requests: PaidRequest[] = []
  const sell = (_endpoint: unknown, request: PaidRequest) => {
    requests.push(request)
    return Promise.resolve({ status: 503, headers: {}, body: '{"error":"closed"}' })
  }
  const facts = {
    requestId: 'request-1',
    limitQuotes: () => undefined,
    limitLookups: () => undefined,
    onClaimed: () => undefined,
  }
  const carrier = { header: () => undefined, facts, onPaid: () => undefined }
  const deps = { sales: { rails: [], sell }, log: silentLog, findSold: () => sold ?? endpoint }
  await callPaidTool(deps, endpoint, { call: { name: 'data_crypto', arguments: values, meta }, carrier })
  return assertPresent(requests[0], 'the call is sold')
}

const targetOf = async (values: JsonObject) => (await requestOf(values)).target

test('a debit of a tab over MCP signs the target that the same order has over HTTP', async () => {
  expect(await targetOf({ symbol: 'BTC & Co', limit: 3 })).toBe('/api/data/crypto?limit=3&symbol=BTC+%26+Co')
  expect(await targetOf({})).toBe('/api/data/crypto')
})

test('the idempotency key of a call is that of its request, and a path of another product is not sold', async () => {
  const keyed = await requestOf({}, { meta: { 'tollbook/idempotency-key': 'mine' } })
  expect([keyed.header('idempotency-key'), (await requestOf({})).header('idempotency-key')]).toEqual([
    'mine',
    undefined,
  ])
  // A key that is not text is not ignored, because the caller would repeat the call without it.
  const numbered = await requestOf({}, { meta: { 'tollbook/idempotency-key': 5 } })
  expect(numbered.header('idempotency-key')).toBe('5')
  const other = await requestOf({}, { sold: scriptedEndpoint().endpoint })
  expect(await other.readParameters()).toMatchObject({ status: 404 })
})

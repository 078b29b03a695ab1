import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { callPaidTool } from '../../src/mcp/callPaidTool.ts'
import type { PaidRequest } from '../../src/paywall/paidRequest.ts'
import { scriptedEndpoint } from '../support/scriptedEndpoint.ts'

/** Calls the tool of a GET product, and returns the target that a debit of a tab signs. */
async function targetOf(values: Readonly<Record<string, string | number>>): Promise<string> {
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
  const deps = { sales: { rails: [], sell }, log: silentLog, findSold: () => endpoint }
  await callPaidTool(deps, endpoint, { call: { name: 'data_crypto', arguments: values, meta: {} }, carrier })
  return requests.map(({ target }) => target).join()
}

test('a debit of a tab over MCP signs the target that the same order has over HTTP', async () => {
  expect(await targetOf({ symbol: 'BTC & Co', limit: 3 })).toBe('/api/data/crypto?limit=3&symbol=BTC+%26+Co')
  expect(await targetOf({})).toBe('/api/data/crypto')
})

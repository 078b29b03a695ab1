import type { ServerContext } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createConsent } from '@tollbook/agent/mcp/consent'

const url = 'https://api.example.com/one'
const agreement = { mint: 'mint', payTo: 'wallet', baseUnits: '7', usd: '0.07' }

/** A call that repeats what a person was asked, with the answer of the person. */
function contextOf(asked: string, pay: boolean): ServerContext {
  const inputResponses = { pay: { action: 'accept', content: { pay } } }
  const mcpReq = { requestState: () => ({ url: asked, agreement }), inputResponses }
  // The consent reads nothing else of a call.
  return { mcpReq } as unknown as ServerContext
}

test('the agreement of a person holds for the address that the person was asked about, and for no other', () => {
  const { agreedTo } = createConsent()
  expect(agreedTo(url, contextOf(url, true))).toEqual(agreement)
  expect(agreedTo(url, contextOf('https://api.example.com/two', true))).toBeUndefined()
  expect(agreedTo(url, contextOf(url, false))).toBeUndefined()
})

import { expect, test } from 'vitest'
import type { PaymentProgress } from '@tollbook/client'
import { cleanText } from '@tollbook/agent/mcp/serviceText'
import { answerResult } from '@tollbook/agent/mcp/toolResult'
import { readPolicy } from '@tollbook/agent/policy/policy'
import { costOf, type PurchaseCall, watchPurchase } from '@tollbook/agent/wallet/purchaseCall'
import type { FetchOrder } from '@tollbook/agent/walletWire'
import { utf8Bytes } from '@tollbook/core/bytes'

const mint = 'So11111111111111111111111111111111111111112'
const host = 'api.example.com'
const policy = (more: object = {}) =>
  readPolicy(
    JSON.stringify({
      rpcUrl: 'https://node.example.com',
      hosts: { [host]: {} },
      mints: { [mint]: { name: 'TOLL', usdPerToken: '0.001' } },
      ...more,
    }),
    'policy.json',
  )
const cent = 10n ** 16n

function callWith(order: Partial<FetchOrder>, more: object = {}): PurchaseCall {
  const asked: FetchOrder = { intent: 'pay', method: 'GET', url: `https://${host}/`, headers: [], ...order }
  return { order: asked, host, policy: policy(more), payment: undefined, debit: undefined }
}

/** An offer of one cent, by another protocol. */
const offered = (attoUsd = cent) => {
  const offer = { protocol: 'x402', mint, payTo: 'service' }
  return { kind: 'offered', isDeposit: false, plan: { offer, cost: { attoUsd, baseUnits: 10n } } } as PaymentProgress
}

const codeOf = (call: PurchaseCall, event: PaymentProgress) => {
  try {
    watchPurchase(call, event)
    return 'allowed'
  } catch (error) {
    return Object(error).refusal?.code ?? Object(error).name
  }
}

test('a call pays up to its own limit, and needs consent only above the sum of the owner', () => {
  expect(codeOf(callWith({ maxUsd: '0.01' }), offered())).toBe('allowed')
  expect(codeOf(callWith({ maxUsd: '0.009999' }), offered())).toBe('PRICE_TOO_HIGH')
  expect(codeOf(callWith({}, { confirmAboveUsd: '0.01' }), offered())).toBe('allowed')
  expect(codeOf(callWith({}, { confirmAboveUsd: '0.0099' }), offered())).toBe('CONFIRMATION_NEEDED')
  // The SDK refuses a price above the limit per request, so no person is asked.
  expect(codeOf(callWith({}, { confirmAboveUsd: '0.0099' }), offered(26n * cent))).toBe('allowed')
  expect(codeOf(callWith({ intent: 'quote' }), offered())).toBe('Quoted')
})

test.each([
  [{}, 'allowed'],
  [{ baseUnits: '11', usd: '0.02' }, 'allowed'],
  [{ baseUnits: '9' }, 'CONFIRMATION_NEEDED'],
  [{ usd: '0.009' }, 'CONFIRMATION_NEEDED'],
  [{ payTo: 'other' }, 'CONFIRMATION_NEEDED'],
  [{ mint: 'other' }, 'CONFIRMATION_NEEDED'],
])('a consent to %j permits an offer of at most its amounts, to its recipient', (change, expected) => {
  const agreed = { mint, payTo: 'service', baseUnits: '10', usd: '0.01', ...change }
  expect(codeOf(callWith({ agreed }, { confirmAboveUsd: '0.001' }), offered())).toBe(expected)
})

test('the cost of a call is that of its payment, and only a debit costs at most what the tab was asked for', () => {
  const debit = { attoUsd: 5n, baseUnits: 6n }
  const separate = { costAttoUsd: '7', costBaseUnits: '8' }
  const call = (payment: object) => ({ payment: payment as PurchaseCall['payment'], debit })
  expect(costOf(call({ ...separate, debit: { deposit: 'd', reference: 'r' } }))).toEqual(debit)
  // The tab could not pay, so the request was paid separately.
  expect(costOf(call(separate))).toEqual({ attoUsd: 7n, baseUnits: 8n })
})

test('a text that is cut says so, whatever its limit, and an answer of 4xx is an error', () => {
  expect(cleanText('x'.repeat(10), 4)).toBe('xxxx\n[cut after 4 of 10 characters]')
  expect(cleanText('x'.repeat(4), 4)).toBe('xxxx')
  const result = (status: number) =>
    answerResult(host, { kind: 'answer', status, headers: {}, bytes: utf8Bytes('{}'), payment: undefined }).isError
  expect([200, 302, 400, 404, 500].map(result)).toEqual([false, false, true, true, true])
})

import { decodePaymentResponseHeader } from '@x402/fetch'
import { Receipt } from 'mppx'
import { beforeAll, expect, test } from 'vitest'
import { createGate, chunksOf, streams } from '../../e2e/streamedAnswer.ts'
import { endRepeats } from '../../support/endRepeats.ts'
import { mppFetch, signForEveryRail } from '../../support/mppClient.ts'
import { scriptedEndpoint, withEndpoint } from '../../support/scriptedEndpoint.ts'
import { openX402Service, stockFetch, type X402Service } from '../../support/x402Service.ts'

/* Streamed answers that stock clients buy. The payment is settled before the first byte, so its headers come first. */

const scripted = scriptedEndpoint()
const { path } = scripted.order
let x402: X402Service

beforeAll(async () => {
  x402 = await openX402Service({ seams: { endpoints: withEndpoint(scripted) } })
})

function payerFetch(rail: 'x402' | 'mpp'): Promise<typeof fetch> {
  const { service, tokenMint: asset } = x402
  const { rpcUrl } = service.chain
  return rail === 'x402' ? stockFetch(service.demoWallet, { rpcUrl, asset }) : mppFetch(service.demoWallet, { rpcUrl })
}

/** The signature of the payment, by the header that clients of the rail read. */
function paidBy(rail: 'x402' | 'mpp', response: Response): string {
  if (rail === 'mpp') return Receipt.fromResponse(response).reference
  return decodePaymentResponseHeader(response.headers.get('payment-response') ?? '').transaction
}

test.each([
  ['x402', 'text/event-stream', 'data: one\n\n', 'data: two\n\n'],
  ['x402', 'application/x-ndjson', '{"n":1}\n', '{"n":2}\n'],
  ['mpp', 'text/event-stream', 'data: one\n\n', 'data: two\n\n'],
  ['mpp', 'text/csv', 'n\n1\n', '2\n'],
] as const)('a client of %s reads its receipt of %s before the answer ends', async (rail, mediaType, first, rest) => {
  const gate = createGate()
  scripted.script(
    streams(async function* () {
      yield* chunksOf(first)
      await gate.opened
      yield* chunksOf(rest)
    }, mediaType),
  )
  const pay = await payerFetch(rail)
  const mount = rail === 'x402' ? '/x402' : ''

  const response = await pay(`${x402.service.baseUrl}${mount}${path}`)
  const signature = paidBy(rail, response)
  gate.open()

  expect([response.status, response.headers.get('content-type')]).toEqual([200, mediaType])
  expect(await response.text()).toContain(first + rest)
  expect(response.headers.get('receipt-location')).toContain(signature)
})

test('a repeated stream has the headers of the first one', async () => {
  const { service } = x402
  const url = `${service.baseUrl}${path}`
  const offer = await fetch(url, { headers: { 'accept-payment': 'solana/charge' } })
  const { headers } = await signForEveryRail(service.demoWallet, service.chain.rpcUrl, offer)
  scripted.script(streams(() => chunksOf('n\n1\n'), 'text/csv'))
  for (const way of ['mpp', 'x402'] as const) {
    const first = await fetch(url, { headers: headers[way] })
    // A stream that is not read to its end is still being served.
    expect(await first.text()).toBe('n\n1\n')
    const repeat = await fetch(url, { headers: headers[way] })
    expect([await repeat.text(), repeat.headers.get('idempotent-replay')]).toEqual(['n\n1\n', 'true'])
    expect(paidBy(way, repeat)).toBe(paidBy(way, first))
  }
  await endRepeats(service.database.adminUrl)
  expect((await fetch(url, { headers: headers.x402 })).status).toBe(402)
})

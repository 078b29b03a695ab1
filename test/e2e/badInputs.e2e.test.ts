import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type BadInput, badInput, type RawReply, sendRaw } from '../support/rawRequest.ts'
import { ask, askForQuote } from '../support/ask.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import { requestCalls } from '../support/requestCalls.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const cases = z
  .array(badInput)
  .parse(JSON.parse(await readFile(new URL('../fixtures/badInputs.json', import.meta.url), 'utf8')))
const unpaid = cases.filter(
  ({ modes, fixture }) => (modes === undefined || modes.includes('noproof')) && fixture === undefined,
)

let service: TestService
let values: Record<string, string>
let port: number

beforeAll(async () => {
  service = await openTestService({ sale: { proofLookupWaitMs: 0 } })
  const { tokenMint, paymentWallet } = await askForQuote(service)
  values = { WALLET: service.payer.address, MINT: tokenMint, TREASURY: paymentWallet }
  port = Number(new URL(service.baseUrl).port)
})

/** If a product is unavailable, 503 ENDPOINT_UNAVAILABLE replaces the quote. */
function verdictOf(reply: RawReply, input: BadInput): string {
  const code = reply.body?.['code']
  const unavailable =
    reply.status === 503 && code === 'ENDPOINT_UNAVAILABLE' && !input.path.startsWith('/api/tools/qrcode')
  const status = unavailable ? 402 : reply.status
  if (!input.expectStatus.includes(status)) return `${reply.status} ${String(code)}`
  const codes = new Set([input.expectCode].flat())
  const anyCode = codes.has(null) || unavailable || input.method === 'HEAD'
  return anyCode || (typeof code === 'string' && codes.has(code)) ? 'as expected' : `${reply.status} ${String(code)}`
}

describe.each([...new Set(unpaid.map(({ group }) => group))])('bad input: %s', (group) => {
  test.each(unpaid.filter((input) => input.group === group).map((input) => [input.id, input.why, input] as const))(
    '%s %s',
    async (_id, _why, input) => {
      const reply = await sendRaw(port, input, values)
      expect(verdictOf(reply, input)).toBe('as expected')
      expect(reply.text).not.toMatch(/\bat \S+ \(|node_modules|node:internal/)
      const problems = z.array(z.object({ field: z.string().min(1), message: z.string().min(1) })).min(1)
      if (reply.body?.['code'] === 'INVALID_REQUEST' && input.group !== 'http') problems.parse(reply.body['details'])
    },
  )
})

describe('I9 a refusal for the request costs nothing', () => {
  test('no call to the chain, no event, no quote, no handler, over all cases that must be refused for free', async () => {
    const admin = new pg.Client({ connectionString: service.database.adminUrl })
    await admin.connect()
    const rows = async () =>
      (await admin.query('select (select seq from ledger.head) as seq, (select count(*) from ledger.quotes) as quotes'))
        .rows
    const free = unpaid.filter(
      ({ expectStatus, mustNot }) =>
        mustNot?.rpcCalls === 0 && expectStatus.every((status) => status >= 400 && status < 500 && status !== 402),
    )
    expect(free.length).toBeGreaterThan(300)
    service.chain.forgetRequestCounts()
    const before = await rows()
    for (const input of free)
      if (input.maxMs !== undefined || input.group === 'order') await sendRaw(port, input, values)
    expect(await rows()).toEqual(before)
    await admin.end()
    expect(requestCalls(service.chain)).toEqual([])
  })

  test('I33 the largest legal drawing does not keep others waiting: they are answered while it is drawn', async () => {
    const state = { isDrawing: false, hasAnswered: false }
    const artist = await openTestService({
      besides: service,
      seams: { endpoints: (inner) => inner.map((endpoint) => watched(endpoint, (runs) => (state.isDrawing = runs))) },
    })
    const order = { path: '/api/tools/qrcode', body: { data: 'x'.repeat(2_048), size: 2_048 } }
    const proof = await artist.payer.pay(await askForQuote(artist, order))
    let answeredMeanwhile = 0
    const drawing = ask(artist, { ...order, proof }).finally(() => (state.hasAnswered = true))
    // As often as it takes: the machine may be busy before the drawing begins.
    while (!state.hasAnswered) {
      await ask(artist, { path: '/livez' })
      if (state.isDrawing) answeredMeanwhile++
    }
    expect(await drawing).toMatchObject({ status: 200 })
    // A drawing on the event loop would let through none.
    expect(answeredMeanwhile).toBeGreaterThan(0)
  })
})

/** Tells when the handler of an endpoint runs. */
function watched(endpoint: Endpoint, tell: (runs: boolean) => void): Endpoint {
  return {
    ...endpoint,
    read(input) {
      const parameters = endpoint.read(input)
      if (!parameters.ok) return parameters
      return {
        ...parameters,
        deliver: (job) => {
          tell(true)
          return parameters.deliver(job).finally(() => tell(false))
        },
      }
    },
  }
}

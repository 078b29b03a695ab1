import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { quoteBody, saleBody } from '@tollbook/core/wire'
import { openChain } from '../../src/chain/openChain.ts'
import { postJson } from '../../src/outbound/postJson.ts'
import { silentLog } from '../../src/machine/log.ts'
import { ask, askForQuote, qrOrder, type Reply } from '../support/ask.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { createToyRail, toyProof } from './toyRail.ts'

/** The native rail alone, and an instance on the same ledger that also speaks the toy rail. */
let native: TestService
let service: TestService

beforeAll(async () => {
  native = await openTestService()
  const { tokenMint, paymentWallet } = await askForQuote(native)
  const { reader: chain, terms } = await openChain({
    rpcUrls: [native.chain.rpcUrl],
    tokenMint,
    paymentWallet,
    commitment: 'confirmed',
    postJson,
    log: silentLog,
  })
  const toy = createToyRail({ chain, terms })
  service = await openTestService({ besides: native, seams: { rails: (inner) => [toy, ...inner] } })
})

const marked = { 'accept-payment': 'toy' }

/** A request of a client that knows the toy rail alone: no wallet header. */
async function askToy(headers: Readonly<Record<string, string>>, path = qrOrder.path): Promise<Reply> {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(qrOrder.body),
  })
  const body = z.record(z.string(), z.unknown()).parse(await response.json())
  return { status: response.status, headers: response.headers, body }
}

async function toyOffer(): Promise<string> {
  const toyBody = z.object({ toy: z.object({ offer: z.string() }) })
  return toyBody.parse((await askToy(marked)).body).toy.offer
}

/** A landed payment of the price, and its signature. */
async function pay(bound = false): Promise<{ readonly signature: string; readonly proof: string }> {
  const payment = await service.payer.sign(await askForQuote(native), { bound })
  await service.payer.send(payment)
  return { signature: payment.signature, proof: Buffer.from(payment.signature).toString('base64') }
}

describe('the 402', () => {
  test('merges the challenges of both rails for a caller with a wallet', async () => {
    const reply = await ask(service, qrOrder)
    const body = quoteBody.parse(reply.body)
    expect(reply.status).toBe(402)
    expect(body.error).toMatch(
      /^payment required: 5 TOKEN \(mint \w+\); pay \d+ .* Toy; or burn \d+ and transfer \d+ .* x-payment-proof$/,
    )
    expect(reply.body['toy']).toMatchObject({ offer: body.quote.id })
    expect(reply.headers.get('www-authenticate')).toBe(`Toy offer="${body.quote.id}"`)
  })

  test.each([
    ['the marker of the toy rail', marked, qrOrder.path],
    ['the mount of the toy rail', {}, `/toy${qrOrder.path}`],
  ])('goes to a caller without a wallet who sends %s', async (_name, headers, path) => {
    const reply = await askToy(headers, path)
    expect(reply).toMatchObject({ status: 402, body: { code: 'PAYMENT_REQUIRED', pricing: { priceUSD: 0.005 } } })
    expect(reply.body).not.toHaveProperty('quote')
  })

  test('stays a 401 for a request without any marker', async () => {
    expect(await askToy({})).toMatchObject({ status: 401, body: { code: 'NO_WALLET' } })
    expect(await askToy({ 'x-payment-proof': 'AAAA' })).toMatchObject({ status: 401, body: { code: 'NO_WALLET' } })
  })
})

describe('a payment by the toy rail', () => {
  test('buys one answer for the payer that its proof names, and the receipt goes with its header', async () => {
    const { signature } = await pay()
    const proof = toyProof(await toyOffer(), service.payer.address, signature)
    const reply = await askToy(proof)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('toy-receipt')).toBe(signature)
    expect(saleBody.parse(reply.body).receipt).toMatchObject({ wallet: service.payer.address, signature })
    expect(await askToy(proof)).toMatchObject({ status: 402, body: { reason: 'already_used' } })
  })

  test.each([
    ['an unreadable proof', () => Promise.resolve({ authorization: 'Toy please' }), 400, 'INVALID_REQUEST'],
    ['a payment that is not there', () => absent(), 402, 'INVALID_PAYMENT'],
  ])('with %s is refused in the words of the rail', async (_name, headers, status, code) => {
    expect(await askToy(await headers())).toMatchObject({ status, body: { code } })
  })

  async function absent() {
    const { signature } = await service.payer.sign(await askForQuote(native))
    return toyProof(await toyOffer(), service.payer.address, signature)
  }
})

/** Another instance may send the same answer again for a moment, until it knows that the answer was sent. */
const isReplay = (headers: Headers) => headers.get('idempotent-replay') === 'true'

describe('I1 one payment on two rails', () => {
  test('raced over both rails and both instances is served once', async () => {
    const { signature, proof } = await pay()
    const toy = toyProof(await toyOffer(), service.payer.address, signature)
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, index) => {
        if (index % 3 === 0) return ask(native, { ...qrOrder, proof })
        return index % 3 === 1 ? ask(service, { ...qrOrder, proof }) : askToy(toy)
      }),
    )
    const statuses = replies.map(({ status }) => status)
    expect(replies.filter(({ status, headers }) => status === 200 && !isReplay(headers))).toHaveLength(1)
    expect(statuses.filter((status) => ![200, 402, 409].includes(status))).toEqual([])
  })

  test.each(['native', 'toy'])('used on the rail %s is used on the other', async (first) => {
    const { signature, proof } = await pay()
    const byToy = askToy.bind(undefined, toyProof(await toyOffer(), service.payer.address, signature))
    const byNative = () => ask(native, { ...qrOrder, proof })
    const [one, other] = first === 'native' ? [byNative, byToy] : [byToy, byNative]
    expect((await one()).status).toBe(200)
    const again = await other()
    expect(again.status === 402 || isReplay(again.headers)).toBe(true)
    expect(await other()).toMatchObject({ status: 402, body: { reason: 'already_used' } })
  })

  test('bound to a native quote does not buy on the toy rail without its secret', async () => {
    const { signature } = await pay(true)
    const toy = toyProof(await toyOffer(), service.payer.address, signature)
    expect(await askToy(toy)).toMatchObject({ status: 402, body: { reason: 'secret_required' } })
  })
})

import { beforeAll, describe, expect, test } from 'vitest'
import { Receipt } from 'mppx'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { saleBody } from '@tollbook/core/wire'
import {
  movingNothing,
  openTamperingNode,
  resultReply,
  tamperedRecord,
  type TamperingNode,
} from '../../chain/tamperingNode.ts'
import { ask, qrOrder } from '../../support/ask.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { endRepeats } from '../../support/endRepeats.ts'
import { mppClient, mppFetch, signForEveryRail } from '../../support/mppClient.ts'
import { openTestService, type TestService } from '../../support/testService.ts'
import { openX402Service, type X402Service } from '../../support/x402Service.ts'
import { parseChallenge } from './mppFixture.ts'

let opened: X402Service

beforeAll(async () => {
  opened = await openX402Service()
})

const json = { 'content-type': 'application/json' }
const qr = { method: 'POST', headers: json, body: JSON.stringify(qrOrder.body) }
const announced = { ...json, 'accept-payment': 'solana/charge' }
const urlOf = (path: string) => `${opened.service.baseUrl}${path}`
const request = (headers: Readonly<Record<string, string>>) =>
  fetch(urlOf(qrOrder.path), { ...qr, headers: { ...json, ...headers } })
const challengeOf = ({ headers }: Response) => parseChallenge(headers.get('www-authenticate') ?? '')
const problem = z.object({ type: z.string(), title: z.string(), status: z.int(), detail: z.string(), code: z.string() })

async function sign() {
  const { service } = opened
  return signForEveryRail(service.demoWallet, service.chain.rpcUrl, await request(announced))
}

describe('the 402', () => {
  test('offers MPP and x402 to a caller who announces MPP and has no wallet header', async () => {
    const response = await request(announced)
    expect([response.status, response.headers.has('payment-required')]).toEqual([402, true])
    const challenge = challengeOf(response)
    expect(challenge).toMatchObject({ realm: '127.0.0.1', method: 'solana', intent: 'charge' })
    expect(challenge.digest).toMatch(/^sha-256=[A-Za-z0-9+/]{43}=$/)
    const charge = JSON.parse(Buffer.from(challenge.request, 'base64url').toString())
    expect(charge).toMatchObject({
      currency: opened.tokenMint,
      recipient: opened.paymentWallet,
      externalId: expect.stringMatching(/^tollbook:/),
      methodDetails: { network: 'localnet', feePayer: true, feePayerKey: opened.feePayer.publicKey.toBase58() },
    })
  })

  test('is an offer to a wallet whose Authorization names the scheme without a credential', async () => {
    const wallet = { 'x-wallet-address': opened.service.payer.address }
    const response = await request({ ...wallet, authorization: 'Payment M01XTXdKeTMzVDVlWHlkeVpEUWNCWTZ4' })
    expect(response.status).toBe(402)
    expect(await response.json()).toMatchObject({ code: 'PAYMENT_REQUIRED', quote: { memo: expect.any(String) } })
  })

  test.each(['', 'tempo/charge', 'solana/charge;q=0'])('is a 401 for Accept-Payment %j', async (preference) => {
    const response = await request(preference === '' ? {} : { 'accept-payment': preference })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, null])
  })

  test('adds problem details for a caller who asks for them', async () => {
    const response = await request({ ...announced, accept: 'application/problem+json, application/json' })
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(problem.parse(await response.json())).toMatchObject({
      type: 'https://paymentauth.org/problems/payment-required',
      status: 402,
      code: 'PAYMENT_REQUIRED',
    })
  })
})

describe('the stock client', () => {
  test('buys without any header of ours', async () => {
    const { service } = opened
    const payingFetch = await mppFetch(service.demoWallet, { rpcUrl: service.chain.rpcUrl })
    const response = await payingFetch(urlOf(qrOrder.path), qr)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const { receipt } = saleBody.parse(JSON.parse(text))
    expect(receipt).toMatchObject({ wallet: service.payer.address, burned: '0', quoteId: null })
    expect(receipt.burnOwed).toMatch(/^[1-9]/)
    expect(Receipt.fromResponse(response)).toMatchObject({ method: 'solana', reference: receipt.signature })
  })

  test('reads the fresh challenge and the problem of a refused credential', async () => {
    const { service } = opened
    const { headers } = await sign()
    const authorization = headers.mpp.authorization.slice(0, -4)
    const refused = await request({ authorization, accept: 'application/problem+json' })
    expect(refused.status).toBe(402)
    expect(problem.parse(await refused.clone().json()).type).toBe(
      'https://paymentauth.org/problems/malformed-credential',
    )
    const client = await mppClient(service.demoWallet, { rpcUrl: service.chain.rpcUrl })
    expect((await request({ authorization: await client.createCredential(refused) })).status).toBe(200)
  })
})

describe('I1 one payment', () => {
  test('raced by MPP, x402 and the native rail is served once', async () => {
    const { headers, secret, transaction } = await sign()
    const ways = [headers.mpp, headers.x402]
    const racers = Array.from({ length: 12 }, (_, nth) => request(ways[nth % ways.length] ?? {}))
    const proof = Buffer.from(JSON.stringify({ transaction, secret })).toString('base64')
    const unsigned = await ask(opened.native, { ...qrOrder, proof })
    expect(unsigned.status).toBe(402)
    const answers = await Promise.all(racers)
    const sold = answers.filter((each) => each.status === 200 && !each.headers.has('idempotent-replay'))
    expect(sold).toHaveLength(1)
    expect(answers.filter(({ status }) => ![200, 402, 409].includes(status))).toEqual([])
    const refused = answers.filter(({ status }) => status === 402).map((each) => each.clone().json())
    for (const body of await Promise.all(refused)) expect(body).not.toHaveProperty('reason', 'malformed_payload')
    // A retryable answer must not carry an offer: a stock client would pay again.
    for (const { status, headers: sent } of answers) if (status === 409) expect(sent.get('www-authenticate')).toBeNull()
    const { receipt } = saleBody.parse(await assertPresent(sold[0], 'one is served').json())
    const landed = Buffer.from(JSON.stringify({ signature: receipt.signature, secret })).toString('base64')
    const byNative = await ask(opened.native, { ...qrOrder, proof: landed })
    expect(byNative.status === 402 || byNative.headers.has('idempotent-replay')).toBe(true)
  })

  test('presented again gets its answer for two minutes on each rail, and is then refused without a challenge', async () => {
    const { headers } = await sign()
    const first = saleBody.parse(await (await request(headers.mpp)).json())
    for (const way of [headers.mpp, headers.x402]) {
      const repeat = await request(way)
      expect([repeat.status, repeat.headers.get('idempotent-replay')]).toEqual([200, 'true'])
      expect(saleBody.parse(await repeat.json())).toEqual(first)
    }

    await endRepeats(opened.service.database.adminUrl)
    const again = await request(headers.mpp)
    expect(await again.clone().json()).toMatchObject({ reason: 'already_used' })
    expect([again.status, again.headers.get('www-authenticate')]).toEqual([402, null])
  })
})

describe('a landed payment of which one of two nodes says that it moved no tokens', () => {
  let liar: TamperingNode
  let honest: TamperingNode
  let service: TestService

  beforeAll(async () => {
    const { rpcUrl } = opened.service.chain
    liar = await openTamperingNode(rpcUrl)
    honest = await openTamperingNode(rpcUrl)
    const env = { ...opened.env, SOLANA_RPC_URLS: `${liar.url},${honest.url}` }
    service = await openTestService({ besides: opened.native, env })
    return () => Promise.all([liar.close(), honest.close()])
  })

  test.each(['mpp', 'x402'] as const)(
    'is pending on %s without an offer, and buys right after the lie (I8)',
    async (way) => {
      const { headers } = await sign()
      const present = () => fetch(`${service.baseUrl}${qrOrder.path}`, { ...qr, headers: { ...json, ...headers[way] } })
      liar.answer('getTransaction', tamperedRecord(movingNothing))
      // The liar is the first to find it.
      honest.answer('getSignatureStatuses', () => resultReply({ context: { slot: 1 }, value: [null] }))

      const lied = await present()
      for (const node of [liar, honest]) node.behave()

      expect([lied.status, await lied.json()]).toMatchObject([503, { code: 'PAYMENT_PENDING' }])
      for (const offer of ['payment-required', 'www-authenticate']) expect(lied.headers.get(offer)).toBeNull()
      expect((await present()).status).toBe(200)
    },
  )
})

test('an unreachable signer is an unknown outcome, never a new challenge', async () => {
  const { headers } = await sign()
  await opened.signer.close()
  // The payment before was served by another instance, which records within a quarter of a second that it has sent the
  // answer.
  const response = await awaitThat('no earlier payment is served', async () => {
    const reply = await request({ ...headers.mpp, accept: 'application/problem+json' })
    return reply.headers.has('idempotent-replay') ? undefined : reply
  })
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([503, null])
  expect(response.headers.get('retry-after')).not.toBeNull()
  expect(problem.parse(await response.json())).toMatchObject({ type: 'about:blank', code: 'PAYMENT_PENDING' })
})

import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ask, askForQuote, type Order } from '../support/ask.ts'
import { answersJson, answersText, openLoopbackServer } from '../support/loopbackServer.ts'
import { signForEveryRail } from '../support/mppClient.ts'
import { openX402Service, type X402Service } from '../support/x402Service.ts'
import { ledgerFindings } from '../support/ledgerFindings.ts'

/* A model with its own price is paid at that price, whichever way a payment is presented. */

const model = await openLoopbackServer(answersText(500, ''))
let x402: X402Service

beforeAll(async () => {
  const env = {
    AI_BASE_URL: `${model.url}/v1`,
    AI_MODEL: 'small,large',
    AI_MODEL_PRICES_USD: 'large=0.25:2048',
  }
  x402 = await openX402Service({ env })
})

beforeEach(() => {
  model.asked.length = 0
  const message = { role: 'assistant', content: 'Hi!' }
  model.script(answersJson(200, { choices: [{ message, finish_reason: 'stop' }] }))
})

const chat = (name?: string): Order => ({
  path: '/api/ai/chat',
  body: { message: 'hi', ...(name === undefined ? {} : { model: name }) },
})
const completions = (name: string): Order => ({
  path: '/v1/chat/completions',
  body: { model: name, messages: [{ role: 'user', content: 'hi' }] },
})
const modelsAsked = () => model.asked.map(({ body }) => z.object({ model: z.string() }).parse(JSON.parse(body)).model)
const reasonOf = async (order: Order, proof: string) => (await ask(x402.service, { ...order, proof })).body['reason']

describe('the price', () => {
  test('is that of the model, with the tokens that it pays for, in the 402 and in the price list', async () => {
    const { service } = x402
    expect((await askForQuote(service, chat())).pricing).toMatchObject({
      endpoint: '/api/ai/chat',
      priceUSD: 0.05,
      covers: { model: 'small', outputTokensMax: 1024 },
    })
    expect((await askForQuote(service, chat('small'))).pricing).toMatchObject({ endpoint: '/api/ai/chat' })
    expect((await askForQuote(service, chat('large'))).pricing).toMatchObject({
      endpoint: '/api/ai/chat#large',
      priceUSD: 0.25,
      covers: { model: 'large', outputTokensMax: 2048 },
    })
    const listed = z
      .object({ data: z.object({ products: z.array(z.looseObject({ path: z.string() })) }) })
      .parse(await (await fetch(`${service.baseUrl}/api/catalog`)).json())
    expect(listed.data.products.find(({ path }) => path === '/api/ai/chat')).toMatchObject({
      priceUSD: 0.05,
      models: [{ model: 'large', priceUSD: 0.25 }],
    })
  })

  test('buys the tokens of the model, and the receipt names the model', async () => {
    const order = chat('large')
    const proof = await x402.service.payer.pay(await askForQuote(x402.service, order), 'boundTransaction')
    const sale = await ask(x402.service, { ...order, proof })
    expect(sale).toMatchObject({ status: 200, body: { receipt: { endpoint: '/api/ai/chat#large' } } })
    expect(JSON.parse(model.asked[0]?.body ?? '')).toMatchObject({ model: 'large', max_tokens: 2048 })
  })
})

describe('a payment for a cheap model does not buy an expensive one', () => {
  test.each([
    ['signature', 'burn_insufficient'],
    ['boundSignature', 'quote_unknown'],
    ['transaction', 'burn_insufficient'],
    ['boundTransaction', 'quote_unknown'],
  ] as const)('as a %s', async (form, reason) => {
    const { service } = x402
    const proof = await service.payer.pay(await askForQuote(service, chat('small')), form)
    expect(await reasonOf(chat('large'), proof)).toBe(reason)
    expect(await reasonOf(completions('large'), proof)).toBe(reason)
    expect(modelsAsked()).toEqual([])
    expect((await ask(service, { ...chat(), proof })).status).toBe(200)
    expect(modelsAsked()).toEqual(['small'])
  })

  test('after the cheap one failed', async () => {
    const { service } = x402
    const proof = await service.payer.pay(await askForQuote(service, chat('small')))
    model.script(answersJson(400, {}))
    expect((await ask(service, { ...chat('small'), proof })).status).toBe(502)
    expect(await reasonOf(chat('large'), proof)).toBe('other_endpoint')
    expect(modelsAsked()).toEqual(['small'])
  })

  test('while a quote for the expensive one is open, and by the price of no other product', async () => {
    const { service } = x402
    const proof = await service.payer.pay(await askForQuote(service, completions('small')))
    await askForQuote(service, completions('large'))
    expect(await reasonOf(completions('large'), proof)).toBe('burn_insufficient')
    expect(modelsAsked()).toEqual([])
  })

  test('by x402 and MPP, whose next offer has the price of the model', async () => {
    const { service } = x402
    const url = `${service.baseUrl}/v1/chat/completions`
    const post = (name: string, headers: Readonly<Record<string, string>>) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(completions(name).body),
      })
    const offered = await post('small', { 'x-wallet-address': service.payer.address })
    const { headers } = await signForEveryRail(service.demoWallet, service.chain.rpcUrl, offered)
    const dear = await askForQuote(service, completions('large'))
    const refused = await post('large', headers.x402)
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 402,
      body: { reason: 'transfer_insufficient' },
    })
    const next = z
      .object({ accepts: z.array(z.object({ amount: z.string() })) })
      .parse(JSON.parse(Buffer.from(refused.headers.get('payment-required') ?? '', 'base64').toString()))
    expect(next.accepts[0]?.amount).toBe(dear.quote.requiredBaseUnits)
    expect(await (await post('large', headers.mpp)).json()).toMatchObject({ reason: 'challenge_invalid' })
    expect(modelsAsked()).toEqual([])
    expect((await post('small', headers.mpp)).status).toBe(200)
    expect(modelsAsked()).toEqual(['small'])
  })
})

test('a bound payment for an expensive model buys nothing else', async () => {
  const { service } = x402
  const proof = await service.payer.pay(await askForQuote(service, chat('large')), 'boundTransaction')
  expect(await reasonOf(chat('small'), proof)).toBe('quote_unknown')
  expect((await ask(service, { ...chat('large'), proof })).status).toBe(200)
  expect(modelsAsked()).toEqual(['large'])
})

test('the audit knows the prices of the models', async () => {
  const findings = await ledgerFindings(x402.service.database.adminUrl)
  expect(findings).toEqual([])
})

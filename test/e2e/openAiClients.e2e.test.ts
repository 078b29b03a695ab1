import { beforeEach, describe, expect, test } from 'vitest'
import { ask, askForQuote, type Order } from '../support/ask.ts'
import { answersJson, answersText, openLoopbackServer, type Script } from '../support/loopbackServer.ts'
import { openTestService } from '../support/testService.ts'

/* Open WebUI, LibreChat and LiteLLM get a URL, and a key or headers. They list the models, send what they always send, and read errors. */

const model = await openLoopbackServer(answersText(500, ''))
const service = await openTestService({
  env: {
    AI_BASE_URL: `${model.url}/v1`,
    AI_MODEL: 'small,maker/large',
    AI_MODEL_PRICES_USD: 'maker/large=0.25',
    HANDLER_TIMEOUT_MS: '6000',
  },
})
const keyed = { authorization: 'Bearer sk-some-key' }
const messages = [{ role: 'user', content: 'hi' }]
const chat = (more: object = {}): Order => ({
  path: '/v1/chat/completions',
  body: { model: 'small', messages, ...more },
})

beforeEach(() => {
  model.asked.length = 0
  model.script(
    answersJson(200, { choices: [{ message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop' }] }),
  )
})

async function get(path: string) {
  const response = await fetch(`${service.baseUrl}${path}`, { headers: keyed })
  return { status: response.status, body: await response.json() }
}

describe('the list of models', () => {
  const entry = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'tollbook' })

  test('is free, with any key', async () => {
    const data = [entry('small'), entry('maker/large')]
    expect(await get('/v1/models')).toEqual({ status: 200, body: { object: 'list', data } })
  })

  test('has each model by its name, as clients write it', async () => {
    for (const name of ['maker/large', 'maker%2Flarge'])
      expect(await get(`/v1/models/${name}`)).toEqual({ status: 200, body: entry('maker/large') })
    expect(await get('/v1/models/huge')).toMatchObject({
      status: 404,
      body: {
        error: { message: expect.stringContaining('/v1/models'), type: 'invalid_request_error', code: 'NOT_FOUND' },
      },
    })
  })
})

describe('an error', () => {
  test('of a key that names no wallet is one of OpenAI', async () => {
    const response = await fetch(`${service.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...keyed, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'small', messages }),
    })
    expect([response.status, await response.json()]).toEqual([
      401,
      {
        code: 'NO_WALLET',
        error: { message: expect.any(String), type: 'authentication_error', param: null, code: 'NO_WALLET' },
      },
    ])
  })

  test('of a parameter names it', async () => {
    expect((await ask(service, chat({ temperature: 3 }))).body).toMatchObject({
      error: { type: 'invalid_request_error', param: 'temperature', code: 'INVALID_REQUEST' },
      details: [{ field: 'temperature' }],
    })
    expect(await get('/v1/chat/completions')).toMatchObject({
      status: 405,
      body: { error: { code: 'METHOD_NOT_ALLOWED' } },
    })
  })

  test('that asks for a payment has the offer, too', async () => {
    expect((await ask(service, chat())).body).toMatchObject({
      error: {
        message: expect.stringContaining('payment required'),
        type: 'payment_required',
        code: 'PAYMENT_REQUIRED',
      },
      code: 'PAYMENT_REQUIRED',
      pricing: { endpoint: '/v1/chat/completions' },
    })
  })

  test('of the product in our form stays as it is', async () => {
    const { body } = await ask(service, { path: '/api/ai/chat', body: { message: 'hi' } })
    expect(body['error']).toEqual(expect.stringContaining('payment required'))
  })
})

describe('a request with parameters that change nothing', () => {
  const requests: Record<string, object> = {
    'Open WebUI': { stream: false, max_tokens: null, stop: null, metadata: { chat_id: '1' }, user: 'u' },
    LibreChat: { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, user: '66a', n: 1 },
    LiteLLM: { tools: [], tool_choice: 'none', logit_bias: {}, logprobs: false, store: false, seed: null },
    'openai-python': {
      service_tier: 'auto',
      parallel_tool_calls: true,
      modalities: ['text'],
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b', refusal: null, annotations: [], audio: null, tool_calls: null },
        { role: 'user', content: 'c' },
      ],
    },
  }

  test.each(Object.entries(requests))(
    'as %s sends it is answered, and the model gets none of them',
    async (_who, more) => {
      const order = chat(more)
      const proof = await service.payer.pay(await askForQuote(service, order))
      expect(await ask(service, { ...order, proof })).toMatchObject({
        status: 200,
        body: { object: 'chat.completion' },
      })
      const sent = Object.keys(JSON.parse(model.asked[0]?.body ?? ''))
      expect(
        sent.filter((name) => !['model', 'messages', 'max_tokens', 'temperature', 'top_p'].includes(name)),
      ).toEqual([])
    },
  )

  test.each([
    ['a penalty', { presence_penalty: 0.5 }, 'presence_penalty'],
    ['a tool', { tools: [{ type: 'function' }] }, 'tools'],
    ['a tool that must be used', { tool_choice: 'required' }, 'tool_choice'],
    ['the probabilities', { logprobs: true }, 'logprobs'],
    ['a picture', { modalities: ['image'] }, 'modalities'],
    ['a parameter without a name', { whatever: 1 }, 'whatever'],
  ])('but with %s is refused before the price', async (_what, more, param) => {
    expect(await ask(service, chat(more))).toMatchObject({ status: 400, body: { error: { param } } })
  })
})

describe('a streamed chat that its model leaves unfinished', () => {
  const part = (delta: object, reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ delta, finish_reason: reason }] })}\n\n`
  const writes =
    (text: string, isWhole = true): Script =>
    (_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text)
      if (isWhole) response.end('data: [DONE]\n\n')
    }

  test.each([
    ['by silence', writes(part({ content: 'Hi' }), false)],
    ['by its content filter', writes(part({ content: 'Hi' }) + part({}, 'content_filter'))],
  ])('%s breaks, and the same payment buys the next', async (_how, script) => {
    const order = chat({ stream: true })
    const proof = await service.payer.pay(await askForQuote(service, order))
    const send = () =>
      fetch(`${service.baseUrl}${order.path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-wallet-address': service.payer.address,
          'x-payment-proof': proof,
        },
        body: JSON.stringify(order.body),
      })
    model.script(script)
    const broken = await send()
    expect(broken.status).toBe(200)
    await expect(broken.text()).rejects.toThrow()
    model.script(writes(part({ content: 'Hello' }) + part({}, 'stop')))
    const whole = await (await send()).text()
    expect(whole).toContain('"content":"Hello"')
    expect(whole).toContain('event: receipt')
  })
})

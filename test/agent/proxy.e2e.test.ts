import { readFile } from 'node:fs/promises'
import OpenAI from 'openai'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { connectWallet } from '@tollbook/agent/client/walletClient'
import { serveProxy } from '@tollbook/agent/proxy/serveProxy'
import { startWallet } from '@tollbook/agent/wallet/walletProcess'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { answersJson, answersText, openLoopbackServer } from '../support/loopbackServer.ts'
import { openTestService } from '../support/testService.ts'
import { makeAgentFolder, mintOf, writePolicy } from './support/agentFolder.ts'

/* The client library of OpenAI, unchanged, with the address of the proxy as its base URL and the proxy's key as its API key. */

const model = await openLoopbackServer(answersText(500, ''))
const service = await openTestService({ env: { AI_BASE_URL: `${model.url}/v1`, AI_MODEL: 'small' } })
const { host } = new URL(service.baseUrl)
const policy = async () => ({
  rpcUrl: service.chain.rpcUrl,
  hosts: { [host]: {} },
  mints: { [await mintOf(service.baseUrl)]: { name: 'TOLL', usdPerToken: '0.001' } },
})
const messages = [{ role: 'user' as const, content: 'hi' }]
let client: OpenAI
let proxyUrl: string
let wallet: ReturnType<typeof connectWallet>

beforeAll(async () => {
  const folder = await makeAgentFolder(service.demoWallet.secretKey, await policy())
  const started = await startWallet({ folder, report: (line) => expect(line).toBe('') })
  afterFile(started.close)
  wallet = connectWallet(folder, systemClock)
  const printed: string[] = []
  const proxy = await serveProxy({ folder, port: 0, report: () => undefined, write: (text) => void printed.push(text) })
  afterFile(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  proxyUrl = /http:\/\/127\.0\.0\.1:\d+/.exec(printed[0] ?? '')?.[0] ?? ''
  const apiKey = (await readFile(folder.proxyKey, 'utf8')).trim()
  client = new OpenAI({ baseURL: `${proxyUrl}/${host}/v1`, apiKey })
  unlisted = new OpenAI({ baseURL: `${proxyUrl}/127.0.0.1:1/v1`, apiKey })
  lower = () => policy().then((content) => writePolicy(folder, { ...content, limits: { perDayUsd: '0.01' } }))
})
let unlisted: OpenAI
let lower: () => Promise<void>

beforeEach(() => {
  const message = { role: 'assistant', content: 'Hi!' }
  model.script(answersJson(200, { choices: [{ message, finish_reason: 'stop' }] }))
})

test('the OpenAI library lists models and buys a whole chat and a streamed one', async () => {
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['small'])
  const whole = await client.chat.completions.create({ model: 'small', messages })
  expect(whole.choices[0]?.message.content).toBe('Hi!')
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const events = [
    chunk({ content: 'Hi ' }, null),
    chunk({ content: 'you!' }, null),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ]
  model.script(answersText(200, events.join(''), { 'content-type': 'text/event-stream' }))
  let text = ''
  for await (const part of await client.chat.completions.create({ model: 'small', messages, stream: true }))
    text += part.choices[0]?.delta.content ?? ''
  expect(text).toBe('Hi you!')
  // The library leaves at the last event, and the proxy reads on to the receipt.
  await awaitThat('the receipt is read', async () =>
    JSON.stringify(await wallet.read('/spending')).includes('"openPayments":0'),
  )
  expect(await wallet.read('/spending')).toMatchObject({ payments: 2, spentTodayUsd: '0.1' })
})

test('a host that is not listed, a web page and a spent limit are refused without a payment', async () => {
  await expect(unlisted.models.list()).rejects.toMatchObject({ status: 403, code: 'HOST_NOT_LISTED' })
  const page = await fetch(`${proxyUrl}/${host}/v1/models`, { headers: { origin: 'https://evil.example' } })
  expect(page.status).toBe(403)
  await lower()
  const refused = client.chat.completions.create({ model: 'small', messages })
  await expect(refused).rejects.toMatchObject({ status: 403, code: 'LIMIT_REACHED' })
  expect(await wallet.read('/spending')).toMatchObject({ payments: 2 })
})

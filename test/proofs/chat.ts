import '@tollbook/core/quietBindings'
import { execFile } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { readKeypairFile } from '@tollbook/client/node'
import { createPayingFetch } from '@tollbook/client/payingFetch'
import type { PendingPayment } from '@tollbook/client/pendingPayment'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { listen } from '@tollbook/localnet/httpServer'
import { openLocalService } from '../../src/cli/openLocalService.ts'
import { readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { proofCommand } from './proofCommand.ts'
import { noLimits } from './proofEnvironment.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The unmodified client library of OpenAI buys chats over HTTP, with its `fetch` replaced by the paying fetch. The
 * model's server is in this process and writes a token at each step, so the proof sees when each token arrives.
 */

const clientVersion = '7.55.0'
proofCommand('chat', `The client library openai@${clientVersion}, fetched from npm, buys chats.`).parse()

const wrong: string[] = []
const orderShape = z.object({ model: z.string(), stream: z.boolean().optional(), max_tokens: z.number() })
function expectThat(holds: boolean, expectation: string): void {
  say(`${holds ? 'holds' : 'FAILS'}: ${expectation}`)
  if (!holds) wrong.push(expectation)
}

await using opened = new AsyncDisposableStack()
const home = await makeTemporaryDirectory()
opened.defer(home.remove)

const model = await openModel()
const config = readConfig(
  {
    TOLLBOOK_HOME: home.path,
    PORT: '0',
    LOG_LEVEL: 'fatal',
    AI_BASE_URL: model.baseUrl,
    AI_MODEL: 'small,large',
    AI_MODEL_PRICES_USD: 'large=0.08:2',
    ...noLimits,
  },
  { sampleUpstreams: 'auto' },
)
const service = await openLocalService(config, { log: silentLog, onProgress: (step) => say(`starting ${step}`) })
opened.defer(() => service.close())
const { local } = service

const open = new Map<string, PendingPayment>()
const signed: string[] = []
const paidAttoUsd: (string | undefined)[] = []
// 0.08 dollars.
const largeAttoUsd = '80000000000000000'
const payingFetch = createPayingFetch({
  wallet: await readKeypairFile(assertPresent(local.demoWallet, 'local mode has a wallet').keypairPath),
  rpcUrl: assertPresent(local.rpcUrl, 'local mode has a chain'),
  expectedMint: local.tokenMint,
  spendingLimit: { perRequest: { usd: '0.10' } },
  store: {
    keep: (payment) => Promise.resolve(void open.set(payment.signature, payment)),
    close: ({ signature }) => Promise.resolve(void open.delete(signature)),
    pending: () => Promise.resolve([...open.values()]),
    spending: () => Promise.resolve([]),
  },
  onEvent(event) {
    if (event.kind !== 'signed') return
    signed.push(event.payment.signature)
    paidAttoUsd.push(event.payment.costAttoUsd)
  },
})

interface Order {
  readonly model: string
  readonly messages: readonly object[]
}
interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string }; readonly finish_reason: string }[]
}
interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string }; readonly finish_reason: string | null }[]
}
interface OpenAi {
  readonly models: { list(): Promise<{ readonly data: readonly { readonly id: string }[] }> }
  readonly chat: {
    readonly completions: {
      create(order: Order & { readonly stream: true }): Promise<AsyncIterable<Chunk>>
      create(order: Order): Promise<Completion>
    }
  }
}
const OpenAI = await installClient()
const client = new OpenAI({ baseURL: `${local.baseUrl}/v1`, apiKey: 'none', maxRetries: 0, fetch: payingFetch })
const messages = [{ role: 'user', content: 'Count.' }]
await expectPlainClient()
await awaitSale()

const whole = await client.chat.completions.create({ model: 'large', messages })
const [choice] = whole.choices
expectThat(choice?.message.content === '1 2', 'a whole completion of the chosen model is bought, cut at its limit')
expectThat(choice?.finish_reason === 'length', 'the completion says that it was cut')
expectThat(paidAttoUsd.at(-1) === largeAttoUsd, 'the payment is of the price of the chosen model')
expectThat(model.asked.at(-1)?.model === 'large', 'the model of the request is asked')

const arrived: number[] = []
for await (const chunk of await client.chat.completions.create({ model: 'small', messages, stream: true })) {
  const content = chunk.choices[0]?.delta.content ?? ''
  if (content === '') continue
  arrived.push(model.written())
  model.step()
}
expectThat(arrived.join() === '1,2,3', `each token arrives before the next one is written (written: ${arrived.join()})`)
expectThat(open.size === 0 && signed.length === 2, 'each answer took one payment, and none is open')

model.breakNext()
let failure: unknown
try {
  for await (const chunk of await client.chat.completions.create({ model: 'small', messages, stream: true }))
    if ((chunk.choices[0]?.delta.content ?? '') !== '') model.step()
} catch (error) {
  failure = error
}
expectThat(failure !== undefined, `a model that breaks off breaks the stream: ${String(failure)}`)
expectThat(open.size === 1 && signed.length === 3, 'its payment is not closed')
await client.chat.completions.create({ model: 'large', messages })
expectThat(
  signed.length === 4 && open.size === 1 && paidAttoUsd.at(-1) === largeAttoUsd,
  'its payment does not buy the model that costs more: another one does',
)
const again: string[] = []
for await (const chunk of await client.chat.completions.create({ model: 'small', messages, stream: true })) {
  again.push(chunk.choices[0]?.delta.content ?? '')
  if (again.at(-1) !== '') model.step()
}
expectThat(again.join('') === '1 2 3', 'the same request again is answered whole')
expectThat(signed.length === 4 && open.size === 0, 'with the same payment: the broken stream released it')

const raw = await payingFetch(`${local.baseUrl}/v1/chat/completions`, {
  method: 'POST',
  body: JSON.stringify({ model: 'small', messages, stream: true, temperature: 0 }),
})
model.runFreely()
const events = (await raw.text()).split('\n\n').filter((event) => event !== '')
const last = events.at(-1) ?? ''
expectThat(events.at(-2) === 'data: [DONE]', 'the stream of OpenAI ends with [DONE]')
expectThat(last.startsWith('event: receipt\n') && last.includes(signed.at(-1) ?? '?'), 'the receipt comes with the end')
concludeProof({ holds: wrong.length === 0, lines: wrong })

/** A busy machine refuses unpaid work for a while after the start. */
/** With a URL and a key alone it lists the models, and reads why a chat is refused. */
async function expectPlainClient(): Promise<void> {
  const plain = new OpenAI({ baseURL: `${local.baseUrl}/v1`, apiKey: 'sk-any', maxRetries: 0, fetch })
  const { data } = await plain.models.list()
  const names = data.map(({ id }) => id).join()
  expectThat(names === 'small,large', `a client with any key lists the models: ${names}`)
  const refusal = await plain.chat.completions.create({ model: 'small', messages }).catch((error: unknown) => error)
  const { status, type, code, message } = Object(refusal)
  expectThat(
    status === 401 && type === 'authentication_error' && code === 'NO_WALLET',
    `it reads the refusal of a chat without a wallet: ${message}`,
  )
}

async function awaitSale(): Promise<void> {
  const triesMax = 60
  for (let tried = 1; tried <= triesMax; tried++) {
    const order = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages }),
    }
    const headers = { ...order.headers, 'x-wallet-address': assertPresent(local.demoWallet, 'a wallet').address }
    const { status } = await fetch(`${local.baseUrl}/v1/chat/completions`, { ...order, headers })
    if (status === 402) return
    await systemClock.sleep(1_000)
  }
}

/** The package of its publisher, in a temporary folder, because it is not a dependency of ours. */
async function installClient() {
  const folder = await makeTemporaryDirectory()
  opened.defer(folder.remove)
  say(`installing openai@${clientVersion}`)
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
  await promisify(execFile)('npm', ['install', '--prefix', folder.path, ...options, `openai@${clientVersion}`])
  const entry = pathToFileURL(join(folder.path, 'node_modules/openai/index.mjs')).href
  type Client = new (options: object) => OpenAi
  return z.object({ OpenAI: z.custom<Client>((value) => typeof value === 'function') }).parse(await import(entry))
    .OpenAI
}

/** A server of the OpenAI protocol that writes one token at each step. */
async function openModel() {
  const asked: { readonly model: string }[] = []
  let [written, isFree, breaks] = [0, false, false]
  let next = Promise.withResolvers<undefined>()
  const server = createServer((request, response) => {
    if (request.url === '/v1/models') response.end('{"object":"list","data":[]}')
    else void text(request).then((body) => answer(body, response))
  })
  async function answer(body: string, response: ServerResponse): Promise<void> {
    const order = orderShape.parse(JSON.parse(body))
    asked.push(order)
    if (order.stream !== true) {
      const content = ['1', ' 2', ' 3'].slice(0, order.max_tokens).join('')
      const choices = [
        { message: { role: 'assistant', content }, finish_reason: order.max_tokens < 3 ? 'length' : 'stop' },
      ]
      return void response.end(JSON.stringify({ model: order.model, choices }))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    written = 0
    for (const content of ['1', ' 2', ' 3']) {
      written++
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
      if (breaks && written === 2) {
        breaks = false
        return void response.destroy()
      }
      if (!isFree) await next.promise
      next = Promise.withResolvers<undefined>()
    }
    response.end(`data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`)
  }
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  opened.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  assert(port > 0, 'the model listens')
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    written: () => written,
    step: () => next.resolve(undefined),
    breakNext: () => void (breaks = true),
    runFreely() {
      isFree = true
      next.resolve(undefined)
    },
  }
}

import '@tollbook/core/quietBindings'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { z } from 'zod'
import { audit } from '@tollbook/audit/audit'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { listen } from '@tollbook/localnet/httpServer'
import { createService } from '../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import type { Order } from '../support/ask.ts'
import { behaviours, meteredModel } from '../tabs/meteredModel.ts'
import { debitProof, openTab } from '../tabs/tabClient.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { proofCommand } from './proofCommand.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * Chats on a tab over a model that reports no usage, wrong usage or impossible usage, breaks, is slow, ignores its
 * limit or writes another language, with callers who leave. For each chat this program computes the charge from the
 * bytes that the caller received and the published prices, without code of the service.
 */

const { chats: chatCount } = proofCommand('metered', 'Chats on a tab cost what was used.')
  .option('--chats <number>', 'number of chats', '500')
  .parse()
  .opts<{ chats: string }>()

// Dollars per million tokens are millionths of a dollar per token. A token of 6 decimals costs 0.001 dollars.
const [inputPrice, outputPrice, minimumMicroUsd, holdMicroUsd] = [10, 40, 100, 2_000]
const baseUnitsPerMicroUsd = 1_000
const tokensMax = 64
/** Answers that are charged by rows, and as many by bytes. */
const unitCount = 50

await using environment = await openEnvironment()
const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { method = '', url: path = '', headers } = request
    const count = Number(/^\/v1\/(?:rows|bytes)\?n=(\d+)$/.exec(path)?.[1] ?? '-1')
    if (count < 0) meteredModel({ method, path, headers, body }, response)
    else if (path.startsWith('/v1/rows'))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items: rowsOf(count) }))
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(count))
  })
})
const rowsOf = (count: number) => Array.from({ length: count }, (_, id) => ({ id }))
const modelPort = await listen(server, { port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'tollbook-metered-'))
const productsFile = join(folder, 'tollbook.yaml')
const [rowMicroUsd, byteMicroUsd, routeHoldMicroUsd] = [3, 2, 1_000]
await writeFile(
  productsFile,
  `version: 1
builtin: [chat]
upstreams: { model: { url: "http://127.0.0.1:${modelPort}/v1" } }
routes:
  - path: /llm/chat
    method: POST
    summary: Chat
    upstream: model
    to: /chat/completions
    price: { usd: "0.002", use: { input_per_million: ${inputPrice}, output_per_million: ${outputPrice}, minimum: "0.0001" } }
    parameters:
      required: [messages]
      properties:
        messages: { type: array, maxItems: 1, items: { type: object } }
        max_tokens: { type: integer, maximum: ${tokensMax} }
        stream: { type: boolean }
        stream_options: { type: object }
    example: { messages: [] }
    stream: passthrough
  - path: /llm/rows
    summary: Rows
    upstream: model
    to: /rows
    price: { usd: "0.001", use: { rows: /items, per_row: "0.000003", minimum: "0.0001" } }
    parameters: { required: [n], properties: { n: { type: integer, minimum: 0, maximum: 999 } } }
    example: { n: 1 }
  - path: /llm/bytes
    summary: Bytes
    upstream: model
    to: /bytes
    price: { usd: "0.001", use: { per_million_bytes: ${byteMicroUsd}, minimum: "0.0001" } }
    parameters: { required: [n], properties: { n: { type: integer, minimum: 0, maximum: 999 } } }
    example: { n: 1 }
    content_types: [text/plain]
`,
)
const config = readConfig({
  PRODUCTS_FILE: productsFile,
  ...environment.env,
  TAB_WALLET: environment.tabWallet.publicKey.toBase58(),
  TAB_MAX_USD: '100',
  TABS_TOTAL_MAX_USD: '1000000',
  AI_BASE_URL: `http://127.0.0.1:${modelPort}/v1`,
  AI_MODEL: 'small,large',
  AI_MODEL_PRICES_USD: `large=0.002:${tokensMax}`,
  AI_TOKEN_PRICES_USD: `large=${inputPrice}:${outputPrice}:0.0001`,
})
assert(isServiceConfig(config), 'the service is configured')
const service = await createService(config, { log: silentLog })
const baseUrl = `http://127.0.0.1:${service.port}`
const tab = await openTab({ baseUrl, payer: environment.payer }, { depositUsd: 20 })
const admin = new pg.Client({ connectionString: environment.database.adminUrl })
await admin.connect()

const usage = z.object({ input: z.number(), output: z.number(), isEstimated: z.boolean() })
const receiptShape = z.object({
  requiredBaseUnits: z.string(),
  tab: z.object({ number: z.string(), heldBaseUnits: z.string(), usage }),
})
const reported = z.object({ promptTokens: z.number().nullable(), completionTokens: z.number().nullable() })

interface Received {
  readonly status: number
  /** The receipt of an answer without an envelope. */
  readonly jws: string | null
  readonly text: string
  readonly isWhole: boolean
}

async function send(order: Order, number: number, leavesAfter = Number.POSITIVE_INFINITY): Promise<Received> {
  const proof = debitProof(tab, order, { number })
  const headers = { 'content-type': 'application/json', 'x-wallet-address': tab.wallet, 'x-payment-proof': proof }
  const stop = new AbortController()
  const post = order.body === undefined ? {} : { method: 'POST', body: JSON.stringify(order.body) }
  const init = { ...post, headers, signal: stop.signal }
  const response = await fetch(`${baseUrl}${order.path}`, init)
  let received = ''
  let isWhole = false
  try {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      received += decoder.decode(chunk, { stream: true })
      if (received.length > leavesAfter) break
    }
    isWhole = received.length <= leavesAfter
  } catch {
    // The service ends a stream that its provider broke.
  }
  stop.abort()
  return { status: response.status, jws: response.headers.get('tollbook-receipt'), text: received, isWhole }
}

/** Base units that left the tab for a number, once its attempt has ended. */
async function chargedFor(number: number): Promise<number> {
  for (;;) {
    const { rows } = await admin.query<{ state: string; charged: string }>(
      `select s.state, coalesce((select sum(-t.amount) from ledger.events e join ledger.entries t on t.seq = e.seq
         where e.stream = s.stream and t.account like 'Liabilities:Prepaid:%'), 0)::text as charged
       from ledger.streams s join ledger.events e on e.seq = s.stream
       where s.kind = 'tab_request' and convert_from(e.body, 'UTF8')::jsonb ->> 'number' = $1`,
      [String(number)],
    )
    const [row] = rows
    if (row === undefined) return 0
    if (row.state === 'captured' || row.state === 'released') return -Number(row.charged)
  }
}

const costOf = (input: number, output: number) =>
  Math.min(holdMicroUsd, Math.max(minimumMicroUsd, input * inputPrice + output * outputPrice)) * baseUnitsPerMicroUsd
const countOf = (written: string) => Math.ceil(Buffer.byteLength(written) / 4)

const receiptIn = (jws: string | null) =>
  receiptShape.safeParse(JSON.parse(Buffer.from(jws?.split('.')[1] ?? 'e30', 'base64url').toString())).data

const count = z.number().nullable()
const providerUsage = z
  .object({ prompt_tokens: count, completion_tokens: count })
  .transform((usage) => ({ promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens }))
const choice = z.object({
  message: z.object({ content: z.string() }).optional(),
  delta: z.object({ content: z.string().optional() }).optional(),
})
const completion = z.object({ choices: z.array(choice), usage: providerUsage.optional() })
const textOf = ({ choices }: z.infer<typeof completion>) =>
  choices.map(({ message, delta }) => message?.content ?? delta?.content ?? '').join('')

/** The same for the route of the file, whose answers are those of the provider. */
function readRoute({ text: received, jws }: Received, isStream: boolean) {
  const whole = isStream ? [] : [completion.parse(JSON.parse(received))]
  const events = eventsIn(received).flatMap((event) => completion.safeParse(event).data ?? [])
  const parts = isStream ? events : whole
  return {
    written: parts.map(textOf).join(''),
    said: parts.flatMap(({ usage }) => usage ?? [])[0],
    receipt: isStream
      ? eventsIn(received).flatMap((event) => z.object({ receipt: receiptShape }).safeParse(event).data ?? [])[0]
          ?.receipt
      : receiptIn(jws),
  }
}

function eventsIn(received: string): readonly unknown[] {
  const events = received.split('\n\n').flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
  return events.flatMap((event): unknown[] => {
    try {
      return [JSON.parse(event)]
    } catch {
      return []
    }
  })
}

/** The text, the reported usage and the receipt in the bytes of an answer. */
function read({ text: received }: Received, isStream: boolean) {
  if (!isStream) {
    const { data, receipt } = z
      .object({ data: z.object({ reply: z.string(), usage: reported }), receipt: receiptShape })
      .parse(JSON.parse(received))
    return { written: data.reply, said: data.usage, receipt }
  }
  const parsed = eventsIn(received)
  const find = <T>(shape: z.ZodType<T>) => parsed.flatMap((event) => shape.safeParse(event).data ?? [])
  return {
    written: find(z.object({ text: z.string() }))
      .map((event) => event.text)
      .join(''),
    said: find(z.object({ finishReason: z.string(), usage: reported }))[0]?.usage,
    receipt: find(z.object({ receipt: receiptShape }))[0]?.receipt,
  }
}

const wrong: string[] = []
const tally = { charged: 0, estimated: 0, left: 0, released: 0, units: 0, baseUnits: 0 }
for (let number = 1; number <= Number(chatCount); number++) {
  const behaviour = assertPresent(behaviours[number % behaviours.length], 'there are behaviours')
  const isStream = number % 3 !== 0
  const leavesAfter = isStream && number % 7 === 0 ? 30 + ((number * 37) % 500) : Number.POSITIVE_INFINITY
  const message = `${behaviour} ${'x'.repeat((number * 13) % 300)}`
  // Every second round of the behaviours uses a route of a file.
  const isRoute = Math.floor(number / behaviours.length) % 2 === 1
  const chat = { message, model: 'large', ...(isStream ? { stream: true } : {}) }
  const asked = isStream ? { stream: true, stream_options: { include_usage: true } } : {}
  const order = isRoute
    ? { path: '/llm/chat', body: { messages: [{ role: 'user', content: message }], ...asked } }
    : { path: '/api/ai/chat', body: chat }
  const received = await send(order, number, leavesAfter)
  const charged = await chargedFor(number)
  const name = `${number} ${behaviour}${isStream ? ', streamed' : ''}${isRoute ? ', by a route' : ''}`
  tally.baseUnits += charged
  if (charged > holdMicroUsd * baseUnitsPerMicroUsd) wrong.push(`${name}: ${charged} is more than the hold`)
  if (charged === 0) {
    tally.released++
    // A whole answer of a route cannot be cut, so it is not sold.
    const isTooLong = behaviour === 'over_the_limit' && isRoute && !isStream
    if (behaviour !== 'cut' && !isTooLong) wrong.push(`${name}: was delivered and not charged`)
    continue
  }
  if (behaviour === 'cut' && received.isWhole) {
    wrong.push(`${name}: broke, and was charged`)
    continue
  }
  tally.charged++
  const { written, said, receipt } = (isRoute ? readRoute : read)(received, isStream)
  const counted = { input: countOf(message) + 4, output: countOf(written) }
  // Tokens of output that the hold pays for.
  const most = Math.min(tokensMax, Math.floor((holdMicroUsd - counted.input * inputPrice) / outputPrice))
  if (!received.isWhole) {
    // More may have been on its way to the caller than arrived.
    tally.left++
    const byCount = costOf(counted.input, Math.min(counted.output, most))
    // The model may have ended, and reported 11 tokens of input and its words, while the caller left.
    const byReport =
      behaviour === 'no_tokens' ? costOf(0, 0) : costOf(11, Math.min(most, written.split(' ').length - 1))
    if (charged < Math.min(byCount, byReport)) wrong.push(`${name}: ${charged} is less than was received`)
    continue
  }
  if (receipt === undefined) {
    wrong.push(`${name}: charged without a receipt`)
    continue
  }
  const { input, output, isEstimated } = receipt.tab.usage
  if (charged !== costOf(input, output)) wrong.push(`${name}: ${charged} for ${input} and ${output} tokens`)
  if (receipt.requiredBaseUnits !== String(charged)) wrong.push(`${name}: the receipt has another charge`)
  if (isEstimated) {
    tally.estimated++
    if (input !== counted.input || output !== Math.min(counted.output, most))
      wrong.push(`${name}: counted ${input} and ${output}, not ${counted.input} and ${counted.output}`)
  } else {
    const [prompt, completion] = [said?.promptTokens ?? 0, said?.completionTokens ?? 0]
    if (input > prompt || output > completion) wrong.push(`${name}: more than the model reported`)
    if (prompt < 1_000 && (input !== prompt || output !== Math.min(completion, most)))
      wrong.push(`${name}: ${input} and ${output}, and the model reported ${prompt} and ${completion}`)
  }
}

for (let number = 1; number <= unitCount * 2; number++) {
  const n = (number * 97) % 1_000
  const isRows = number % 2 === 0
  const debit = Number(chatCount) + number
  const received = await send({ path: `/llm/${isRows ? 'rows' : 'bytes'}?n=${n}` }, debit)
  const charged = await chargedFor(debit)
  const units = isRows
    ? z.object({ items: z.array(z.unknown()) }).parse(JSON.parse(received.text)).items.length
    : Buffer.byteLength(received.text)
  const cost = units * (isRows ? rowMicroUsd : byteMicroUsd)
  const right = Math.min(routeHoldMicroUsd, Math.max(minimumMicroUsd, cost)) * baseUnitsPerMicroUsd
  tally.baseUnits += charged
  tally.units++
  const { output } = receiptIn(received.jws)?.tab.usage ?? {}
  if (charged !== right || output !== units)
    wrong.push(`${debit}: ${charged} for ${units} ${isRows ? 'rows' : 'bytes'}`)
}

const balance = await admin.query<{ balance: string }>(
  'select -balance as balance from ledger.accounts where name = $1',
  [`Liabilities:Prepaid:${tab.tab}`],
)
if (Number(tab.balanceBaseUnits) - tally.baseUnits !== Number(balance.rows[0]?.balance))
  wrong.push('deposit less charges is not the balance')
const report = await audit({
  source: { kind: 'database', url: environment.database.serviceUrl },
  verifierKeys: [],
  ownCheckpoints: [],
  transactions: true,
  chain: undefined,
  resumeFile: undefined,
  clock: systemClock,
})
for (const { code, subject, message } of report.findings) wrong.push(`audit: ${code} ${subject}: ${message}`)
say(
  `${tally.charged} chats charged, ${tally.estimated} of them by our count, ${tally.left} left, ${tally.released} not charged; ${tally.units} answers charged by rows and bytes`,
)
await admin.end()
await service.close()
await rm(folder, { recursive: true })
server.closeAllConnections()
server.close()
concludeProof({ holds: wrong.length === 0, lines: wrong })

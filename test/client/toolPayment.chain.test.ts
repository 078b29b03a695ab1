import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Keypair } from '@solana/web3.js'
import { beforeAll, expect, test } from 'vitest'
import { openPaymentFolder } from '@tollbook/client/node'
import { afterFile } from '../support/afterFile.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { toolResult } from '../support/toolResult.ts'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'
import { rejectionOf } from './support/payerScene.ts'
import { costBaseUnits, openSponsoredScene, type SponsoredScene } from './support/sponsoredScene.ts'
import { devnet, startSponsoredServer } from './support/sponsoredServer.ts'
import { openSponsoredTools, toolCall } from './support/sponsoredTools.ts'
import { openStockMppTools, openStockX402Tools } from './support/stockTools.ts'
import { createVirtualClock } from './support/virtualClock.ts'

/* Tools of MCP servers that are not Tollbook, paid by x402 and MPP. `sponsoredPayment.chain.test.ts` has their misdeeds. */

const amount = String(costBaseUnits)
let scene: SponsoredScene
beforeAll(async () => {
  scene = await openSponsoredScene()
})
const newFolder = async () => join(await makeScratchDirectory(), 'payments')

test.each([
  ['mppx', () => openStockMppTools(scene.token, scene.feePayer, amount)],
  ...(['structuredContent and text', 'text', '_meta'] as const).map(
    (place) =>
      [
        `@x402/core with its offer in ${place}`,
        () => openStockX402Tools(scene.token, scene.feePayer, { amount, place }),
      ] as const,
  ),
] as const)('a tool of %s is paid once and answers', async (_name, open) => {
  const { url } = await open()
  const folder = await newFolder()
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: scene.start(folder) }))
  afterFile(() => client.close())
  const { outcome, payments } = await scene.countPayments(() => client.callTool({ name: 'buy', arguments: {} }))
  expect(toolResult.parse(outcome)).toMatchObject({ isError: false, content: [{ text: 'bought' }] })
  expect([payments, await openPaymentFolder(folder).pending()]).toEqual([1n, []])
})

test.each(['x402', 'mpp'] as const)(
  'a call of %s whose answer was lost is finished in another session, with the same payment and the caller’s own headers',
  async (protocol) => {
    const server = await startSponsoredServer(scene.token, protocol, scene.feePayer)
    const { url, asked } = await openSponsoredTools(server.url)
    server.misdeeds = ['refuse']
    const folder = await newFolder()
    const call = (session: string, progressToken: number) =>
      scene.start(folder)(url, {
        ...toolCall({ progressToken, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(15)}${progressToken}-01` }),
        headers: { authorization: 'Bearer of the caller', 'mcp-session-id': session },
      })
    const { payments } = await scene.countPayments(async () => {
      expect(await rejectionOf(call('first', 1))).toMatchObject({ name: 'PaymentUnresolved' })
      const answer = await call('second', 2)
      expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: 7, result: { isError: false } })
    })
    expect([payments, new Set(server.payments).size]).toEqual([1n, 1])
    // The payment is in `_meta` alone.
    expect(asked.map(({ headers }) => [headers.authorization, headers['mcp-session-id']])).toEqual([
      ['Bearer of the caller', 'first'],
      ['Bearer of the caller', 'first'],
      ['Bearer of the caller', 'second'],
    ])
    expect(JSON.stringify(asked.map(({ headers }) => headers))).not.toContain(server.payments[0]?.slice(-64))
  },
)

test('another recipient after the payment gets nothing', async () => {
  const server = await startSponsoredServer(scene.token, 'x402', scene.feePayer)
  const { url } = await openSponsoredTools(server.url)
  server.misdeeds = ['ask again for ten times as much', 'refuse']
  const folder = await newFolder()
  const { payments } = await scene.countPayments(async () => {
    expect(await rejectionOf(scene.start(folder)(url, toolCall()))).toMatchObject({ name: 'PaymentUnresolved' })
    server.change = { payTo: Keypair.generate().publicKey.toBase58() }
    expect(await rejectionOf(scene.start(folder)(url, toolCall()))).toMatchObject({ name: 'PaymentUnresolved' })
    server.change = {}
    expect((await scene.start(folder)(url, toolCall())).status).toBe(200)
  })
  expect([payments, new Set(server.payments).size]).toEqual([1n, 1])
})

const x402Offer = (changes: readonly object[]) => ({
  x402Version: 2,
  resource: { url: 'mcp://tool/buy' },
  accepts: changes.map((change) => ({
    scheme: 'exact',
    network: devnet,
    amount,
    asset: scene.token.mint.toBase58(),
    payTo: scene.token.paymentWallet.toBase58(),
    maxTimeoutSeconds: 60,
    extra: { feePayer: scene.feePayer.publicKey.toBase58() },
    ...change,
  })),
})
const unpaid = (result: object) => answersJson(200, { jsonrpc: '2.0', id: 0, result })

test('of several offers the one in the expected mint is paid', async () => {
  const others = [{ network: 'eip155:8453' }, { asset: Keypair.generate().publicKey.toBase58(), amount: '1' }]
  const structuredContent = x402Offer([...others, {}])
  const { url, asked, script } = await openLoopbackServer(unpaid({ isError: true, content: [], structuredContent }))
  const settled = { 'x402/payment-response': { success: true } }
  const payingFetch = scene.start(await newFolder(), {
    onEvent: (event) => {
      if (event.kind === 'signed') script(unpaid({ content: [], _meta: settled }))
    },
  })
  expect((await payingFetch(url, toolCall())).status).toBe(200)
  expect(JSON.parse(asked.at(-1)?.body ?? '')).toMatchObject({
    params: { _meta: { 'x402/payment': { accepted: structuredContent.accepts[2] } } },
  })
})

test.each([
  ['in a result that is not an error', () => ({ content: [], structuredContent: x402Offer([{}]) })],
  [
    'of x402 version 1',
    () => ({ isError: true, content: [], structuredContent: { ...x402Offer([{}]), x402Version: 1 } }),
  ],
  ['on another chain', () => ({ isError: true, content: [], structuredContent: x402Offer([{ network: 'eip155:1' }]) })],
  ['without an entry', () => ({ isError: true, content: [], structuredContent: x402Offer([]) })],
  ['in an unknown error', () => ({ isError: true, content: [{ type: 'text', text: 'pay me: {"x402Version":2}' }] })],
])('an offer %s is returned as it came', async (_name, result) => {
  const { url, asked } = await openLoopbackServer(unpaid(result()))
  const answer = await scene.start(await newFolder())(url, toolCall())
  expect([answer.status, await answer.json(), asked.length]).toEqual([
    200,
    { jsonrpc: '2.0', id: 7, result: result() },
    1,
  ])
})

test('an offer of 100 kB is refused, and an answer that never ends is not read', async () => {
  const huge = x402Offer([{ description: 'x'.repeat(100_000) }])
  const { url, script } = await openLoopbackServer(unpaid({ isError: true, content: [], structuredContent: huge }))
  const refused = async () => rejectionOf(scene.start(await newFolder())(url, toolCall()))
  expect(await refused()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: false })
  script((_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const more = () => response.write(`data: ${'x'.repeat(1 << 20)}\n\n`, (error) => error ?? more())
    more()
  })
  expect(await refused()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
})

test('an error of JSON-RPC that the payer cannot pay reaches the client of MCP', async () => {
  const challenge = { id: '1', realm: 'x', method: 'tempo', intent: 'charge', request: { amount: '1' } }
  const error = { code: -32042, message: 'Payment Required', data: { httpStatus: 402, challenges: [challenge] } }
  const { url } = await openLoopbackServer(answersJson(200, { jsonrpc: '2.0', id: 0, error }))
  const clock = createVirtualClock()
  const answer = await scene.start(await newFolder(), { clock })(url, toolCall())
  expect([answer.status, await answer.json()]).toEqual([200, { jsonrpc: '2.0', id: 7, error }])
})

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { z } from 'zod'
import { createPayingFetch, keypairWallet } from '@tollbook/client'
import { openEnvironment, type ProofEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { openProxyService } from './gateway/proxyService.ts'
import { expectAnswer, openOurService } from './peer/ourService.ts'
import { measureIdle, measurePaidLoad, type PaidLoad, type PaidService, type Spent } from './peer/paidLoad.ts'
import { openStockService } from './peer/stockService.ts'
import { type Bench, median, type Yardstick } from './yardstick.ts'

const callers = 16
const idleSeconds = 5
/** The token is worth 100 dollars, so that the payer's tokens last. */
const tokenPriceUsd = '100'

type Name = 'route' | 'builtin' | 'proxy' | 'stock'
type Round = Readonly<Record<Name, PaidLoad>>

/** One API behind a route, `mppx/proxy` and stock x402, and the built-in QR code, in turns on one chain. */
export const gateway: Bench = {
  name: 'gateway',
  about: 'a paid request through a route of a file against a built-in product, mppx/proxy and stock x402',
  async run(options) {
    await using opened = new AsyncDisposableStack()
    const upstreamUrl = await openUpstream(opened)
    const environment = opened.use(await openEnvironment())
    const own = await openOwn(environment, upstreamUrl, opened)
    const proxy = await openProxyService(environment, { upstreamUrl, callers })
    opened.defer(() => proxy.stop())
    const stock = await openStockService(environment, upstreamUrl)
    opened.defer(() => stock.stop())
    const idle = await measureIdle(own.route, idleSeconds)
    const proxyIdle = await measureIdle(proxy, idleSeconds)
    const stockIdle = await measureIdle(stock, idleSeconds)

    const rounds: Round[] = []
    // The first round warms all of them up and is thrown away.
    for (let round = 0; round <= options.rounds; round++) {
      const measure = (service: PaidService, background: Spent) =>
        measurePaidLoad({ ...service, callers, seconds: options.roundSeconds, idle: background })
      rounds.push({
        route: await measure(own.route, idle),
        builtin: await measure(own.builtin, idle),
        proxy: await measure(proxy, proxyIdle),
        stock: await measure(stock, stockIdle),
      })
      options.progress(`gateway: round ${round} of ${options.rounds}`)
    }
    return compare(rounds.slice(1))
  },
}

/** The API: a small JSON answer from another process's point of view, and little work. */
async function openUpstream(opened: AsyncDisposableStack): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"ok":true,"name":"a1"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.defer(() => void server.close())
  return `http://127.0.0.1:${z.object({ port: z.int() }).parse(server.address()).port}`
}

/** Our service with one route and the QR code, both bought by our client in the form of a bound transaction. */
async function openOwn(environment: ProofEnvironment, upstreamUrl: string, opened: AsyncDisposableStack) {
  const file = join(environment.directory, 'tollbook.yaml')
  await writeFile(
    file,
    `version: 1
builtin: [qrcode]
upstreams: { acme: { url: "${upstreamUrl}", concurrency: 64 } }
routes: [{ path: /acme/item, summary: One item, upstream: acme, to: /items/a1, price: { usd: "0.005" } }]
`,
  )
  const env = { ...environment.env, TOKEN_PRICE_USD: tokenPriceUsd, PRODUCTS_FILE: file }
  const server = await spawnServer({ env, runsFile: `${environment.directory}/runs` })
  opened.defer(() => server.stop())
  const { spent } = opened.use(await openOurService(environment, server))
  const payingFetch = createPayingFetch({
    wallet: keypairWallet(environment.demoWallet),
    rpcUrl: environment.chain.rpcUrl,
    expectedMint: environment.mint,
    spendingLimit: { perRequest: { usd: '1' } },
  })
  const order = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"data":"hello"}' }
  const route = async () => expectAnswer(await payingFetch(`${server.baseUrl}/acme/item`))
  const builtin = async () => expectAnswer(await payingFetch(`${server.baseUrl}/api/tools/qrcode`, order))
  return { route: { call: route, spent }, builtin: { call: builtin, spent } }
}

function compare(rounds: readonly Round[]): readonly Yardstick[] {
  const costMs = ({ each }: PaidLoad) => each.serverMs + each.databaseMs
  const of = (read: (round: Round) => number) => median(rounds.map(read))
  const detail = (other: Name) =>
    `${of(({ route }) => costMs(route)).toFixed(2)} ms (Node ${of(({ route }) => route.each.serverMs).toFixed(2)}) against ${of((round) => costMs(round[other])).toFixed(2)} ms, ${callers} callers`
  const against = (other: Name, what: string, atMost: number): Yardstick => ({
    what: `server processor time of a paid request through a route ÷ ${what}`,
    value: of((round) => costMs(round.route) / costMs(round[other])),
    goal: { atMost },
    detail: detail(other),
  })
  return [
    against('builtin', 'the built-in QR code', 1.15),
    against('proxy', 'the same API behind mppx/proxy, which stores nothing', 1),
    against('stock', 'the same API behind stock x402 (express), which stores nothing', 1),
  ]
}

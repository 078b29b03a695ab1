import { createServer } from 'node:http'
import { once } from 'node:events'
import { assertPresent } from '@tollbook/core/assert'
import { afterFile } from './afterFile.ts'

/** The three markets as one loopback server; they differ by path, and each speaks its own format. */
export interface MarketServers {
  /** The settings that send a service here. */
  readonly env: Readonly<Record<string, string>>
  /** Answer of one of them from now on. */
  say(market: MarketName, saying: Saying): void
  /** All three say the same price. */
  sayAll(price: string): void
  /** The price of one mint at each of them, in the order of `MarketName`. */
  sayOf(mint: string, prices: readonly [string, string, string]): void
  close(): void
  /** Requests so far, by path and query, with their headers. */
  readonly asked: readonly { readonly url: string; readonly headers: NodeJS.Dict<string | string[]> }[]
}

export type MarketName = 'jupiter' | 'dexscreener' | 'geckoterminal'

/** A price for whatever mint is asked for, or an answer word for word. */
export type Saying =
  | { readonly price: string; readonly liquidity?: number | null }
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }

const names = ['jupiter', 'dexscreener', 'geckoterminal'] as const satisfies readonly MarketName[]
const deep = 50_000

export async function openMarketServers(price = '0.001'): Promise<MarketServers> {
  const sayings = new Map<MarketName, Saying>(names.map((name) => [name, { price }]))
  const ofMints = new Map<string, ReadonlyMap<MarketName, Saying>>()
  const asked: { url: string; headers: NodeJS.Dict<string | string[]> }[] = []
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers })
    const url = new URL(request.url ?? '', 'http://market')
    const name = nameOf(url.pathname)
    const mint = url.searchParams.get('ids') ?? url.pathname.split('/').at(-1) ?? ''
    const saying = assertPresent(ofMints.get(mint)?.get(name) ?? sayings.get(name), 'each market says something')
    const { status, body, headers } = 'price' in saying ? spell(name, mint, saying) : saying
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  afterFile(close)
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  return {
    env: { TOKEN_PRICE_SOURCE: 'market', JUPITER_URL: url, DEXSCREENER_URL: url, GECKOTERMINAL_URL: url },
    asked,
    close,
    sayOf: (mint, said) =>
      void ofMints.set(mint, new Map(names.map((name, index) => [name, { price: said[index] ?? price }]))),
    say: (name, saying) => void sayings.set(name, saying),
    sayAll(said) {
      for (const name of names) sayings.set(name, { price: said })
    },
  }
}

function nameOf(path: string): MarketName {
  if (path.startsWith('/price/v3')) return 'jupiter'
  return path.startsWith('/tokens/v1/') ? 'dexscreener' : 'geckoterminal'
}

function spell(name: MarketName, mint: string, { price, liquidity = deep }: Extract<Saying, { price: string }>) {
  const usd = liquidity === null ? {} : { liquidity: name === 'dexscreener' ? { usd: liquidity } : liquidity }
  // Jupiter writes a bare number, so it is inserted unchanged.
  const body = {
    jupiter: () =>
      `{${JSON.stringify(mint)}:{"usdPrice":${price},"decimals":6,"blockId":1${liquidity === null ? '' : `,"liquidity":${liquidity}`}}}`,
    dexscreener: () =>
      JSON.stringify([{ chainId: 'solana', baseToken: { address: mint }, priceUsd: price, ...usd, txns: {} }]),
    geckoterminal: () => {
      const reserves = liquidity === null ? {} : { total_reserve_in_usd: { [mint]: String(liquidity) } }
      return JSON.stringify({ data: { attributes: { token_prices: { [mint]: price }, ...reserves } } })
    },
  }[name]()
  return { status: 200, body, headers: {} }
}

import { json, type SampleProvider } from './sampleProvider.ts'
import { decimalText, solUsd, type Token, tokenChangePercent, tokenPrice } from './tokens.ts'

/** `/tokens/v1/solana/{mints}`: a bare array of pools, including a thin one that a client should ignore. */
export function dexscreenerWith(tokens: readonly Token[]): SampleProvider {
  return ({ path, nowMs }) => {
    const [, mints] = /^\/tokens\/v1\/solana\/([^/]+)$/.exec(path) ?? []
    if (mints === undefined) return json({ error: 'Not Found' }, 404)
    const found = tokens.filter(({ mint }) => mints.split(',').includes(mint))
    return json(found.flatMap((token) => poolsOf(token, nowMs)))
  }
}

const bias = 0.002

function poolsOf(token: Token, nowMs: number) {
  const price = tokenPrice(token, nowMs, bias)
  const deep = { dexId: 'raydium', label: 'CPMM', price, liquidityUsd: token.liquidityUsd * 0.8 }
  const thin = { dexId: 'orca', label: 'wp', price: price * 1.2, liquidityUsd: 311 }
  return [deep, thin].map((pool) => poolOf(token, pool, tokenChangePercent(token, nowMs)))
}

interface Pool {
  readonly dexId: string
  readonly label: string
  readonly price: number
  readonly liquidityUsd: number
}

function poolOf(token: Token, { dexId, label, price, liquidityUsd }: Pool, changePercent: number) {
  const count = { buys: 10, sells: 9 }
  return {
    chainId: 'solana',
    dexId,
    url: `https://example.com/sample/${dexId}`,
    pairAddress: 'SamplePoo1111111111111111111111111111111111',
    labels: [label],
    baseToken: { address: token.mint, name: token.name, symbol: token.symbol },
    quoteToken: { address: 'So11111111111111111111111111111111111111112', name: 'Wrapped SOL', symbol: 'SOL' },
    priceNative: decimalText(price / solUsd),
    priceUsd: decimalText(price),
    txns: { m5: count, h1: count, h6: count, h24: count },
    volume: { h24: 22_893.13, h6: 9_295.23, h1: 152.07, m5: 12.52 },
    priceChange: { h1: 0.1, h6: 0.2, h24: changePercent },
    liquidity: { usd: liquidityUsd, base: liquidityUsd / 2 / price, quote: liquidityUsd / 2 / solUsd },
    fdv: Math.round(price * token.supply),
    marketCap: Math.round(price * token.supply),
    pairCreatedAt: 1_772_441_725_000,
  }
}

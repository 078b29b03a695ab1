import { json, type SampleProvider } from './sampleProvider.ts'
import { type Token, tokenChangePercent, tokenPrice } from './tokens.ts'

/** Answers `/price/v3?ids=`. Omits mints without a price, with status 200. */
export function jupiterWith(tokens: readonly Token[]): SampleProvider {
  return ({ path, query, nowMs }) => {
    if (path !== '/price/v3') return json({ error: 'Not Found' }, 404)
    const mints = (query.get('ids') ?? '').split(',')
    if (mints.length > mintsMax) return json({ error: 'Too many ids' }, 400)
    const found = tokens.filter(({ mint }) => mints.includes(mint))
    return json(Object.fromEntries(found.map((token) => [token.mint, priceOf(token, nowMs)])))
  }
}

const mintsMax = 50

function priceOf(token: Token, nowMs: number) {
  return {
    createdAt: '2026-03-02T08:55:25.527Z',
    liquidity: token.liquidityUsd,
    usdPrice: tokenPrice(token, nowMs, 0),
    blockId: Math.floor(nowMs / 400),
    decimals: token.decimals,
    priceChange24h: tokenChangePercent(token, nowMs),
  }
}

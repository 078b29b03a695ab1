import { json, type SampleProvider } from './sampleProvider.ts'
import { decimalText, type Token, tokenChangePercent, tokenPrice } from './tokens.ts'

/** Answers `/api/v2/simple/networks/solana/token_price/{mints}`. Figures are strings, and unknown mints are omitted. */
export function geckoterminalWith(tokens: readonly Token[]): SampleProvider {
  return ({ path, query, nowMs }) => {
    const [, mints] = /^\/api\/v2\/simple\/networks\/solana\/token_price\/([^/]+)$/.exec(path) ?? []
    if (mints === undefined) return json({ errors: [{ status: '404', title: 'Not Found' }] }, 404)
    const found = tokens.filter(({ mint }) => mints.split(',').includes(mint))
    const each = (text: (token: Token) => string) => Object.fromEntries(found.map((token) => [token.mint, text(token)]))
    const wanted = (name: string) => query.get(name) === 'true'
    const attributes = {
      token_prices: each((token) => decimalText(tokenPrice(token, nowMs, bias))),
      ...(wanted('include_24hr_price_change')
        ? { h24_price_change_percentage: each((token) => `${tokenChangePercent(token, nowMs)}`) }
        : {}),
      ...(wanted('include_total_reserve_in_usd')
        ? { total_reserve_in_usd: each((token) => token.liquidityUsd.toFixed(2)) }
        : {}),
    }
    return json({ data: { id: '49dd0b90-d99d-48b6-8fe2-03e826fbcef2', type: 'simple_token_price', attributes } })
  }
}

const bias = -0.001

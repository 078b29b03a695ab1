import { expect, test } from 'vitest'
import { createCallerLimits } from '../../src/transport/callerLimits.ts'

const settings = {
  requestsPerMinute: 100,
  quotesPerAddressMax: 50,
  quotesPerWalletMax: 20,
  unknownProofsPerMinute: 5,
  quoteTtlMs: 300_000,
}

function limitsWith(changed: Partial<typeof settings> = {}) {
  const limited: string[] = []
  const limits = createCallerLimits(
    { ...settings, ...changed },
    { nowMs: () => 0, onLimited: (name) => limited.push(name) },
  )
  const quotes = (address: string, wallet: string, count: number) =>
    Array.from({ length: count }, () => limits.enter(address).limitQuotes(wallet)).filter(
      (refusal) => refusal === undefined,
    ).length
  return { limits, limited, quotes }
}

test('requests of a client address are limited, and the refusal says when to repeat', () => {
  const { limits, limited } = limitsWith({ requestsPerMinute: 2 })
  expect([limits.enter('a').refused, limits.enter('a').refused, limits.enter('b').refused]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  const { refused } = limits.enter('a')
  expect(refused).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) })
  expect(refused?.message).toMatch(/client address; repeat the request in \d+ s$/)
  expect(limited).toEqual(['requests'])
})

test('headers name each limit that counted the request', () => {
  const pass = limitsWith().limits.enter('a')
  pass.limitQuotes('wallet')
  expect(pass.headers()).toEqual({
    'ratelimit-policy': '"requests";q=100;w=60, "quotes";q=50;w=300, "wallet-quotes";q=20;w=300',
    ratelimit: '"requests";r=99;t=60, "quotes";r=49;t=300, "wallet-quotes";r=19;t=300',
  })
})

test('open quotes are capped for a client address', () => {
  const { quotes } = limitsWith({ requestsPerMinute: 0, quotesPerWalletMax: 0 })
  expect(quotes('a', 'w', 60)).toBe(50)
  expect(quotes('b', 'w', 60)).toBe(50)
})

test('open quotes are capped for a wallet, and strangers who name it cannot keep its owner out', () => {
  const { quotes } = limitsWith({ requestsPerMinute: 0, quotesPerAddressMax: 0 })
  expect(quotes('stranger', 'wallet', 100)).toBe(20 + 10)
  expect(quotes('owner', 'wallet', 100)).toBe(10)
  expect(quotes('stranger', 'other wallet', 1)).toBe(1)
})

test('an owner who pays goes on buying while strangers use up the limit of the wallet', () => {
  const { limits, quotes } = limitsWith({ requestsPerMinute: 0, quotesPerAddressMax: 0 })
  for (let paid = 0; paid < 50; paid++) {
    quotes('stranger', 'wallet', 100)
    expect(limits.enter('owner').limitQuotes('wallet')).toBeUndefined()
    limits.enter('owner').onProven('wallet')
  }
  expect(quotes('stranger', 'wallet', 100)).toBeLessThanOrEqual(1)
})

test('a request that asks twice for its one lookup takes it once', () => {
  const { limits } = limitsWith({ unknownProofsPerMinute: 1 })
  const pass = limits.enter('a')
  // A sponsored payment asks before the fee payer signs, and again before it is settled.
  expect([pass.limitLookups(), pass.limitLookups()]).toEqual([undefined, undefined])
  const next = limits.enter('a')
  expect([next.limitLookups()?.code, next.limitLookups()?.code]).toEqual(['RATE_LIMITED', 'RATE_LIMITED'])
})

test('unknown proofs of a client address are limited, and a payment that is proven counts for nothing', () => {
  const { limits } = limitsWith({ requestsPerMinute: 10 })
  for (let paid = 0; paid < 50; paid++) {
    const quoted = limits.enter('payer')
    expect([quoted.refused, quoted.limitQuotes('wallet')]).toEqual([undefined, undefined])
    const presented = limits.enter('payer')
    expect([presented.refused, presented.limitLookups()]).toEqual([undefined, undefined])
    presented.onProven('wallet')
  }
  const junk = () => limits.enter('stranger').limitLookups()
  expect(Array.from({ length: 5 }, junk)).toEqual(Array.from({ length: 5 }, () => undefined))
  expect(junk()?.message).toContain('this proof was not checked and stays valid')
})

test('limits that are off refuse no request and add no header', () => {
  const off = { requestsPerMinute: 0, quotesPerAddressMax: 0, quotesPerWalletMax: 0, unknownProofsPerMinute: 0 }
  const { limits, quotes } = limitsWith(off)
  expect(quotes('a', 'w', 1_000)).toBe(1_000)
  expect(limits.enter('a').headers()).toEqual({})
})

import { expect, test } from 'vitest'
import { createCallerLimits } from '../../src/transport/callerLimits.ts'

const settings = {
  requestsPerMinute: 100,
  quotesPerAddressMax: 50,
  quotesPerWalletMax: 20,
  unknownProofsPerMinute: 5,
  openQuotesBytesMax: 0,
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
    limits.enter('owner').onPaid('wallet', true)
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
    presented.onPaid('wallet', true)
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

const networkOf64 = (number: number) => `2001:db8:1:${number.toString(16)}::/64`

test('the /64 networks of one /48 have sixteen times the limit of one of them', () => {
  const { limits, limited } = limitsWith({ requestsPerMinute: 2, quotesPerAddressMax: 3, unknownProofsPerMinute: 1 })
  const enters = (number: number) => limits.enter(networkOf64(number)).refused === undefined
  expect(Array.from({ length: 100 }, (_, number) => enters(number)).filter(Boolean)).toHaveLength(32)
  expect(new Set(limited)).toEqual(new Set(['requests']))
  expect(limits.enter('2001:db8:2:1::/64').refused).toBeUndefined()

  const { limits: others } = limitsWith({ requestsPerMinute: 0, quotesPerAddressMax: 3, unknownProofsPerMinute: 1 })
  const passes = Array.from({ length: 100 }, (_, number) => others.enter(networkOf64(number)))
  expect(passes.filter((pass) => pass.limitQuotes('wallet') === undefined)).toHaveLength(48)
  expect(passes.filter((pass) => pass.limitLookups() === undefined)).toHaveLength(16)
})

test('open quotes have a bound in all, and strangers who use it up cannot refuse a price to one who pays', () => {
  const { limits, limited } = limitsWith({
    requestsPerMinute: 0,
    quotesPerWalletMax: 0,
    openQuotesBytesMax: 900 * 100,
  })
  const quote = (address: string) => limits.enter(address).limitQuotes('wallet') === undefined
  const strangers = Array.from({ length: 20 }, (_, number) => `192.0.2.${number}`)
  const stored = strangers.flatMap((address) => Array.from({ length: 50 }, () => quote(address))).filter(Boolean)
  // The bound, and ten for each address beyond it. The first two addresses have met their own limit before it.
  expect(stored).toHaveLength(100 + 18 * 10)
  expect(limited).toContain('open-quotes')
  for (let paid = 0; paid < 100; paid++) {
    expect(quote('198.51.100.1')).toBe(true)
    limits.enter('198.51.100.1').onPaid('wallet', true)
  }
})

test('a price that stores no quote does not count against the bound', () => {
  const { limits } = limitsWith({ requestsPerMinute: 0, quotesPerAddressMax: 0, openQuotesBytesMax: 1 })
  const asked = Array.from({ length: 50 }, () => limits.enter('192.0.2.1').limitQuotes(undefined))
  expect(asked.filter(Boolean)).toEqual([])
})

test('an owner who pays goes on buying while strangers use up the quotes of all callers', () => {
  const { limits } = limitsWith({ requestsPerMinute: 0, quotesPerWalletMax: 0, openQuotesBytesMax: 900 * 20 })
  const quote = (address: string) => limits.enter(address).limitQuotes('wallet') === undefined
  for (let paid = 0; paid < 30; paid++) {
    const stranger = `192.0.2.${paid}`
    while (quote(stranger)) continue
    expect(quote('198.51.100.1')).toBe(true)
    limits.enter('198.51.100.1').onPaid('wallet', true)
  }
})

test('payments without a quote leave the bound on all quotes as it is', () => {
  const { limits, quotes } = limitsWith({ requestsPerMinute: 0, quotesPerAddressMax: 0, openQuotesBytesMax: 900 * 15 })
  for (let paid = 0; paid < 100; paid++) limits.enter('192.0.2.1').onPaid('wallet', false)
  expect(quotes('192.0.2.2', 'wallet', 100)).toBe(15 + 10)
})

test('instances share the counts of each limit but those of single addresses beyond it', () => {
  const { limits } = limitsWith({ quotesPerAddressMax: 2, quotesPerWalletMax: 2, openQuotesBytesMax: 900 * 2 })
  for (let n = 0; n < 20; n++) {
    const pass = limits.enter(`192.0.2.${n % 10}`)
    pass.limitQuotes('wallet')
    pass.limitLookups()
  }
  const names = ['requests', 'quotes', 'open-quotes', 'wallet-quotes', 'unknown-proofs']
  const shared = new Set(limits.reports().map(({ name }) => name))
  // Ten addresses with two requests each are too few to share.
  expect([...shared].toSorted()).toEqual(names.slice(1).toSorted())
})

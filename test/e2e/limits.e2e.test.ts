import { beforeAll, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { encodeBase58 } from '@tollbook/core/base58'
import { randomBytesOf } from '@tollbook/core/id'
import type { ServiceConfig } from '../../src/config.ts'
import { openPool } from '../kernel/openKernel.ts'
import { ask, askForQuote, buy, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const off = { RATE_LIMIT_PER_MINUTE: '0', QUOTES_PER_ADDRESS_MAX: '0', QUOTES_PER_WALLET_MAX: '0' }

/**
 * Windows begin at multiples of their length since 1970. Returns a length whose present window has more than half left,
 * so that none ends while the tests run.
 */
function windowOfHours(): number {
  const nowSeconds = systemClock.nowMs() / 1000
  // A second less moves the place in the window by a twenty-fifth.
  const lengths = Array.from({ length: 1_000 }, (_, less) => 43_200 - less)
  return assertPresent(
    lengths.find((seconds) => nowSeconds % seconds < seconds / 2),
    'some length fits',
  )
}

const windowSeconds = windowOfHours()
const small = {
  RATE_LIMIT_PER_MINUTE: '0',
  QUOTES_PER_ADDRESS_MAX: '100',
  QUOTES_PER_WALLET_MAX: '4',
  // The strict instance has counted two of this client.
  UNKNOWN_PROOFS_PER_MINUTE: '4',
}

let service: TestService
let strict: TestService
let one: TestService
let two: TestService

beforeAll(async () => {
  const waiting = { proofLookupWaitMs: 20_000 }
  service = await openTestService({ sale: waiting })
  const open = (env: Record<string, string>, sale: Partial<ServiceConfig['sale']>) =>
    openTestService({ besides: service, env, sale })
  const strictLimits = { ...off, QUOTES_PER_WALLET_MAX: '1', UNKNOWN_PROOFS_PER_MINUTE: '2' }
  strict = await open(strictLimits, { proofLookupWaitMs: 0 })
  const windowed = { ...waiting, quoteTtlMs: windowSeconds * 1_000 }
  one = await open(small, windowed)
  two = await open(small, windowed)
})

const junkProof = () => Buffer.from(encodeBase58(randomBytesOf(64))).toString('base64')
const randomWallet = () => encodeBase58(randomBytesOf(32))
const isAllowedAt = async (instance: TestService) =>
  (await ask(instance, { ...qrOrder, wallet: randomWallet() })).status === 402

test('limits are on by default, and each answer says what remains', async () => {
  const { headers } = await ask(service, qrOrder)
  expect(headers.get('ratelimit-policy')).toBe(
    '"requests";q=6000;w=60, "quotes";q=3000;w=300, "wallet-quotes";q=300;w=300',
  )
})

test('unpaid quotes of a wallet are limited, and the refusal says when to repeat', async () => {
  const order = { ...qrOrder, wallet: randomWallet() }
  // One, and ten that strangers cannot take from its owner.
  for (let request = 0; request < 11; request++) expect((await ask(strict, order)).status).toBe(402)
  const { status, body, headers } = await ask(strict, order)
  expect(status).toBe(429)
  expect(body).toMatchObject({
    code: 'RATE_LIMITED',
    error: expect.stringMatching(/wallet has too many unpaid quotes/),
  })
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect(headers.get('ratelimit-policy')).toBe('"wallet-quotes";q=1;w=300')
  expect(headers.get('ratelimit')).toMatch(/^"wallet-quotes";r=0;t=\d+$/)
  expect((await ask(strict, { ...qrOrder, wallet: randomWallet() })).status).toBe(402)
})

test('I9 proofs beyond the limit cost no call to the chain, and a payment among them is served later', async () => {
  for (let junk = 0; junk < 2; junk++)
    expect((await ask(strict, { ...qrOrder, proof: junkProof() })).body).toMatchObject({ code: 'INVALID_PAYMENT' })
  service.chain.forgetRequestCounts()
  for (let junk = 0; junk < 5; junk++)
    expect((await ask(strict, { ...qrOrder, proof: junkProof() })).body).toMatchObject({ code: 'RATE_LIMITED' })
  const lookups = new Set([
    'getTransaction',
    'getSignatureStatuses',
    'getTokenAccountsByOwner',
    'getTokenAccountBalance',
  ])
  expect([...service.chain.requestCounts().keys()].filter((method) => lookups.has(method))).toEqual([])
  const proof = await strict.payer.pay(await askForQuote(strict))
  expect((await ask(strict, { ...qrOrder, proof })).status).toBe(429)
  expect((await ask(service, { ...qrOrder, proof })).status).toBe(200)
  // Known to the ledger now, so no lookup is needed.
  expect((await ask(strict, { ...qrOrder, proof })).body).not.toHaveProperty('code', 'RATE_LIMITED')
})

test('a caller who pays is never limited: nothing of a purchase counts', async () => {
  for (let purchase = 0; purchase < 6; purchase++) expect((await buy(one)).receipt).toBeDefined()
})

test('two instances count a client together, and neither counts probes and metrics', async () => {
  const counted = openPool(service.database.adminUrl, 1)
  const isShared = async (quotes: number) => {
    // The other instances of this file have windows of five minutes, whose count is below zero after a quote of another
    // window was paid.
    const { rows } = await counted.query<{ quotes: number }>(
      `select coalesce(sum(requests), 0)::int as quotes from work.rate_counts
       where limit_name = 'quotes' and time_window = floor(extract(epoch from now()) / $1::int)`,
      [windowSeconds],
    )
    return (rows[0]?.quotes ?? 0) >= quotes
  }
  for (let request = 0; request < 80; request++) expect(await isAllowedAt(one)).toBe(true)
  await awaitThat('the first instance has shared its count', () => isShared(80))
  for (let request = 0; request < 10; request++) expect(await isAllowedAt(two)).toBe(true)
  await awaitThat('the second instance knows both counts', () => isShared(90))
  let allowed = 10
  while (allowed < 100 && (await isAllowedAt(two))) allowed++
  // By itself it would have allowed a hundred.
  expect(allowed).toBeLessThan(95)
  for (const path of ['/livez', '/readyz', '/metrics'])
    expect((await fetch(`${two.baseUrl}${path}`)).status, path).toBe(200)
})

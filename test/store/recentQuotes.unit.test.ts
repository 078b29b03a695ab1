import { expect, test } from 'vitest'
import { createRecentQuotes } from '../../src/store/recentQuotes.ts'
import { sampleAddress, sampleQuote } from './samplePayment.ts'

const dayMs = 24 * 60 * 60 * 1000

test('a stored quote is found by its memo, and only for its own wallet and endpoint and within the time of the search', () => {
  const recent = createRecentQuotes()
  const quote = sampleQuote()
  recent.add(quote)
  const { wallet, endpoint, memo, issuedAtMs } = quote
  const question = { wallet, endpoint, memo, landedAtMs: issuedAtMs + dayMs - 1 }
  expect(recent.find(question)).toBe(quote)
  expect(recent.find({ ...question, wallet: sampleAddress() })).toBeUndefined()
  expect(recent.find({ ...question, endpoint: '/api/data/news' })).toBeUndefined()
  expect(recent.find({ ...question, memo: sampleQuote().memo })).toBeUndefined()
  expect(recent.find({ ...question, landedAtMs: issuedAtMs + dayMs })).toBeUndefined()
})

test('the newest quote of a wallet and endpoint is recalled while it is open', () => {
  const recent = createRecentQuotes()
  const older = sampleQuote()
  const { wallet, endpoint, expiresAtMs } = older
  const newer = { ...sampleQuote(), wallet, endpoint, expiresAtMs, slot: 7 }
  recent.add(older)
  recent.add(newer)
  const question = { wallet, endpoint, landedAtMs: expiresAtMs + 9, landedSlot: 7, graceMs: 10 }
  expect(recent.findOpen(question)).toBe(newer)
  expect(recent.findOpen({ ...question, landedAtMs: expiresAtMs + 10 })).toBeUndefined()
  expect(recent.findOpen({ ...question, landedSlot: 6 })).toBeUndefined()
  expect(recent.findOpen({ ...question, wallet: sampleAddress() })).toBeUndefined()
})

test('a flood of quotes forgets the oldest and never grows beyond its bound', () => {
  const recent = createRecentQuotes()
  const first = sampleQuote()
  const second = sampleQuote()
  recent.add(first)
  recent.add(second)
  for (let n = 0; n < 19_999; n++) recent.add({ ...first, memo: `tollbook:${n}` })
  const find = ({ wallet, endpoint, memo }: typeof first) => recent.find({ wallet, endpoint, memo, landedAtMs: 0 })
  expect(find(first)).toBeUndefined()
  expect(find(second)).toBe(second)
  const { wallet, endpoint, expiresAtMs: landedAtMs } = second
  const question = { wallet, endpoint, landedAtMs, landedSlot: Number.MAX_SAFE_INTEGER, graceMs: 1 }
  expect(recent.findOpen(question)).toBe(second)
  recent.add({ ...first, memo: 'tollbook:last' })
  expect(recent.findOpen(question)).toBeUndefined()
})

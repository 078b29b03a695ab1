import { expect, test } from 'vitest'
import type { Address } from '@tollbook/core/address'
import { assert } from '@tollbook/core/assert'
import { tabIdOf } from '@tollbook/core/tab'
import { ledgerCodec } from '../../src/payment/events.ts'
import { newLifecycle, type Tab } from '../../src/payment/tab.ts'
import { createTabProduct } from '../../src/tabs/tabProduct.ts'
import { sampleAddress, sampleEvidence, samplePrice, sampleReference } from '../store/samplePayment.ts'

const endsAtMs = Date.UTC(2026, 11, 26)
const limits = { tabMaxMicroUsd: 10_000_000n, totalMaxMicroUsd: 50_000_000n, bearerDayMaxMicroUsd: 2_000_000n }
const wallet = sampleAddress()
const price = { ...samplePrice('/api/tabs#5', 5_000_000_000n), priceMicroUsd: 5_000_000n }
const reference = sampleReference()
const terms = { sessionKey: wallet, bearerHash: undefined, maxPerRequestBaseUnits: 1n, maxPerDayBaseUnits: undefined }
const tab: Tab = {
  id: tabIdOf(new Uint8Array(64).fill(3)),
  wallet,
  mint: price.mint,
  deposit: reference,
  evidence: sampleEvidence(),
  terms: { ...terms, endsAtMs },
  sessionKey: wallet,
  bearerHash: undefined,
  lifecycle: newLifecycle,
  deposits: [{ reference, baseUnits: 1n, effectiveAtMs: 0, standing: 'final', lostBaseUnits: 0n }],
}

function openProduct(found: Tab | undefined, nowMs = endsAtMs - 1) {
  const clock = { nowMs: () => nowMs, monotonicMs: () => 0, sleep: () => Promise.resolve() }
  const balanceBaseUnits = () => Promise.resolve(2_000_000_000n)
  return createTabProduct(limits).open({
    clock,
    tabs: { find: () => Promise.resolve(found), balanceBaseUnits },
    origin: 'tollbook/test',
    pricesOf: () => [price],
    whyClosed: () => undefined,
  })
}

function read(order: object) {
  return openProduct(undefined).read(order)
}

async function topUp(found: Tab | undefined, changes: { readonly payer?: Address; readonly nowMs?: number } = {}) {
  const { payer = wallet, nowMs } = changes
  const ordered = openProduct(found, nowMs).read({ depositUsd: 5, tab: tab.id })
  assert(ordered.ok, 'the order is valid')
  const { signal } = new AbortController()
  return ordered.deliver({ signal, requestId: 'request', payer, payment: reference, price })
}

test('a tab is topped up by its wallet, in its mint and before its end, and any other top-up ends its payment', async () => {
  expect(await topUp(tab)).toMatchObject({
    kind: 'delivered',
    data: { tab: tab.id, balanceBaseUnits: '7000000000' },
    deposit: { tab: tab.id, limits: { tabBaseUnits: 10_000_000_000n, allBaseUnits: 50_000_000_000n } },
  })
  const refused = [
    await topUp(undefined),
    await topUp(tab, { payer: sampleAddress() }),
    await topUp(tab, { nowMs: endsAtMs }),
    await topUp({ ...tab, lifecycle: { ...newLifecycle, version: 1, isClosed: true } }),
    await topUp({ ...tab, mint: sampleAddress() }),
  ]
  for (const outcome of refused) expect(outcome).toMatchObject({ kind: 'failed', code: 'NO_DATA', endsPayment: true })
})

test('a top-up with a term is refused, because the tab keeps those of its opening', () => {
  const unwanted = [{ days: 30 }, { maxPerDayUsd: 1 }, { maxPerRequestUsd: 1 }, { sessionKey: wallet }]
  for (const term of unwanted)
    expect(read({ depositUsd: 5, tab: tab.id, ...term }), Object.keys(term)[0]).toMatchObject({ ok: false })
})

test('a wrong term is refused with what is allowed', () => {
  const wrong = read({ depositUsd: 2, sessionKey: 5, bearerSha256: 5, maxPerRequestUsd: 0, days: 91, tab: 'x' })
  expect(wrong.ok ? [] : wrong.issues.map(({ path, message }) => `${path.join('.')} ${message}`)).toEqual([
    'depositUsd must be one of 1, 5, 10',
    'sessionKey must be base58 of 32 bytes',
    'bearerSha256 must be SHA-256 in hex',
    'maxPerRequestUsd must be a number from 0.000001 to 1000',
    'days must be a whole number from 1 to 90',
    'tab must be the id of a tab',
  ])
})

test('a limit of more base units than any token has is recorded as the most that events can hold', async () => {
  const ordered = read({ depositUsd: 5, sessionKey: wallet, maxPerRequestUsd: 1_000, maxPerDayUsd: 1_000, days: 2 })
  assert(ordered.ok, 'the order is valid')
  const { signal } = new AbortController()
  const cheap = { ...price, requiredBaseUnits: 2n ** 63n }
  const job = { signal, requestId: 'request', payer: wallet, payment: reference, price: cheap }
  const answer = await ordered.deliver(job)
  assert('deposit' in answer && answer.deposit?.terms !== undefined, 'the deposit opens a tab')
  const { tab: id, terms: opened } = answer.deposit
  expect(opened).toMatchObject({ maxPerRequestBaseUnits: 2n ** 64n - 1n, maxPerDayBaseUnits: 2n ** 64n - 1n })
  expect(opened.endsAtMs).toBe(endsAtMs - 1 + 2 * 24 * 60 * 60 * 1000)
  const facts = { tab: id, mint: price.mint, wallet, depositBaseUnits: cheap.requiredBaseUnits, terms: opened }
  const event = { kind: 'TabOpened', ...facts } as const
  const body = ledgerCodec.encode(event, { stream: reference, version: 1, effectiveAtMs: 0 })
  expect(ledgerCodec.decode(body).event).toEqual(event)
})

test('a bearer key needs a limit for the day that the service permits, and every new tab needs a key', () => {
  const bearerSha256 = 'ab'.repeat(32)
  const isOrder = (order: object) => read(order).ok
  expect(isOrder({ bearerSha256, maxPerDayUsd: 2 })).toBe(true)
  expect(isOrder({ sessionKey: wallet })).toBe(true)
  expect(isOrder({ bearerSha256 })).toBe(false)
  expect(isOrder({ bearerSha256, maxPerDayUsd: 2.000001 })).toBe(false)
  expect(isOrder({})).toBe(false)
  expect(isOrder({ tab: tab.id })).toBe(true)
  for (const terms of [
    { sessionKey: wallet },
    { bearerSha256, maxPerDayUsd: 1 },
    { maxPerRequestUsd: 1 },
    { maxPerDayUsd: 1 },
  ])
    expect(isOrder({ tab: tab.id, ...terms }), 'a tab keeps the terms of its opening').toBe(false)
})

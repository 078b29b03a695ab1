import { assertPresent } from '@tollbook/core/assert'
import { appendBatch } from '@tollbook/ledger/appendBatch'
import type { Item } from '@tollbook/ledger/item'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { findBroken } from './checkLedger.ts'
import { openPool } from './openKernel.ts'
import {
  claim,
  event,
  finalize,
  fulfil,
  mint,
  move,
  newSignature,
  payoutBody,
  refund,
  release,
  wallet,
} from './sampleItems.ts'

/* The database asked alone: items that the deciders of the service never make. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const service = openPool(serviceUrl, 1)
const admin = openPool(adminUrl, 1)

async function verdict(item: Item): Promise<string> {
  const [result] = await appendBatch(service, [item])
  const found = assertPresent(result, 'an item has a verdict')
  return found.outcome === 'appended' ? 'appended' : found.refusal.reason
}

async function reach(...items: readonly Item[]): Promise<void> {
  for (const item of items) expect(await verdict(item)).toBe('appended')
}

const freed = move('Memo:ExposedContra', 'Memo:Exposed', 1000n)
const finalizeFulfilled = (stream: Uint8Array): Item => ({
  stream,
  step: 'payment.finalize',
  expectedVersion: 5,
  events: [event('PaymentFinalized', freed)],
})

test('a refund is refused in every state but a final one without a delivery', async () => {
  const stream = newSignature()
  expect(await verdict(refund(stream, 0))).toBe('conflict')
  await reach(claim(stream))
  expect(await verdict(refund(stream, 3))).toBe('conflict')
  await reach(fulfil(stream, 3))
  expect(await verdict(refund(stream, 5))).toBe('conflict')
  await reach(finalizeFulfilled(stream))
  expect(await verdict(refund(stream, 6))).toBe('conflict')
  const released = newSignature()
  await reach(claim(released), release(released, 3))
  expect(await verdict(refund(released, 4))).toBe('conflict')
  await reach(finalize(released, 4), refund(released, 5))
  expect(await verdict(refund(released, 6))).toBe('conflict')
})

test('a fulfilled payment is neither released, nor claimed, nor fulfilled again', async () => {
  const stream = newSignature()
  await reach(claim(stream), fulfil(stream, 3))
  const again: Item = { ...claim(stream), expectedVersion: 5, events: claim(stream).events.slice(2) }
  for (const item of [release(stream, 5), fulfil(stream, 5), again, { ...claim(stream), expectedVersion: 5 }])
    expect(await verdict(item), item.step).not.toBe('appended')
})

test('a lease that runs is not taken over, whatever the caller says the time is', async () => {
  const stream = newSignature()
  await reach(claim(stream))
  const future = Date.UTC(2100, 0, 1)
  const takeOver: Item = {
    stream,
    step: 'payment.claim',
    expectedVersion: 3,
    leaseMs: 60_000,
    events: [
      { ...event('RequestFailed', freed), effectiveAtMs: future },
      { ...event('ProofClaimed', move('Memo:Exposed', 'Memo:ExposedContra', 1000n)), effectiveAtMs: future },
    ],
  }
  expect(await verdict(takeOver)).toBe('conflict')
  await reach(release(stream, 3))
})

async function recordPayout(body: Buffer): Promise<string | null> {
  const session = await admin.connect()
  try {
    await session.query('set role tollbook_payout')
    const { rows } = await session.query<{ refusal: string | null }>('select refusal from ledger.record_payout($1)', [
      body,
    ])
    return assertPresent(rows[0], 'a recording returns a row').refusal
  } finally {
    await session.query('reset role')
    session.release()
  }
}

const account = 'Liabilities:Share:provider'

async function owedToProvider(): Promise<bigint> {
  const { rows } = await admin.query<{ balance: string }>(
    'select balance from ledger.accounts where name = $1 and mint = $2',
    [account, mint],
  )
  return -BigInt(assertPresent(rows[0], 'the provider is owed something').balance)
}

function payoutOf(parts: readonly bigint[]): Buffer {
  const said: unknown = JSON.parse(payoutBody(newSignature()).toString('utf8'))
  const payments = parts.map((paid) => ({ account, wallet, paidBaseUnits: paid.toString() }))
  return Buffer.from(JSON.stringify({ ...Object(said), payments }))
}

test('a payout that names an account twice pays no more than is owed in all', async () => {
  const stream = newSignature()
  await reach(claim(stream, { price: 10_000n }), fulfil(stream, 3, { price: 10_000n }))
  const owed = await owedToProvider()
  expect(await recordPayout(payoutOf([owed, 1n]))).toBe('more_than_owed')
  expect(await recordPayout(payoutOf([owed / 2n + 1n, owed - owed / 2n]))).toBe('more_than_owed')
  expect(await owedToProvider()).toBe(owed)
  expect(await recordPayout(payoutOf([owed - 10n, 7n]))).toBe(null)
  expect(await owedToProvider()).toBe(3n)
  expect(await findBroken(admin)).toEqual([])
})

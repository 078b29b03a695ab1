import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { newId } from '@tollbook/core/id'
import { openPool } from '../kernel/openKernel.ts'
import { createTestDatabase } from '../support/database.ts'
import { sampleAddress, sampleMint } from './samplePayment.ts'

const endpoint = '/api/data/weather'
const { serviceUrl, ownerUrl } = await createTestDatabase()
const service = openPool(serviceUrl, 1)
const startMs = Date.now()

/** Quotes of one wallet, a millisecond apart; the one in the middle is the cheapest. */
async function recordQuotes(wallet: string, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index)
  const each = (value: unknown) => numbers.map(() => value)
  const ids = numbers.map(() => newId('quote'))
  const issuedMs = numbers.map((number) => startMs + number)
  await service.query('select ledger.record_quotes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)', [
    ids,
    each(wallet),
    each(endpoint),
    ids,
    each(1),
    each(sampleMint),
    numbers.map((number) => (number === count >> 1 ? '9' : '10')),
    issuedMs,
    issuedMs.map((ms) => ms + 300_000),
    each(1),
  ])
}

interface Explained {
  readonly 'QUERY PLAN': readonly [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }]
}

/** Pages that a lookup of a warm session touches. */
async function pagesOf(wallet: string): Promise<number> {
  const query = 'select required, issued_at from ledger.find_open_quote($1, $2, $3, $4, $5)'
  const values = [wallet, endpoint, new Date(startMs + 60_000), 2, '1 minute']
  for (let warm = 0; warm < 3; warm++)
    expect((await service.query<{ required: string }>(query, values)).rows[0]?.required).toBe('9')
  const { rows } = await service.query<Explained>(`explain (analyze, buffers, format json) ${query}`, values)
  const [{ Plan: plan }] = assertPresent(rows[0], 'an explanation is a row')['QUERY PLAN']
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

test('the cheapest open quote of a wallet with 5,000 is found with as many pages as of a wallet with one', async () => {
  const [one, many] = [sampleAddress(), sampleAddress()]
  await recordQuotes(one, 1)
  await recordQuotes(many, 5_000)
  await openPool(ownerUrl, 1).query('analyze ledger.quotes')
  expect(await pagesOf(many)).toBeLessThanOrEqual((await pagesOf(one)) + 10)
})

test('a quote is open from its slot to the end of its grace period', async () => {
  const wallet = sampleAddress()
  await recordQuotes(wallet, 1)
  const isOpen = async (landedMs: number, slot: number) => {
    const values = [wallet, endpoint, new Date(startMs + landedMs), slot, '1 minute']
    return (await service.query('select from ledger.find_open_quote($1, $2, $3, $4, $5)', values)).rowCount === 1
  }
  expect([await isOpen(0, 0), await isOpen(0, 1), await isOpen(359_999, 9), await isOpen(360_000, 9)]).toEqual([
    false,
    true,
    true,
    false,
  ])
})

import { assertPresent } from '@tollbook/core/assert'
import { signatureOfBytes } from '@tollbook/core/signature'
import { appendBatch } from '@tollbook/ledger/appendBatch'
import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { findBroken } from './checkLedger.ts'
import { openKernel, openPool } from './openKernel.ts'
import { claim, event, fulfil, mint, newSignature, oweBurn, payoutBody } from './sampleItems.ts'

/*
 * The functions of other roles than the service's. They make the postings from the body, and their steps are closed to
 * ledger.append_batch.
 */

const { serviceUrl, adminUrl } = await createTestDatabase()
const service = openPool(serviceUrl, 2)
const admin = openPool(adminUrl, 4)
const ledger = openKernel(service)

type Role = 'tollbook_payout' | 'tollbook_burner' | 'tollbook_operator'
type Recording = 'record_payout' | 'record_burn' | 'change_setting'

interface Recorded {
  readonly refusal: string | null
  readonly seq: number | null
}

/** Calls as a member of the role and of no other. */
async function as(role: Role, work: (session: pg.PoolClient) => Promise<Recorded>): Promise<Recorded> {
  const session = await admin.connect()
  try {
    await session.query(`set role ${role}`)
    return await work(session)
  } finally {
    await session.query('reset role')
    session.release()
  }
}

const recordAs = (role: Role, recording: Recording, body: Buffer) =>
  as(role, async (session) => {
    const { rows } = await session.query<Recorded>(`select refusal, seq from ledger.${recording}($1)`, [body])
    return assertPresent(rows[0], 'a recording returns a row')
  })

beforeAll(async () => {
  const stream = newSignature()
  await ledger.append(claim(stream, { price: 1_000_000n }))
  await ledger.append(fulfil(stream, 3, { price: 1_000_000n }))
  for (const item of oweBurn(newSignature(), { price: 1_000n })) await ledger.append(item)
})

const provider = async () => {
  const { rows } = await admin.query<{ balance: string }>(
    "select balance from ledger.accounts where name = 'Liabilities:Share:provider'",
  )
  return BigInt(assertPresent(rows[0], 'the provider has an account').balance)
}

test('a payout is recorded once, even if it is repeated, and never pays more than is owed (I1)', async () => {
  const owed = -(await provider())
  const stream = newSignature()
  const body = payoutBody(stream, { paid: owed - 1n })
  const first = await recordAs('tollbook_payout', 'record_payout', body)
  expect(first).toMatchObject({ refusal: null, seq: expect.any(Number) })
  expect(await recordAs('tollbook_payout', 'record_payout', body)).toEqual(first)
  const tooMuch = payoutBody(newSignature(), { paid: 2n })
  expect(await recordAs('tollbook_payout', 'record_payout', tooMuch)).toEqual({ refusal: 'more_than_owed', seq: null })
  expect(await provider()).toBe(-1n)
  expect((await ledger.read(stream)).map(({ kind }) => kind)).toEqual(['DistributionPaid'])
  expect(await ledger.append(claim(stream))).toMatchObject({ outcome: 'refused' })
})

test('of two payouts of one debt at once one is recorded', async () => {
  await ledger.append({ ...claim(newSignature()) })
  const bodies = [newSignature(), newSignature()].map((stream) => payoutBody(stream, { paid: 1n }))
  const outcomes = await Promise.all(bodies.map((body) => recordAs('tollbook_payout', 'record_payout', body)))
  expect(new Set(outcomes.map(({ refusal }) => refusal))).toEqual(new Set([null, 'more_than_owed']))
})

test.each([
  ['another kind', { kind: 'RefundDue' }],
  ['another stream', { stream: 'solana:1' }],
  ['a version that is not the first', { version: 2 }],
  ['no payment', { payments: [] }],
  ['tokens of an unknown sender', { payments: [{ account: 'Liabilities:Unmatched:unknown', paidBaseUnits: '1' }] }],
])('a body with %s is not a payout', async (_, change) => {
  const said: unknown = JSON.parse(payoutBody(newSignature()).toString('utf8'))
  const body = Buffer.from(JSON.stringify({ ...Object(said), ...change }))
  await expect(recordAs('tollbook_payout', 'record_payout', body)).rejects.toMatchObject({ code: '23514' })
})

test('a payout out of what is not owed is overreaching', async () => {
  const unearned = payoutBody(newSignature(), { account: 'Liabilities:Unearned' })
  expect(await recordAs('tollbook_payout', 'record_payout', unearned)).toEqual({ refusal: 'overreaching', seq: null })
  const nothing = payoutBody(newSignature(), { paid: 0n })
  expect(await recordAs('tollbook_payout', 'record_payout', nothing)).toEqual({ refusal: 'overreaching', seq: null })
})

function burnBody(kind: 'BurnSubmitted' | 'BurnConfirmed' | 'BurnFailed', stream: Uint8Array, more: object): Buffer {
  const signature = assertPresent(signatureOfBytes(stream.subarray(1)), 'a stream of space 1 is a signature')
  const version = kind === 'BurnSubmitted' ? 1 : 2
  const effectiveAt = '2026-11-22T04:00:00.000Z'
  return Buffer.from(
    JSON.stringify({
      kind,
      schemaVersion: 1,
      stream: `solana:${signature}`,
      version,
      effectiveAt,
      mint,
      round: 1,
      ...more,
    }),
  )
}

const burned = (baseUnits: string) => ({ burnedBaseUnits: baseUnits, parts: [{ endpoint: '/api/x', baseUnits }] })

const submit = (stream: Uint8Array, round: number, burnBaseUnits = '300') =>
  recordAs('tollbook_burner', 'record_burn', burnBody('BurnSubmitted', stream, { round, burnBaseUnits }))

test('a round is burned once, and no more than is owed', async () => {
  const [one, other] = [newSignature(), newSignature()]
  const confirm = (stream: Uint8Array, baseUnits: string) =>
    recordAs('tollbook_burner', 'record_burn', burnBody('BurnConfirmed', stream, burned(baseUnits)))
  expect(await submit(one, 1, '301')).toEqual({ refusal: 'more_than_owed', seq: null })
  expect(await submit(one, 1)).toMatchObject({ refusal: null })
  expect(await submit(other, 1)).toEqual({ refusal: 'key_used', seq: null })
  expect(await confirm(other, '300')).toEqual({ refusal: 'conflict', seq: null })
  expect(await confirm(one, '301')).toEqual({ refusal: 'limit Liabilities:BurnOwed', seq: null })
  expect(await confirm(one, '300')).toMatchObject({ refusal: null })
  expect(await confirm(one, '300')).toEqual({ refusal: 'conflict', seq: null })
  const uneven = burnBody('BurnConfirmed', other, { ...burned('5'), burnedBaseUnits: '6' })
  await expect(recordAs('tollbook_burner', 'record_burn', uneven)).rejects.toMatchObject({ code: '23514' })
})

test('a round begins only after the round before it has ended, and a failed one leaves its debt to the next', async () => {
  const [failed, next] = [newSignature(), newSignature()]
  for (const item of oweBurn(newSignature(), { price: 1_000n })) await ledger.append(item)
  expect(await submit(failed, 2)).toMatchObject({ refusal: null })
  expect(await submit(next, 3)).toEqual({ refusal: 'round_open', seq: null })
  const fail = () => recordAs('tollbook_burner', 'record_burn', burnBody('BurnFailed', failed, { round: 2 }))
  expect(await fail()).toMatchObject({ refusal: null })
  expect(await fail()).toEqual({ refusal: 'conflict', seq: null })
  expect(await submit(next, 4)).toEqual({ refusal: 'round_open', seq: null })
  expect(await submit(next, 2)).toEqual({ refusal: 'key_used', seq: null })
  expect(await submit(next, 3)).toMatchObject({ refusal: null })
})

function settingBody(name: string, number: number): Buffer {
  const effectiveAt = '2026-11-22T04:00:00.000Z'
  const said = {
    kind: 'SettingChanged',
    schemaVersion: 1,
    stream: `${name}#${number}`,
    version: 1,
    effectiveAt,
    name,
    number,
  }
  return Buffer.from(JSON.stringify({ ...said, validFrom: effectiveAt, value: {} }))
}

test('an operator changes a setting by the next number, and never the prices (I25)', async () => {
  const change = (name: string, number: number) =>
    recordAs('tollbook_operator', 'change_setting', settingBody(name, number))
  expect(await change('payment-wallet', 2)).toEqual({ refusal: 'guard', seq: null })
  expect(await change('payment-wallet', 1)).toMatchObject({ refusal: null })
  expect(await change('payment-wallet', 1)).toEqual({ refusal: 'conflict', seq: null })
  expect(await change('payment-wallet', 2)).toMatchObject({ refusal: null })
  await expect(change('prices', 1)).rejects.toMatchObject({ code: '23514' })
})

test('the service writes no step of another writer, and no writer calls the function of another', async () => {
  const items = ['payout.record', 'burn.submit', 'setting.change'].map((step, n) => ({
    stream: step === 'setting.change' ? Uint8Array.of(3, ...Buffer.from('split#1')) : newSignature(),
    step,
    expectedVersion: 0,
    events: [event(['DistributionPaid', 'BurnSubmitted', 'SettingChanged'][n] ?? '')],
  }))
  const results = await appendBatch(service, items)
  expect(results).toEqual(items.map(() => ({ outcome: 'refused', refusal: { reason: 'not_this_step' } })))
  const calls: readonly (readonly [Role, Recording])[] = [
    ['tollbook_burner', 'record_payout'],
    ['tollbook_operator', 'record_payout'],
    ['tollbook_payout', 'record_burn'],
    ['tollbook_payout', 'change_setting'],
  ]
  for (const [role, recording] of calls)
    await expect(recordAs(role, recording, Buffer.from('{}')), `${role} ${recording}`).rejects.toMatchObject({
      code: '42501',
    })
  for (const recording of ['record_payout', 'record_burn', 'change_setting'])
    await expect(service.query(`select ledger.${recording}('{}')`), recording).rejects.toMatchObject({ code: '42501' })
  await expect(
    as('tollbook_payout', (session) =>
      session.query('update ledger.accounts set ceiling = null').then(() => ({ refusal: null, seq: null })),
    ),
  ).rejects.toMatchObject({ code: '42501' })
})

test('after all of this the ledger is sound (I17, I22)', async () => {
  expect(await findBroken(admin)).toEqual([])
})

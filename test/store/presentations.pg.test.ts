import { expect, test } from 'vitest'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { signatureOfBytes } from '@tollbook/core/signature'
import { transactionReference } from '../../src/payment/paymentReference.ts'
import type { Presentation } from '../../src/payment/presentations.ts'
import { openPool } from '../kernel/openKernel.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance } from './instance.ts'
import { sampleAddress } from './samplePayment.ts'

const wallet = assertPresent(readAddress('So11111111111111111111111111111111111111112'), 'it is an address')

function presentationOf(number: number, presentedAtMs = 1_790_000_000_000) {
  const bytes = Buffer.alloc(64, number)
  const reference = transactionReference(assertPresent(signatureOfBytes(bytes), 'a signature has 64 bytes'))
  return {
    reference,
    wallet,
    presentedAtMs,
    bound: { lastValidHeight: 1_000, basis: 'first_presentation' },
  } satisfies Presentation
}

test('the first presentation stays, whatever is presented later', async () => {
  const { presentations } = await openInstance((await createTestDatabase()).serviceUrl)
  const first = presentationOf(1)

  await presentations.record(first)
  const later = {
    ...first,
    presentedAtMs: first.presentedAtMs + 60_000,
    bound: { ...first.bound, lastValidHeight: 9_000 },
  }

  expect(await presentations.record(later)).toEqual(first)
  expect(await presentations.find(first)).toEqual(first)
  const other = { ...later, wallet: sampleAddress() }
  expect(await presentations.find(other), 'another wallet has not presented it').toBeUndefined()
  expect(await presentations.record(other)).toEqual(other)
  expect(await presentations.find(first)).toEqual(first)
  const { reference } = presentationOf(2)
  expect(await presentations.findPresented([first.reference, reference])).toEqual(new Set([first.reference]))
})

test('the table is bounded: a row above the limit pushes out the oldest ones', async () => {
  const database = await createTestDatabase()
  const { presentations } = await openInstance(database.serviceUrl)
  const [oldest, newest] = [presentationOf(1), presentationOf(2)]
  await presentations.record(oldest)
  await openPool(database.adminUrl, 1).query('alter table work.presentations alter column number restart with 300000')

  await presentations.record(newest)

  expect(await presentations.find(oldest)).toBeUndefined()
  expect(await presentations.find(newest)).toEqual(newest)
})

test('a repeated presentation pushes out no other: it takes no place in the table', async () => {
  const database = await createTestDatabase()
  const { presentations } = await openInstance(database.serviceUrl)
  const [oldest, newest] = [presentationOf(1), presentationOf(2)]
  await presentations.record(oldest)
  const admin = openPool(database.adminUrl, 1)
  await admin.query('alter table work.presentations alter column number restart with 200000')

  for (let retry = 1; retry <= 3; retry++) await presentations.record(oldest)
  await presentations.record(newest)

  expect(await presentations.find(oldest)).toEqual(oldest)
})

test('a presentation is forgotten after a day', async () => {
  const database = await createTestDatabase()
  const { presentations, forgetOldPresentations } = await openInstance(database.serviceUrl)
  const admin = openPool(database.adminUrl, 1)
  const recordAgo = async (presentation: Presentation, hours: number) => {
    const { number } = (await admin.query('select coalesce(max(number), 0) as number from work.presentations')).rows[0]
    await presentations.record(presentation)
    await admin.query(
      'update work.presentations set recorded_at = now() - make_interval(hours => $1) where number > $2',
      [hours, number],
    )
  }
  const [old, young] = [presentationOf(1), presentationOf(2)]
  await recordAgo(old, 25)
  await recordAgo(young, 23)
  // Whether or not the housekeeping has run: a transfer that was presented longer ago is owed to its sender.
  expect(await presentations.findPresented([old.reference, young.reference])).toEqual(new Set([young.reference]))

  await forgetOldPresentations()

  expect([await presentations.find(old), await presentations.find(young)]).toEqual([undefined, young])
})

import { systemClock } from '@tollbook/core/clock'
import { createAppendHealth } from '@tollbook/ledger/appendHealth'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openKernel, openPool } from './openKernel.ts'
import * as sample from './sampleItems.ts'

async function openHealth() {
  const { serviceUrl, adminUrl } = await createTestDatabase()
  const pool = openPool(serviceUrl)
  const admin = openPool(adminUrl, 1)
  const held = { ms: 0 }
  const clock = { ...systemClock, monotonicMs: () => held.ms }
  const kernel = openKernel(pool, { outcomeTimeoutMs: 1 })
  return { ...createAppendHealth({ kernel, pool, clock }), admin, held }
}

test('a schema whose append has another signature is found without an append', async () => {
  const { findProblem, admin } = await openHealth()
  expect(await findProblem()).toBeUndefined()
  await admin.query('alter function ledger.append_batch rename to append_2')
  expect(await findProblem()).toMatch(/takes no appends of this release.*append/)
})

test('a missing right to append is found without an append', async () => {
  const { findProblem, admin } = await openHealth()
  await admin.query('revoke execute on function ledger.append_batch from tollbook_service')
  expect(await findProblem()).toMatch(/permission denied/)
})

test('appends that fail are a problem until one works, and are tried again after a while', async () => {
  const { kernel, findProblem, admin, held } = await openHealth()
  await admin.query('alter table ledger.head rename to head_2')
  await expect(kernel.append(sample.claim(sample.newSignature()))).rejects.toThrow('takes no appends')
  expect(await findProblem()).toMatch(/takes no appends/)
  held.ms = 10_000
  expect(await findProblem()).toBeUndefined()
  await admin.query('alter table ledger.head_2 rename to head')
  expect(await kernel.append(sample.claim(sample.newSignature()))).toMatchObject({ outcome: 'appended' })
  held.ms = 0
  expect(await findProblem()).toBeUndefined()
})

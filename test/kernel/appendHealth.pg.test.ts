import { type Clock, systemClock } from '@tollbook/core/clock'
import { createAppendHealth } from '@tollbook/ledger/appendHealth'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openKernel, openPool } from './openKernel.ts'
import * as sample from './sampleItems.ts'

// Fails an append that waits to be repeated (100 ms). A queue that gathers a batch waits 20 ms.
const neverRepeats: Clock = {
  ...systemClock,
  sleep: (ms, signal) => (ms < 100 ? systemClock.sleep(ms, signal) : Promise.reject(new Error('it waited'))),
}

async function openHealth() {
  const { serviceUrl, adminUrl } = await createTestDatabase()
  const pool = openPool(serviceUrl)
  const admin = openPool(adminUrl, 1)
  const kernel = openKernel(pool, { clock: neverRepeats })
  return { ...createAppendHealth({ kernel, pool }), admin }
}

async function openFullDisk() {
  const health = await openHealth()
  const { admin } = health
  await admin.query(`
    create function public.no_space() returns trigger language plpgsql as $$
    begin
      raise exception 'could not extend file: No space left on device' using errcode = '53100';
    end $$;
    create trigger no_space before insert on ledger.events for each row execute function public.no_space()`)
  return { ...health, makeSpace: () => admin.query('drop trigger no_space on ledger.events') }
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

test('an error that Postgres states is decided at once: callers do not wait for a full disk', async () => {
  const { kernel } = await openFullDisk()
  const appends = [1, 2, 3].map(() => kernel.append(sample.claim(sample.newSignature())))
  for (const append of appends) await expect(append).rejects.toThrow('the ledger takes no appends')
})

test('after a failed append the ledger is closed at each check until a write works, and nothing of the trial stays', async () => {
  const { kernel, findProblem, makeSpace, admin } = await openFullDisk()
  const item = sample.claim(sample.newSignature())
  await expect(kernel.append(item)).rejects.toThrow('takes no appends')
  for (let check = 1; check <= 4; check++) expect(await findProblem()).toBe('the ledger takes no appends (53100)')
  await makeSpace()
  expect(await findProblem()).toBeUndefined()
  const { rows } = await admin.query('select count(*)::int as events from ledger.events')
  expect(rows).toEqual([{ events: 0 }])
  expect(await kernel.append(item)).toMatchObject({ outcome: 'appended' })
  expect(await findProblem()).toBeUndefined()
})

test('an append that works opens the ledger again', async () => {
  const { kernel, findProblem, admin } = await openHealth()
  await admin.query('alter table ledger.head rename to head_2')
  await expect(kernel.append(sample.claim(sample.newSignature()))).rejects.toThrow('takes no appends')
  await admin.query('alter table ledger.head_2 rename to head')
  expect(await kernel.append(sample.claim(sample.newSignature()))).toMatchObject({ outcome: 'appended' })
  expect(await findProblem()).toBeUndefined()
})

import { expect, test } from 'vitest'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { createElection } from '../../src/store/election.ts'
import { advanceScan, readScanPlace } from '../../src/store/transferScan.ts'
import { signatureOf } from '../../src/payment/paymentReference.ts'
import { assertPresent } from '@tollbook/core/assert'
import { awaitThat } from '../support/awaitThat.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance, openSessions } from './instance.ts'
import { sampleAddress, sampleReference } from './samplePayment.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const { database } = await openInstance(serviceUrl)
const admin = openSessions(adminUrl)
const deps = { database, log: silentLog, holder: 'test' }
// As of a paused process: no timer of it fires, so it renews nothing.
const paused: Clock = {
  ...systemClock,
  sleep: (_, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
}
const leaseMs = 60

test('a leader that is paused is replaced, and what it then writes is refused', async () => {
  const leader = createElection({ ...deps, clock: paused, leaseMs })
  const successor = createElection({ ...deps, clock: systemClock, leaseMs })
  const tokenAccount = sampleAddress()
  const move = (slot: number) => ({
    tokenAccount,
    place: { signature: assertPresent(signatureOf(sampleReference()), 'a Solana reference'), slot },
  })
  const woken = Promise.withResolvers<void>()
  const led = Promise.withResolvers<void>()
  const first = leader.run('scan', async (lease) => {
    led.resolve()
    await woken.promise
    await advanceScan(database, { ...move(200), lease })
  })
  const refused = expect(first).rejects.toMatchObject({ cause: { code: 'TB002' } })
  await led.promise
  await awaitThat('the successor is elected', async () => {
    const ran = await successor.run('scan', (lease) => advanceScan(database, { ...move(100), lease }))
    return ran !== undefined || (await readScanPlace(database, tokenAccount)) !== undefined
  })
  woken.resolve()
  await refused
  expect((await readScanPlace(database, tokenAccount))?.slot).toBe(100)
})

test('work that takes longer than a lease keeps it, and no other instance runs it meanwhile', async () => {
  const { clock, wake } = wokenByTest()
  const election = createElection({ ...deps, clock })
  const done = Promise.withResolvers<void>()
  const working = election.run('long', () => done.promise)
  for (const _renewal of [1, 2, 3]) {
    await awaitThat('the renewal waits', wake.isWaited)
    // Most of the lease passes before each renewal.
    await admin.query("update work.leases set taken_at = taken_at - length_ms * interval '0.9 ms' where name = 'long'")
    const takenAt = await takenAtOf('long')
    wake.now()
    await awaitThat('it has been renewed', async () => (await takenAtOf('long')) > takenAt)
    expect(await election.run('long', () => Promise.resolve('ran'))).toBeUndefined()
  }
  done.resolve()
  await working
  expect(await election.run('long', () => Promise.resolve('ran'))).toBe('ran')
})

/** A clock of which each sleep lasts until the test ends it: no stall of this machine lets a lease run out. */
function wokenByTest() {
  let waiting: (() => void) | undefined
  const clock: Clock = {
    ...systemClock,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        waiting = resolve
        signal?.addEventListener('abort', () => reject(signal.reason))
      }),
  }
  const now = (): void => {
    waiting?.()
    waiting = undefined
  }
  return { clock, wake: { now, isWaited: () => waiting !== undefined } }
}

async function takenAtOf(name: string): Promise<number> {
  const { rows } = await admin.query<{ taken_at: Date }>('select taken_at from work.leases where name = $1', [name])
  return rows[0]?.taken_at.getTime() ?? 0
}

test('a clock of the database that was an hour ahead keeps no lease longer than one that was right', async () => {
  const election = createElection({ ...deps, clock: systemClock, leaseMs })
  await election.run('jumped', () => Promise.resolve())
  await admin.query(
    "update work.leases set taken_at = clock_timestamp() + interval '1 hour', length_ms = 10000 where name = 'jumped'",
  )
  expect(await election.run('jumped', () => Promise.resolve('ran'))).toBe('ran')
})

test('of many instances that ask at once one is elected', async () => {
  const election = createElection({ ...deps, clock: systemClock })
  for (let round = 0; round < 10; round++) {
    let running = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++running)
      await admin.query('select 1')
      running--
    }
    await Promise.all(Array.from({ length: 12 }, () => election.run(`round ${round}`, work)))
    expect(most).toBe(1)
  }
})

test('the place of a search never moves back, also without a lease', async () => {
  const tokenAccount = sampleAddress()
  for (const slot of [200, 100, 200, 201]) {
    const signature = assertPresent(signatureOf(sampleReference()), 'a Solana reference')
    await advanceScan(database, { tokenAccount, place: { signature, slot }, lease: undefined })
    const place = await readScanPlace(database, tokenAccount)
    expect(place?.slot).toBe(Math.max(slot, 200))
    expect(place?.signature === signature).toBe(slot >= 200)
  }
})

test('elected work writes under its lease, also through the lifecycle that it gets', async () => {
  const { lifecycle } = await openInstance(serviceUrl)
  const tokenAccount = sampleAddress()
  const signature = assertPresent(signatureOf(sampleReference()), 'a Solana reference')
  const work = lifecycle.runElected('a scan', async (elected) => {
    await elected.advanceScan(tokenAccount, { signature, slot: 1 })
    await admin.query("update work.leases set epoch = epoch + 1 where name = 'a scan'")
    await elected.advanceScan(tokenAccount, { signature, slot: 2 })
  })
  await expect(work).rejects.toMatchObject({ cause: { code: 'TB002' } })
  expect(await lifecycle.readScanPlace(tokenAccount)).toMatchObject({ slot: 1 })
})

test('a lease that its holder has ended is not renewed', async () => {
  const taken = await admin.query<{ epoch: number }>("select work.take_lease('ended', 'test', 60000) as epoch")
  const renew = async () =>
    (await admin.query("select work.renew_lease('ended', $1) as ok", [taken.rows[0]?.epoch])).rows[0]
  expect(await renew()).toEqual({ ok: true })
  await admin.query("select work.end_lease('ended', $1)", [taken.rows[0]?.epoch])
  expect(await renew()).toEqual({ ok: false })
})

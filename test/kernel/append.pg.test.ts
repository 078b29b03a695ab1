import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { findBroken } from './checkLedger.ts'
import { openKernel, openPool } from './openKernel.ts'
import { claim, claimOwed, fulfil, newSignature, release, reverse, finalize, refund } from './sampleItems.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const pool = openPool(serviceUrl)
const admin = openPool(adminUrl, 2)
const ledger = openKernel(pool)

const refusedAs = (reason: string) => ({ outcome: 'refused', refusal: { reason } })

test('a payment is claimed once and fulfilled once, and its events are read back in order (I1, I3)', async () => {
  const stream = newSignature()
  const first = await ledger.append(claim(stream))
  expect(first).toMatchObject({ outcome: 'appended' })
  expect(await ledger.append(claim(stream))).toEqual(refusedAs('conflict'))
  expect(await ledger.append(fulfil(stream, 3))).toMatchObject({ outcome: 'appended' })
  expect(await ledger.append(fulfil(stream, 3))).toEqual(refusedAs('conflict'))
  const events = await ledger.read(stream)
  expect(events.map(({ kind, version }) => [version, kind])).toEqual([
    [1, 'PaymentVerified'],
    [2, 'TokensBurned'],
    [3, 'ProofClaimed'],
    [4, 'RequestFulfilled'],
    [5, 'DistributionAllocated'],
  ])
  if (first.outcome === 'appended')
    expect(first.leaves).toEqual(events.slice(0, 3).map(({ position, leafHash }) => ({ position, leafHash })))
})

test('many payments through each way of a lifecycle leave a sound ledger (I17, I22)', async () => {
  const streams = Array.from({ length: 100 }, newSignature)
  const outcomes = await Promise.all(
    streams.map(async (stream, n) => {
      const steps =
        n % 4 === 0
          ? [claim(stream), fulfil(stream, 3), reverse(stream, 5)]
          : n % 4 === 1
            ? [claim(stream), release(stream, 3), finalize(stream, 4), refund(stream, 5)]
            : n % 4 === 2
              ? [claimOwed(stream), fulfil(stream, 3)]
              : [claim(stream), release(stream, 3)]
      const taken: string[] = []
      for (const step of steps) taken.push((await ledger.append(step)).outcome)
      return taken
    }),
  )
  expect(new Set(outcomes.flat())).toEqual(new Set(['appended']))
  expect(await findBroken(admin)).toEqual([])
  const many = await ledger.readMany([...streams, newSignature()])
  expect(many.map((events) => events.length)).toEqual([...streams.map((_, n) => [7, 6, 5, 4][n % 4]), 0])
})

import { expect, test } from 'vitest'
import type { Signature } from '@tollbook/core/signature'
import { statusesMax } from '../../src/payment/finalityReader.ts'
import { judgeAttempts } from '../../src/payout/attemptStanding.ts'
import { signatureNumber } from '../jobs/jobFixture.ts'

test('attempts beyond one page of statuses are judged too', async () => {
  const attempts = Array.from({ length: statusesMax + 2 }, (_, index) => {
    return { part: index + 1, signature: signatureNumber(index), lastValidHeight: 200, bytes: new Uint8Array() }
  })
  const pages: number[] = []
  const chain = {
    nodes: { poll: () => Promise.resolve(), height: () => 100 },
    finality: {
      findStatuses({ signatures }: { readonly signatures: readonly Signature[] }) {
        pages.push(signatures.length)
        return Promise.resolve({ statuses: signatures.map(() => ({ isFinalized: true, hasFailed: false, slot: 950 })) })
      },
    },
  }
  const standings = await judgeAttempts(Object.assign(Object.create(null), chain), attempts)
  expect(pages).toEqual([statusesMax, 2])
  expect(standings.size).toBe(statusesMax + 2)
  expect(new Set([...standings.values()].map(({ kind }) => kind))).toEqual(new Set(['final']))
})

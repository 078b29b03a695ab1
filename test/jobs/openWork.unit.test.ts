import { expect, test } from 'vitest'
import { followOpenWork } from '../../src/jobs/openWorkJob.ts'

test('a run follows all events, in twenty steps at most', async () => {
  const stepsFor = async (behind: number) => {
    let steps = 0
    await followOpenWork({ lifecycle: { followOpenWork: () => Promise.resolve(Math.max(0, behind - ++steps)) } })
    return steps
  }
  expect([await stepsFor(0), await stepsFor(3), await stepsFor(1_000)]).toEqual([1, 3, 20])
})

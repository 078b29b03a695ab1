import { expect, test } from 'vitest'
import { startChainHealth } from '../../src/jobs/chainHealth.ts'
import { createLog, silentLog } from '../../src/machine/log.ts'
import { steppedClock } from '../support/steppedClock.ts'

test('a clock that is wrong against the chain is logged when it goes wrong and when it is right again', async () => {
  const clock = steppedClock()
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  let skewMs = 0
  const health = startChainHealth({
    clock,
    log: createLog({ level: 'info', name: 'test', destination }),
    clockSkewMaxMs: 60_000,
    nodes: {
      poll: () => Promise.resolve(),
      inRotation: () => ['node 1'],
      standings: () => [{ name: 'node 1', slot: 7, lagSlots: 0, isSilent: false, problem: undefined }],
      slot: () => 7,
      time: { skewMs: () => skewMs },
    },
  })
  await clock.step()
  expect(lines).toEqual([])
  skewMs = 3_600_000
  await clock.step()
  // The seconds in the text change all the time.
  skewMs = 3_599_000
  await clock.step()
  skewMs = 0
  await clock.step()
  expect(lines).toMatchObject([
    { level: 'warn', event: 'chain_health_changed', problem: expect.stringContaining('3600 s ahead') },
    { level: 'warn', event: 'chain_health_changed', problem: 'none' },
  ])
  await health.stop()
})

test('nodes may be silent for 20 s since one was last in rotation, and a node with another trouble not at all', async () => {
  const clock = steppedClock()
  let [isRotating, isSilent] = [true, true]
  const standing = { name: 'node 1', slot: 7, lagSlots: 0, problem: 'has not answered' }
  const health = startChainHealth({
    clock,
    log: silentLog,
    clockSkewMaxMs: 60_000,
    nodes: {
      poll: () => Promise.resolve(),
      inRotation: () => (isRotating ? ['node 1'] : []),
      standings: () => [
        { ...standing, isSilent },
        { ...standing, name: 'node 2', isSilent: true },
      ],
      slot: () => 7,
      time: { skewMs: () => 0 },
    },
  })
  await clock.step()
  isRotating = false
  const outages: boolean[] = []
  for (let count = 1; count <= 12; count++) {
    await clock.step()
    outages.push(health.whyNoQuotes() !== undefined)
  }
  // The nodes are polled every 2 s.
  expect(outages).toEqual([...Array(10).fill(false), true, true])
  isRotating = true
  await clock.step()
  ;[isRotating, isSilent] = [false, false]
  await clock.step()
  expect(health.whyNoQuotes()).toContain('node 1 has not answered')
  await health.stop()
})

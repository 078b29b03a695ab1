import { expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { startSignerHealth } from '../../src/jobs/signerHealth.ts'
import { createLog } from '../../src/machine/log.ts'
import { steppedClock } from '../support/steppedClock.ts'

function recordingLog() {
  const written: Record<string, unknown>[] = []
  const log = createLog({
    level: 'info',
    name: 'test',
    destination: { write: (line) => written.push(JSON.parse(line)) },
  })
  return { log, lines: () => written }
}

const down = 'the signer of the network fees does not answer'

test('a signer that stops is logged once, before any request needs it, and once when it is back', async () => {
  const clock = steppedClock()
  const { log, lines } = recordingLog()
  let isDown = false
  const readStanding = () =>
    isDown
      ? Promise.reject(new Fault(down, { cause: new Error('connect ENOENT /run/signer.sock'), retryable: true }))
      : Promise.resolve({ whyClosed: undefined })
  const health = await startSignerHealth({ clock, log, readStanding })
  const changes = () => lines().filter(({ event }) => event === 'signer_health_changed')
  expect(health.problem()).toBeUndefined()
  expect(changes()).toEqual([])

  isDown = true
  await clock.step()
  await clock.step()
  // The socket's path is not for the public.
  expect(health.problem()).toBe(down)
  expect(changes()).toMatchObject([{ level: 'warn', problem: down, error: expect.stringContaining('ENOENT') }])

  isDown = false
  await clock.step()
  expect(health.problem()).toBeUndefined()
  expect(changes()).toMatchObject([{ problem: down }, { level: 'warn', problem: 'none' }])
  await health.stop()
})

test('a signer that is closed at the start is known, with its reason, when the start ends', async () => {
  const { log, lines } = recordingLog()
  const whyClosed = "the signer's budget of this day is used up"
  const readStanding = () => Promise.resolve({ whyClosed })
  const health = await startSignerHealth({ clock: steppedClock(), log, readStanding })
  expect(health.problem()).toBe(whyClosed)
  expect(lines()).toMatchObject([{ event: 'signer_health_changed', problem: whyClosed }])
  await health.stop()
})

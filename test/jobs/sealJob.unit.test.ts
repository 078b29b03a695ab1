import { expect, test } from 'vitest'
import { createLog } from '../../src/machine/log.ts'
import { startSealJob, type SealStep } from '../../src/jobs/sealJob.ts'
import { LedgerDamage } from '@tollbook/core/ledgerDamage'
import { steppedClock } from '../support/steppedClock.ts'

/** A job over a sealer whose steps the test scripts, or that throws. */
async function watchOver(
  steps: (SealStep | Error)[],
  keep?: (note: string) => Promise<void>,
  noteLoss: () => Promise<boolean> = () => Promise.resolve(false),
) {
  const clock = steppedClock()
  const events: string[] = []
  const destination = { write: (line: string) => void events.push(JSON.parse(line).event) }
  const log = createLog({ level: 'info', name: 'test', destination })
  const seals: { readonly unsealedEvents: number; readonly damaged: boolean }[] = []
  let asked = 0
  const watch = await startSealJob({
    clock,
    log,
    keep,
    noteLoss,
    onSeal: (seal) => void seals.push(seal),
    sealNext: async (onUnsealed) => {
      const step = steps[Math.min(asked, steps.length - 1)]
      asked++
      onUnsealed(asked)
      if (step === undefined || step instanceof Error) throw step
      return step
    },
  })
  return { clock, watch, events, seals, asked: () => asked }
}

const sealed = (size: number, sealedEvents = 0, head = size): SealStep => ({
  sealedEvents,
  head,
  checkpoint: { size, note: `note ${size}` },
})

test('what has gathered is sealed in one go, and the figures say how far it is', async () => {
  const { clock, watch, seals, asked } = await watchOver([
    sealed(0),
    sealed(16, 16, 40),
    sealed(32, 16, 40),
    sealed(40, 8),
    sealed(40),
  ])
  expect(asked()).toBe(1)
  await clock.step()
  expect(asked()).toBe(4)
  expect(seals.map(({ unsealedEvents }) => unsealedEvents)).toEqual([1, 0, 2, 24, 3, 8, 4, 0])
  expect(watch.problem()).toBeUndefined()
  await watch.stop()
})

test('damage closes for good, is cried out once, and nothing more is tried', async () => {
  const { clock, watch, events, seals, asked } = await watchOver([
    sealed(4),
    new LedgerDamage('event 3 is not what was recorded'),
    sealed(5),
  ])
  await clock.step()
  await clock.step()
  await watch.stop()
  expect(watch.problem()).toMatch(/does not match its seal/)
  expect(watch.problem()).not.toContain('event 3')
  expect(events).toEqual(['ledger_damaged'])
  expect(seals.at(-1)).toEqual({ unsealedEvents: 0, damaged: true })
  expect(asked()).toBe(2)
})

test('a step that cannot sign leaves the number of its events in the figures', async () => {
  const { clock, watch, seals } = await watchOver([sealed(4), new Error('the key is not accepted')])
  await clock.step()
  await clock.step()
  expect(seals.at(-1)).toEqual({ unsealedEvents: 3, damaged: false })
  await watch.stop()
})

test('a database that is away closes nothing, is logged once, and so is its return', async () => {
  const away = new Error('connection refused')
  const { clock, watch, events } = await watchOver([sealed(4), away, away, away, sealed(9, 5)])
  for (let tick = 0; tick < 5; tick++) await clock.step()
  expect(watch.problem()).toBeUndefined()
  expect(events).toEqual(['seal_delayed', 'seal_resumed'])
  await watch.stop()
})

test('the newest checkpoint is kept at once, then once a second at most, and at the end whatever the time', async () => {
  const stored: string[] = []
  const { clock, watch } = await watchOver(
    [sealed(1), sealed(2, 1), sealed(3, 1), sealed(4, 1), sealed(4)],
    async (note) => void stored.push(note),
  )
  expect(stored).toEqual(['note 1'])
  await clock.step()
  expect(stored).toEqual(['note 1'])
  await clock.step()
  expect(stored).toEqual(['note 1', 'note 3'])
  await clock.step()
  await watch.stop()
  expect(stored).toEqual(['note 1', 'note 3', 'note 4'])
})

test('a checkpoint that cannot be kept is tried again, and does not stop the seal', async () => {
  let tries = 0
  const { clock, watch, events } = await watchOver([sealed(1), sealed(2, 1), sealed(2)], async () => {
    tries++
    if (tries < 3) throw new Error('disk full')
  })
  await clock.step()
  await clock.step()
  expect(tries).toBe(3)
  expect(events).toEqual(['seal_delayed', 'seal_resumed'])
  expect(watch.problem()).toBeUndefined()
  await watch.stop()
})

test('a ledger that went backwards is noted outside the database and raises the alarm of damage', async () => {
  let notes = 0
  const { clock, watch, seals } = await watchOver(
    [sealed(4), new Error('the ledger is not the one that this service has recorded')],
    undefined,
    () => Promise.resolve(++notes > 1),
  )
  expect(seals.at(-1)).toEqual({ unsealedEvents: 0, damaged: false })
  await clock.step()
  expect(seals.at(-1)).toEqual({ unsealedEvents: 0, damaged: true })
  await watch.stop()
})

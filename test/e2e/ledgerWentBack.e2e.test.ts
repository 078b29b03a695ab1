import { expect, test } from 'vitest'
import { z } from 'zod'
import { restorableDatabase } from '../store/restorableDatabase.ts'
import { ask, buy, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { shiftedClock } from '../support/shiftedClock.ts'
import { openTestService } from '../support/testService.ts'

const readiness = z.object({ status: z.string(), failing: z.array(z.string()) })
const health = z.object({ data: z.object({ checks: z.record(z.string(), z.unknown()) }) })

test('a ledger that went back is the one reported problem: the checks that cannot read it are muted', async () => {
  const clock = shiftedClock()
  const service = await openTestService({ clock })
  const database = restorableDatabase(service.database)
  const read = async (path: string): Promise<unknown> => (await fetch(`${service.baseUrl}${path}`)).json()
  await database.backUp()
  await buy(service)
  await database.restore()
  await awaitThat('the loss is noticed', async () => {
    clock.advance(5_000)
    return readiness.parse(await read('/readyz')).failing.includes('history')
  })
  // The settings count as unread after 45 s, and no new connection reads them.
  clock.advance(60_000)
  expect(await read('/readyz')).toEqual({ status: 'not ready', failing: ['history'] })
  const { checks } = health.parse(await read('/api/health')).data
  expect(checks).toMatchObject({
    history: { status: 'failing', problem: expect.stringContaining('is not the one that this service has recorded') },
    ledger: { status: 'unknown', cause: 'history' },
    settings: { status: 'unknown', cause: 'history' },
    clock: { status: 'unknown', cause: 'history' },
  })
  expect(await ask(service, qrOrder)).toMatchObject({
    status: 503,
    body: { error: expect.stringContaining('is not the one that this service has recorded') },
  })
})

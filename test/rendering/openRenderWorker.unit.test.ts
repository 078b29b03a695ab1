import { expect, test } from 'vitest'
import { z } from 'zod'
import { createLog } from '../../src/machine/log.ts'
import { openRenderWorker } from '../../src/rendering/openRenderWorker.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { steppedClock } from '../support/steppedClock.ts'

// No system starts a program with such an argument, and `fork` throws at once.
const config = { chromiumPath: process.execPath, allowHosts: ['x'.repeat(4_000_000)] }
const shape = z.object({ event: z.string(), ends: z.number().optional(), asNobody: z.boolean().optional() })

test('a worker that could not be forked is forked again, as the user of the service', async () => {
  const lines: z.infer<typeof shape>[] = []
  const write = (line: string) => void lines.push(shape.parse(JSON.parse(line)))
  const log = createLog({ level: 'info', name: 'test', destination: { write } })
  const clock = steppedClock()
  const engine = await openRenderWorker({ clock, log, config })
  const isRoot = process.getuid?.() === 0
  const first = { event: 'render_worker_ended', ends: 1, asNobody: isRoot }
  await awaitThat('a fork has failed', () => lines.length > 0)
  expect(lines).toEqual([first])
  await clock.step()
  expect(lines).toEqual([first, { event: 'render_worker_ended', ends: 2, asNobody: false }])
  await engine.close()
})

import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openBrowserPool } from '../../src/rendering/browserPool.ts'
import { silentLog } from '../../src/machine/log.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { steppedClock } from '../support/steppedClock.ts'

const directory = await makeScratchDirectory()

test('fault 19: a browser that does not start is tried again after pauses that double up to a minute', async () => {
  const chromiumPath = `${directory}/chromium`
  await writeFile(chromiumPath, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const clock = steppedClock()
  const pool = openBrowserPool({ clock, log: silentLog, chromiumPath, guardArguments: [], jobsPerBrowserMax: 1 })
  expect(pool.problem()).toBeUndefined()
  expect(pool.whyUnavailable()).toMatch(/being started/)

  const pausesMs: number[] = []
  for (let attempt = 0; attempt < 8; attempt++) {
    const beforeMs = clock.nowMs()
    await clock.step()
    pausesMs.push(clock.nowMs() - beforeMs)
    expect(pool.problem()).toBe('no browser can be started on this server at the moment')
  }
  expect(pausesMs).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  // A job does not start one out of turn.
  await expect(pool.take()).rejects.toThrow('no browser can be started')
  await pool.close()
})

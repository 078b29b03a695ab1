import { mkdir, readdir, utimes } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { lockDirectory } from '@tollbook/localnet/directoryLock'
import { systemClock } from '@tollbook/core/clock'
import { removeAbandonedDirectories } from './abandonedDirectories.ts'
import { makeScratchDirectory } from './scratchDirectory.ts'

test('only an old directory of a test run that no process uses is removed', async () => {
  const folder = await makeScratchDirectory()
  const names = ['tollbook-test-abandoned', 'tollbook-test-inhabited', 'tollbook-test-recent', 'somebody-elses']
  for (const name of names) await mkdir(`${folder}/${name}`)
  const lock = lockDirectory(`${folder}/tollbook-test-inhabited/postgres`)
  const twoHoursAgo = systemClock.nowMs() / 1_000 - 7_200
  for (const name of names.filter((name) => name !== 'tollbook-test-recent')) {
    await utimes(`${folder}/${name}`, twoHoursAgo, twoHoursAgo)
  }
  await removeAbandonedDirectories(folder)
  expect(await readdir(folder)).toEqual(['somebody-elses', 'tollbook-test-inhabited', 'tollbook-test-recent'])
  lock.release()
})

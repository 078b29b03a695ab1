import { writeFileSync } from 'node:fs'
import { readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { takeFolderLock } from '../../packages/client/src/folderLock.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const holder = JSON.stringify({ host: 'another.machine', pid: 1, token: 'x' })

test('the lock of a process on another machine is waited for as long as that process touches it', async () => {
  const folder = await makeScratchDirectory()
  const path = join(folder, 'order.lock')
  await writeFile(path, holder)
  let nowMs = 1_790_000_000_000
  let polls = 0
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    // Four seconds pass at each poll, and the other process touches its lock meanwhile. It ends after a minute.
    async sleep() {
      nowMs += 4_000
      polls++
      expect(await readFile(path, 'utf8')).toBe(holder)
      if (polls < 15) await utimes(path, nowMs / 1_000, nowMs / 1_000)
      else await rm(path)
    },
  }
  const lock = await takeFolderLock({ folder, name: 'order', clock, signal: new AbortController().signal })
  expect(polls).toBe(15)
  expect(await readFile(path, 'utf8')).not.toBe(holder)
  await lock.leaveQueue()
  await lock.release()
})

test('a lock that another process took while a dead one was looked up is given back to it', async () => {
  const folder = await makeScratchDirectory()
  const path = join(folder, 'order.lock')
  await writeFile(path, JSON.stringify({ host: hostname(), pid: 2 ** 22 + 1, token: 'dead' }))
  const kill = vi.spyOn(process, 'kill').mockImplementationOnce(() => {
    writeFileSync(path, holder)
    throw Object.assign(new Error('no such process'), { code: 'ESRCH' })
  })
  let polls = 0
  const clock = {
    nowMs: () => 1_790_000_000_000,
    monotonicMs: () => polls,
    async sleep() {
      polls++
      expect(await readFile(path, 'utf8'), 'the other process still has its lock').toBe(holder)
      await rm(path)
    },
  }
  const lock = await takeFolderLock({ folder, name: 'order', clock, signal: new AbortController().signal })
  kill.mockRestore()
  expect(polls).toBe(1)
  await lock.leaveQueue()
  await lock.release()
})

test('a process whose lock was broken by mistake leaves the lock of the next holder', async () => {
  const folder = await makeScratchDirectory()
  const clock = { nowMs: () => 0, monotonicMs: () => 0, sleep: () => Promise.reject(new Error('it waits')) }
  const lock = await takeFolderLock({ folder, name: 'order', clock, signal: new AbortController().signal })
  await lock.leaveQueue()
  const path = join(folder, 'order.lock')
  await writeFile(path, holder)
  await lock.release()
  expect(await readFile(path, 'utf8')).toBe(holder)
})

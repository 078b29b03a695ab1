import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { stat, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { lockDirectory } from '@tollbook/localnet/directoryLock'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'

const scratch = await makeScratchDirectory()
const module = new URL('../../../packages/localnet/src/directoryLock.ts', import.meta.url).href

test('a directory is locked once, names its holder, and is free after the release', async () => {
  const lock = lockDirectory(`${scratch}/wanted`)
  expect(() => lockDirectory(`${scratch}/wanted`)).toThrow(`in use by process ${process.pid}: stop that one first`)
  // The refused attempt does not drop the lock for other processes.
  const other = spawnSync(process.execPath, ['--input-type=module', '--eval', locking(`${scratch}/wanted`)])
  expect(other.status).toBe(3)
  lock.release()
  lockDirectory(`${scratch}/wanted`).release()
  expect((await stat(`${scratch}/wanted.lock`)).mode & 0o777).toBe(0o600)
})

test('of many processes at the same instant one is granted the lock, and a kill frees it', async () => {
  const script = `${locking(`${scratch}/raced`)}; setInterval(() => undefined, 1_000)`
  const rivals = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const outcomes = await Promise.all(
    rivals.map((rival) =>
      Promise.race([once(rival, 'exit').then(([code]) => code), once(rival.stdout, 'data').then(() => 'granted')]),
    ),
  )

  expect(outcomes.filter((outcome) => outcome === 'granted')).toHaveLength(1)
  expect(outcomes.filter((outcome) => outcome === 3)).toHaveLength(5)
  const holder = rivals[outcomes.indexOf('granted')]
  expect(() => lockDirectory(`${scratch}/raced`)).toThrow(`in use by process ${holder?.pid}`)
  holder?.kill('SIGKILL')
  await once(holder ?? process, 'exit')
  lockDirectory(`${scratch}/raced`).release()
})

test('a damaged lock file is refused with its name', async () => {
  await writeFile(`${scratch}/damaged.lock`, 'no database, and longer than the header of one. '.repeat(100))
  expect(() => lockDirectory(`${scratch}/damaged`)).toThrow('damaged.lock: run as the user who owns it, or remove it')
})

test('a neighbour whose name only begins alike is not a rival', () => {
  const neighbour = lockDirectory(`${scratch}/wanted2`)
  lockDirectory(`${scratch}/wanted`).release()
  neighbour.release()
})

/** A program that says `granted` with the lock, and exits with 3 without it. */
function locking(directory: string): string {
  return `
    import { lockDirectory } from ${JSON.stringify(module)}
    try { globalThis.lock = lockDirectory(${JSON.stringify(directory)}) } catch { process.exit(3) }
    console.log('granted')`
}

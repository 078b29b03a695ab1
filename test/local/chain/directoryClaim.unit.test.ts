import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { stat, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { claimDirectory } from '@tollbook/localnet/directoryClaim'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'

const scratch = await makeScratchDirectory()
const module = new URL('../../../packages/localnet/src/directoryClaim.ts', import.meta.url).href

test('a directory is claimed once, names its holder, and is free after the release', async () => {
  const claim = claimDirectory(`${scratch}/wanted`)
  expect(() => claimDirectory(`${scratch}/wanted`)).toThrow(`in use by process ${process.pid}: stop that one first`)
  // The refused attempt does not drop the lock for other processes.
  const other = spawnSync(process.execPath, ['--input-type=module', '--eval', claiming(`${scratch}/wanted`)])
  expect(other.status).toBe(3)
  claim.release()
  claimDirectory(`${scratch}/wanted`).release()
  expect((await stat(`${scratch}/wanted.lock`)).mode & 0o777).toBe(0o600)
})

test('of many processes at the same instant one is granted the claim, and a kill frees it', async () => {
  const script = `${claiming(`${scratch}/raced`)}; setInterval(() => undefined, 1_000)`
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
  expect(() => claimDirectory(`${scratch}/raced`)).toThrow(`in use by process ${holder?.pid}`)
  holder?.kill('SIGKILL')
  await once(holder ?? process, 'exit')
  claimDirectory(`${scratch}/raced`).release()
})

test('a damaged lock file is refused with its name', async () => {
  await writeFile(`${scratch}/damaged.lock`, 'no database, and longer than the header of one. '.repeat(100))
  expect(() => claimDirectory(`${scratch}/damaged`)).toThrow('damaged.lock: run as the user who owns it, or remove it')
})

test('a neighbour whose name only begins alike is not a rival', () => {
  const neighbour = claimDirectory(`${scratch}/wanted2`)
  claimDirectory(`${scratch}/wanted`).release()
  neighbour.release()
})

/** A program that says `granted` with the claim, and exits with 3 without it. */
function claiming(directory: string): string {
  return `
    import { claimDirectory } from ${JSON.stringify(module)}
    try { globalThis.claim = claimDirectory(${JSON.stringify(directory)}) } catch { process.exit(3) }
    console.log('granted')`
}

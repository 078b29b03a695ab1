import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { claimDirectory } from '@tollbook/localnet/directoryClaim'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'

const scratch = await makeScratchDirectory()
const module = new URL('../../../packages/localnet/src/directoryClaim.ts', import.meta.url).href

test('a directory is claimed once, names its holder, and is free after the release', () => {
  const claim = claimDirectory(`${scratch}/wanted`)
  expect(() => claimDirectory(`${scratch}/wanted`)).toThrow(`in use by process ${process.pid}: stop that one first`)
  claim.release()
  claimDirectory(`${scratch}/wanted`).release()
})

test('of many processes at the same instant one is granted the claim, and a kill frees it', async () => {
  const script = `
    import { claimDirectory } from ${JSON.stringify(module)}
    try { globalThis.claim = claimDirectory(${JSON.stringify(`${scratch}/raced`)}) } catch { process.exit(3) }
    console.log('granted')
    setInterval(() => undefined, 1_000)
  `
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

test('a neighbour whose name only begins alike is not a rival', () => {
  const neighbour = claimDirectory(`${scratch}/wanted2`)
  claimDirectory(`${scratch}/wanted`).release()
  neighbour.release()
})

import { spawnSync } from 'node:child_process'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { claimDirectory } from '@tollbook/localnet/directoryClaim'
import { findProcess } from '@tollbook/localnet/processTable'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { makeZombie } from '../postgres/zombie.ts'

const scratch = await makeScratchDirectory()

test('of twenty claims at the same instant at most one is granted, and none of the refused stays in the way', async () => {
  const claims = await Promise.allSettled(Array.from({ length: 20 }, () => claimDirectory(`${scratch}/wanted`)))
  const granted = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []))
  expect(granted.length).toBeLessThanOrEqual(1)
  await Promise.all(granted.map((claim) => claim.release()))
  const later = await claimDirectory(`${scratch}/wanted`)
  await later.release()
  expect(await readdir(scratch)).toEqual([])
})

test('the claim of a process that has ended is cleared away', async () => {
  const { pid } = spawnSync('/bin/true')
  expect(await findProcess(pid)).toBeUndefined()
  await writeFile(`${scratch}/wanted.owner-${pid}-123456-token`, '')
  const claim = await claimDirectory(`${scratch}/wanted`)
  expect(await readdir(scratch)).toHaveLength(1)
  await claim.release()
})

test('a claim whose pid has come round to another process is cleared away', async () => {
  await writeFile(`${scratch}/wanted.owner-${process.pid}-1-token`, '')
  const claim = await claimDirectory(`${scratch}/wanted`)
  expect(await readdir(scratch)).toHaveLength(1)
  await claim.release()
})

test('the claim of a zombie is cleared away, although the process table still contains its pid and start mark', async () => {
  const pid = await makeZombie()
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const startMark = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  await writeFile(`${scratch}/wanted.owner-${pid}-${startMark}-token`, '')
  const claim = await claimDirectory(`${scratch}/wanted`)
  expect(await readdir(scratch)).toHaveLength(1)
  await claim.release()
})

test('a neighbour whose name only begins alike is not a rival', async () => {
  const neighbour = await claimDirectory(`${scratch}/wanted2`)
  const claim = await claimDirectory(`${scratch}/wanted`)
  await claim.release()
  await neighbour.release()
})

import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { preparePublicBody } from '../../src/transport/publicBody.ts'
import { createSealMemory } from '../../src/routes/sealMemory.ts'

const openMemory = () =>
  createSealMemory({ clock: systemClock, tree: { checkpoint: () => Promise.resolve(undefined) } })

test('a body is read once, also for callers of the same moment, and an absent one each time', async () => {
  const { once } = openMemory()
  let readings = 0
  const read = async (isThere: boolean) => {
    readings++
    return isThere ? preparePublicBody('proof') : undefined
  }
  const [one, other] = await Promise.all([once('proof', () => read(true)), once('proof', () => read(true))])
  expect([one?.bytes.toString(), other, await once('proof', () => read(true))]).toEqual(['proof', one, one])
  expect(readings).toBe(1)
  for (const _ of [1, 2]) expect(await once('later', () => read(false))).toBeUndefined()
  expect(readings).toBe(3)
})

test('a body that is too large for the memory, and bodies that do not fit together, are still answered', async () => {
  const { once } = openMemory()
  const bytesOf = async (mebibytes: number) =>
    (await once(`${mebibytes}`, () => preparePublicBody(Buffer.alloc(mebibytes * 2 ** 20), { codings: [] })))?.bytes
      .length
  expect(await bytesOf(20)).toBe(20 * 2 ** 20)
  expect(await Promise.all([10, 11, 12].map(bytesOf))).toEqual([10, 11, 12].map((size) => size * 2 ** 20))
})

test('a failure is not remembered', async () => {
  const { once } = openMemory()
  await expect(once('proof', () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer')
  expect((await once('proof', () => preparePublicBody('proof')))?.bytes.toString()).toBe('proof')
})

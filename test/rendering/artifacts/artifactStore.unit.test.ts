import { readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { readArtifactName } from '../../../src/rendering/artifacts/artifactName.ts'
import {
  type ArtifactStorage,
  artifactBytesMax,
  createArtifactStore,
} from '../../../src/rendering/artifacts/artifactStore.ts'
import { openDiskStorage } from '../../../src/rendering/artifacts/diskStorage.ts'
import { openS3Storage } from '../../../src/rendering/artifacts/s3Storage.ts'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { silentLog } from '../../../src/machine/log.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { startBucketServer } from './bucketServer.ts'

const ttlMs = 60_000
const picture = Buffer.from('a picture')

function openStore(storage: ArtifactStorage, totalBytesMax = 1_000_000_000) {
  let nowMs = 1_800_000_000_000
  const clock = { ...systemClock, nowMs: () => nowMs, monotonicMs: () => nowMs }
  const store = createArtifactStore({ clock, log: silentLog, storage, ttlMs, totalBytesMax })
  return { store, pass: (durationMs: number) => (nowMs += durationMs) }
}

const directory = await makeScratchDirectory()
const bucket = await startBucketServer()
const s3 = { bucket: 'bucket', region: 'us-east-1', accessKeyId: 'key', secretAccessKey: 'secret' }
const shelves: readonly (readonly [string, () => Promise<ArtifactStorage>])[] = [
  ['a folder', () => openDiskStorage({ directory, nowMs: systemClock.nowMs })],
  ['a bucket', () => Promise.resolve(openS3Storage({ ...s3, endpoint: bucket.endpoint }))],
]

describe.each(shelves)('in %s', (_name, open) => {
  test('what was kept is found until it expires, and gone after it', async () => {
    const { store, pass } = openStore(await open())
    const { name, expiresAt } = await store.keep('image/png', picture)
    expect(Date.parse(expiresAt)).toBe(1_800_000_000_000 + ttlMs)
    const found = await store.find(name)
    expect(found).toMatchObject({ contentType: 'image/png', size: picture.length })
    expect(found === undefined ? undefined : await buffer(found.read())).toEqual(picture)
    expect(found === undefined ? undefined : await buffer(found.read({ start: 2, end: 4 }))).toEqual(Buffer.from('pic'))

    pass(ttlMs - 1)
    await store.sweep()
    const late = await store.find(name)
    expect(late).toBeDefined()
    pass(1)
    expect(await store.find(name)).toBeUndefined()
    await store.sweep()
    pass(-ttlMs)
    expect(await store.find(name)).toBeUndefined()
  })

  test('a name that was never given finds nothing', async () => {
    const { store } = openStore(await open())
    const { name } = await store.keep('application/pdf', picture)
    const longer = name.replace(/-(\w+)\./, (_all, expiry: string) => `-${expiry.replace(/^./, 'z')}.`)
    expect(readArtifactName(longer)).toBeDefined()
    for (const wrong of [longer, name.replace('pdf', 'png'), `../${name}`, `${name}/`, '', 'artifacts'])
      expect(await store.find(wrong)).toBeUndefined()
  })
})

test('two artifacts never share a name', async () => {
  const { store } = openStore(await openDiskStorage({ directory, nowMs: systemClock.nowMs }))
  const names = await Promise.all(Array.from({ length: 50 }, () => store.keep('image/png', picture)))
  expect(new Set(names.map(({ name }) => name)).size).toBe(50)
})

test('a file is readable by its owner only, and foreign files are never deleted', async () => {
  const folder = await makeScratchDirectory()
  const { store, pass } = openStore(await openDiskStorage({ directory: folder, nowMs: systemClock.nowMs }))
  const { name } = await store.keep('image/png', picture)
  expect((await stat(join(folder, name))).mode & 0o077).toBe(0)
  await writeFile(join(folder, 'notes.txt'), 'mine')
  const dead = join(folder, `${name}.unfinished`)
  await writeFile(dead, 'half')
  await utimes(dead, 1, 1)
  pass(2 * ttlMs)
  await store.sweep()
  expect(await readdir(folder)).toEqual(['notes.txt'])
})

test('a store that cannot write sells nothing until a file of that size can be stored again', async () => {
  const folder = await makeScratchDirectory()
  const disk = await openDiskStorage({ directory: folder, nowMs: systemClock.nowMs })
  // As a disk that is almost full: there is room for a few bytes.
  let freeBytes = 4
  const put: ArtifactStorage['put'] = (name, artifact) =>
    artifact.bytes.length > freeBytes
      ? Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
      : disk.put(name, artifact)
  const { store, pass } = openStore({ ...disk, put })
  expect(store.whyUnavailable()).toBeUndefined()
  await expect(store.keep('image/png', picture)).rejects.toThrow('the result could not be stored')
  for (const waitMs of [0, 31_000, 3_600_000]) {
    pass(waitMs)
    await store.recover()
    expect(store.whyUnavailable()).toBe('results cannot be stored at the moment')
  }
  freeBytes = 1_000
  await store.recover()
  expect(store.whyUnavailable()).toBeUndefined()
  expect(await readdir(folder)).toEqual([])
})

test('a store stays closed if a larger file could not be stored while it recovered', async () => {
  const disk = await openDiskStorage({ directory: await makeScratchDirectory(), nowMs: systemClock.nowMs })
  let [bytesMax, isRecovering] = [0, false]
  const { store } = openStore({
    ...disk,
    async put(name, artifact) {
      if (isRecovering && artifact.bytes.length === picture.length)
        await expect(store.keep('image/png', Buffer.alloc(100))).rejects.toThrow('could not be stored')
      if (artifact.bytes.length > bytesMax) throw new Error('no space left on device')
      return disk.put(name, artifact)
    },
  })
  await expect(store.keep('image/png', picture)).rejects.toThrow('could not be stored')
  ;[bytesMax, isRecovering] = [picture.length, true]
  await store.recover()
  expect(store.whyUnavailable()).toBe('results cannot be stored at the moment')
  bytesMax = 100
  await store.recover()
  expect(store.whyUnavailable()).toBeUndefined()
})

test('a bucket that refuses the credentials stays unavailable', async () => {
  const { store } = openStore(openS3Storage({ ...s3, accessKeyId: 'other', endpoint: bucket.endpoint }))
  await expect(store.keep('image/png', picture)).rejects.toThrow('the result could not be stored')
  await store.recover()
  expect(store.whyUnavailable()).toBe('results cannot be stored at the moment')
  const { name } = await openStore(openS3Storage({ ...s3, endpoint: bucket.endpoint })).store.keep('image/png', picture)
  await expect(store.find(name)).rejects.toThrow(Fault)
})

test('every expired object of a bucket is removed, also beyond the first page of its list', async () => {
  const { store, pass } = openStore(openS3Storage({ ...s3, endpoint: bucket.endpoint }))
  const before = bucket.objects.size
  const stored = { body: picture, contentType: 'image/png' }
  // Names that are listed before the expired one, and are not ours to remove.
  for (let nth = 0; nth < 1_100; nth++) bucket.objects.set(`/bucket/artifacts/foreign-${nth}`, stored)
  const { name } = await store.keep('image/png', picture)
  expect(bucket.objects.size).toBe(before + 1_101)
  pass(ttlMs)
  await store.sweep()
  expect(bucket.objects.has(`/bucket/artifacts/${name}`)).toBe(false)
})

test('a storage that is full sells nothing more until something expires', async () => {
  const folder = await makeScratchDirectory()
  const { store, pass } = openStore(await openDiskStorage({ directory: folder, nowMs: systemClock.nowMs }), 20)
  await store.keep('image/png', picture)
  await store.keep('image/png', picture)
  expect(store.whyUnavailable()).toBeUndefined()
  await store.keep('image/png', picture)
  expect(store.whyUnavailable()).toBe('the storage of results is full until some of them expire')
  expect(store.whyUnavailable({ isPaid: true }), 'who had paid by then still gets a result').toBeUndefined()
  await store.sweep()
  expect(store.whyUnavailable()).toBe('the storage of results is full until some of them expire')
  pass(ttlMs)
  await store.sweep()
  expect(store.whyUnavailable()).toBeUndefined()
})

test('a result that is too large is not kept', async () => {
  const { store } = openStore(await openDiskStorage({ directory, nowMs: systemClock.nowMs }))
  await expect(store.keep('image/png', Buffer.alloc(artifactBytesMax + 1))).rejects.toThrow('too large')
})

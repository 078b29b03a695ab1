import { open, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { createFeePayerSigner } from '../../src/signer/feePayerSigner.ts'
import type { OpenFile } from '../../src/machine/renameDurably.ts'
import { openSigningJournal, type Signing } from '../../src/signer/signingJournal.ts'
import { signerKey } from '../support/feePayerKey.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { signPayment, sponsoredWallets } from './sponsoredPayment.ts'

/** A disk that writes half of the text and then reports that it is full, or fails to make it durable. */
function createDisk() {
  const disk = { fails: undefined as 'write' | 'sync' | undefined }
  const openFile: OpenFile = async (path, flags, mode) => {
    const file = await open(path, flags, mode)
    const [write, sync] = [file.appendFile.bind(file), file.datasync.bind(file)]
    file.appendFile = async (text) => {
      if (disk.fails !== 'write') return write(text)
      if (typeof text === 'string') await write(text.slice(0, text.length / 2))
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    }
    file.datasync = () => (disk.fails === 'sync' ? Promise.reject(new Error('input/output error')) : sync())
    return file
  }
  return { disk, openFile }
}

const entry = (digest: string): Signing => ({
  atMs: 1,
  wallet: 'wallet',
  lamports: 7,
  digest,
  signature: `of ${digest}`,
})
const digestsOf = (entries: readonly Signing[]) => entries.map(({ digest }) => digest)
const entriesIn = async (path: string): Promise<readonly Signing[]> =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
const settledOf = async (promises: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(promises)).map(({ status }) => status)

test.each(['write', 'sync'] as const)(
  'a failed %s fails its whole batch, and the next entries are kept',
  async (fails) => {
    const path = `${await makeScratchDirectory()}/journal`
    const { disk, openFile } = createDisk()
    const journal = await openSigningJournal(path, 0, openFile)
    await journal.append(entry('a'))
    disk.fails = fails
    expect(await settledOf([journal.append(entry('b')), journal.append(entry('c'))])).toEqual(['rejected', 'rejected'])
    expect(journal.isWritable()).toBe(false)
    await expect(journal.append(entry('d'))).rejects.toThrow()
    expect(journal.isWritable()).toBe(false)

    disk.fails = undefined
    await journal.append(entry('e'))
    expect(journal.isWritable()).toBe(true)
    expect(await settledOf(['f', 'g'].map((digest) => journal.append(entry(digest))))).toEqual([
      'fulfilled',
      'fulfilled',
    ])
    await journal.close()
    const again = await openSigningJournal(path, 0)
    expect(digestsOf(again.entries)).toEqual(['a', 'e', 'f', 'g'])
    await again.close()
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(5)
  },
)

test('a replaced journal is durable under its name before the next entry is, so a power loss does not bring the old one back', async () => {
  const folder = await makeScratchDirectory()
  const path = `${folder}/journal`
  const synced: string[] = []
  const openFile: OpenFile = async (opened, flags, mode) => {
    const file = await open(opened, flags, mode)
    const [sync, datasync] = [file.sync.bind(file), file.datasync.bind(file)]
    file.sync = async () => {
      if (opened === folder) synced.push(`folder with ${digestsOf(await entriesIn(path)).join()}`)
      await sync()
    }
    file.datasync = async () => {
      synced.push('entries')
      await datasync()
    }
    return file
  }
  const first = await openSigningJournal(path, 0)
  await first.append(entry('a'))
  await first.close()
  const second = await openSigningJournal(path, 0, openFile)
  expect(synced).toEqual(['entries', 'folder with a'])
  await second.append(entry('b'))
  expect(synced).toEqual(['entries', 'folder with a', 'entries'])
  await second.close()
})

test('a folder that cannot be synchronised fails the opening, unless its file system has no such call', async () => {
  const folder = await makeScratchDirectory()
  const failing =
    (code: string): OpenFile =>
    async (opened, flags, mode) => {
      const file = await open(opened, flags, mode)
      file.sync = () => Promise.reject(Object.assign(new Error(code), { code }))
      return file
    }
  await expect(openSigningJournal(`${folder}/journal`, 0, failing('EIO'))).rejects.toThrow('EIO')
  const journal = await openSigningJournal(`${folder}/journal`, 0, failing('EINVAL'))
  expect(journal.isWritable()).toBe(true)
  await journal.close()
})

test('a signer that cannot write its journal is closed, spends nothing, and opens again by itself', async () => {
  const path = `${await makeScratchDirectory()}/journal`
  const wallets = sponsoredWallets()
  const { disk, openFile } = createDisk()
  const journal = await openSigningJournal(path, 0, openFile)
  const limits = { perDay: 50_000, perWalletAndDay: 50_000, perPayment: 20_000 }
  const { terms, feePayer } = wallets
  const signer = createFeePayerSigner({ clock: systemClock, key: signerKey(feePayer), journal, limits, terms })
  const [first, second] = [signPayment(wallets), signPayment(wallets)]
  const given = await signer.sign(first)
  expect(signer.whyClosed()).toBeUndefined()

  disk.fails = 'write'
  await expect(signer.sign(second)).rejects.toThrow('no space left')
  const { leftLamports } = signer.day()
  for (let attempt = 1; attempt <= 20; attempt++) await expect(signer.sign(second)).rejects.toThrow(Fault)
  expect(signer.day()).toMatchObject({ leftLamports })
  expect(signer.whyClosed()).toMatch('journal')
  expect(await signer.sign(first)).toEqual(given)

  disk.fails = undefined
  expect(signer.whyClosed()).toMatch('journal')
  await journal.settled()
  expect(signer.whyClosed()).toBeUndefined()
  expect(await signer.sign(second)).toHaveProperty('signature')
  await journal.close()
})

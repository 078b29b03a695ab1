import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { systemClock } from '@tollbook/core/clock'
import { type Ledger, openLedger } from '../../src/store/openLedger.ts'
import { storeCheckpointFile, requireStoredCheckpoint } from '../../src/store/checkpointFile.ts'
import { openDatabase } from '../../src/store/database.ts'
import { sealNext } from '../../src/store/sealer.ts'
import { signOnce } from '../../src/store/signOnce.ts'
import { silentLog } from '../../src/machine/log.ts'
import { afterFile } from '../support/afterFile.ts'
import { writeFileAtomically } from '../../src/machine/writeFileAtomically.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import type { TestDatabase } from '../support/testDatabase.ts'
import { mustAppend, openInstance } from './instance.ts'
import { claimOf, sampleSettlement } from './samplePayment.ts'

const signer = ed25519Signer(makeReceiptKey())
const sha256Bytes = (text: string) => createHash('sha256').update(text).digest()
const file = join(await makeScratchDirectory(), 'checkpoint')

async function sealAndKeep(ledger: Ledger): Promise<void> {
  const { checkpoint } = await sealNext({
    ...ledger,
    sign: (tree) => signCheckpoint({ origin: 'tollbook/test', ...tree }, signer),
  })
  await storeCheckpointFile(file, assertPresent(checkpoint, 'there are events').note)
}

/** A copy of the database in its current state, under another name: a backup. It must have no connections meanwhile. */
async function backUp({ name, adminUrl, serviceUrl }: TestDatabase) {
  const copy = `${name}_backup`
  const url = new URL(adminUrl)
  url.pathname = '/postgres'
  const admin = new Client({ connectionString: url.href })
  await admin.connect()
  await admin.query(`create database ${copy} template ${name}`)
  afterFile(async () => {
    await admin.query(`drop database ${copy} with (force)`)
    await admin.end()
  })
  const copyUrl = new URL(serviceUrl)
  copyUrl.pathname = `/${copy}`
  return copyUrl.href
}

function open(databaseUrl: string) {
  const database = openDatabase({ databaseUrl, applicationName: 'test', connectionsMax: 2, log: silentLog })
  afterFile(() => database.destroy())
  return database
}

test('a restored older backup is refused, the ledger itself is not, and neither is one that has grown', async () => {
  const original = await createTestDatabase()
  const before = await openInstanceForAWhile(original.serviceUrl)
  await mustAppend(before.ledger, claimOf(sampleSettlement()).change)
  await sealAndKeep(before.ledger)
  await before.close()
  const backupUrl = await backUp(original)

  const ledger = await openInstance(original.serviceUrl)
  await mustAppend(ledger, claimOf(sampleSettlement()).change)
  // Kept as it was when the backup was made: both are good continuations of it.
  await requireStoredCheckpoint(ledger.database, file)
  await requireStoredCheckpoint(open(backupUrl), file)

  await sealAndKeep(ledger)
  await requireStoredCheckpoint(ledger.database, file)
  await expect(requireStoredCheckpoint(open(backupUrl), file)).rejects.toMatchObject({
    retryable: false,
    message:
      /ends at event 3, and the checkpoint of tollbook\/test kept in .* is of 6 events.*older backup.*Restore a newer/s,
  })

  // A backup with its own later events has the same length, and is still another ledger.
  const fork = await openInstance(backupUrl)
  for (let payment = 0; payment < 2; payment++) await mustAppend(fork, claimOf(sampleSettlement()).change)
  await expect(requireStoredCheckpoint(fork.database, file)).rejects.toThrow(
    /the first 6 events of the database are not those of the checkpoint/,
  )
})

/** Closed by the test itself, so that the database can be copied. */
async function openInstanceForAWhile(databaseUrl: string) {
  const ledger = await openLedger({ databaseUrl, applicationName: 'test', clock: systemClock, log: silentLog })
  return { ledger, close: () => ledger.close() }
}

test('a checkpoint is written whole: to a temporary file and renamed over the one before', async () => {
  const folder = await makeScratchDirectory()
  const path = join(folder, 'checkpoint')
  await storeCheckpointFile(path, noteOf(1))
  await storeCheckpointFile(path, noteOf(2))
  expect(await readFile(path, 'utf8')).toBe(noteOf(2))
  expect(await readdir(folder)).toEqual(['checkpoint'])
  await expect(storeCheckpointFile(join(folder, 'no', 'checkpoint'), noteOf(1))).rejects.toThrow(/CHECKPOINT_FILE/)
})

test('of several processes that write one file at once, none fails, and the file is whole', async () => {
  const folder = await makeScratchDirectory()
  const path = join(folder, 'anchor.json')
  const texts = Array.from({ length: 12 }, (_, writer) => String(writer).repeat(100_000))
  await Promise.all(texts.map((text) => writeFileAtomically(path, text, '--output')))
  expect(texts).toContain(await readFile(path, 'utf8'))
  expect(await readdir(folder)).toEqual(['anchor.json'])
})

const noteOf = (size: number, root = 'a') =>
  signCheckpoint({ origin: 'tollbook/test', size, root: sha256Bytes(root) }, signer)

test('the file keeps the greatest checkpoint: neither a smaller one nor another root of its size replaces it', async () => {
  const path = join(await makeScratchDirectory(), 'checkpoint')
  await storeCheckpointFile(path, noteOf(99))
  await expect(storeCheckpointFile(path, noteOf(67))).rejects.toThrow(/67 events was to replace that of 99 events/)
  await expect(storeCheckpointFile(path, noteOf(99, 'b'))).rejects.toThrow(/two checkpoints of 99 events/)
  expect(await readFile(path, 'utf8')).toBe(noteOf(99))
  await storeCheckpointFile(path, noteOf(99))
  await storeCheckpointFile(path, noteOf(100))
  expect(await readFile(path, 'utf8')).toBe(noteOf(100))
})

test('no second root of a size is signed, and none of a smaller one', () => {
  const sign = signOnce(({ size, root }) => `${size} ${Buffer.from(root).toString('hex')}`)
  const [a, b] = [sha256Bytes('a'), sha256Bytes('b')]
  const first = sign({ size: 99, root: a })
  expect(sign({ size: 99, root: a })).toBe(first)
  expect(() => sign({ size: 99, root: b })).toThrow(/after one of 99 events/)
  expect(() => sign({ size: 67, root: a })).toThrow(/a root of 67 events/)
  expect(sign({ size: 100, root: b })).toMatch(/^100 /)
})

test('a missing file is the first start; a missing folder, and a file that is not a checkpoint, are refused', async () => {
  const database = open((await createTestDatabase()).serviceUrl)
  const folder = await makeScratchDirectory()
  await requireStoredCheckpoint(database, join(folder, 'checkpoint'))
  await expect(requireStoredCheckpoint(database, join(folder, 'no', 'checkpoint'))).rejects.toThrow(
    /nothing can be written/,
  )
  await expect(requireStoredCheckpoint(database, folder)).rejects.toThrow(/cannot be read/)
  await writeFile(join(folder, 'half'), 'tollbook/test\n12')
  await expect(requireStoredCheckpoint(database, join(folder, 'half'))).rejects.toThrow(
    /is not a checkpoint: restore a valid one/,
  )
})

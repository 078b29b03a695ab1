import { createHash } from 'node:crypto'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { requireStoredCheckpoint } from '../../src/store/checkpointFile.ts'
import { readLossNote, writeLossNote } from '../../src/store/lossNote.ts'
import { sealNext } from '../../src/store/sealer.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { mustAppend, openInstance, openSessions } from './instance.ts'
import { restorableDatabase } from './restorableDatabase.ts'
import { claimOf, sampleSettlement } from './samplePayment.ts'

const unsignable = () => {
  throw new Error('nothing may be signed')
}

async function openRestorable() {
  const database = restorableDatabase(await createTestDatabase())
  return { database, ledger: await openInstance(database.serviceUrl) }
}

test('a backup that is restored under a running instance takes no payment again, and the instance stays closed', async () => {
  const { database, ledger } = await openRestorable()
  await mustAppend(ledger, claimOf(sampleSettlement()).change)
  await database.backUp()
  const sold = sampleSettlement()
  await mustAppend(ledger, claimOf(sold).change)
  expect(ledger.history.problem()).toBeUndefined()

  await database.restore()
  await expect(ledger.payments.append(claimOf(sold).change)).rejects.toMatchObject({ name: 'Fault', retryable: true })
  expect(await database.headPosition()).toBe(3)
  expect(ledger.history.problem()).toMatch(/not the one that this service has recorded/)
  expect(ledger.history.lost()).toMatchObject({
    seen: { position: 6 },
    finding: 'the database ends at event 3, and this instance has seen event 6',
  })
  await expect(sealNext({ ...ledger, sign: unsignable })).rejects.toMatchObject({
    message: expect.stringMatching(/not the one/),
    retryable: true,
  })
})

test('an older ledger that has grown past what was seen is refused by the append itself, on any connection', async () => {
  const { database, ledger } = await openRestorable()
  await mustAppend(ledger, claimOf(sampleSettlement()).change)
  await database.backUp()
  const sold = sampleSettlement()
  const { leaves } = await mustAppend(ledger, claimOf(sold).change)
  await database.restore()
  const other = await openInstance(database.serviceUrl)
  for (let payment = 0; payment < 3; payment++) await mustAppend(other, claimOf(sampleSettlement()).change)

  // A pooler hides the reconnect, so the comparison in the append stands alone. The append calls it as the owner.
  const sessions = openSessions(database.ownerUrl)
  const newest = assertPresent(leaves.at(-1), 'a claim has events')
  const compare = (timeline: number) =>
    sessions.query("select ledger.require_history($1, decode($2, 'hex'), $3)", [
      newest.position,
      newest.leafHash,
      timeline,
    ])
  await expect(compare(0)).rejects.toMatchObject({ code: 'TB001' })
  const atHead = sessions.query("select ledger.require_history(seq, sha256('another'), 0) from ledger.head")
  await expect(atHead, 'another event at the newest position').rejects.toMatchObject({ code: 'TB001' })
  await expect(ledger.payments.append(claimOf(sold).change)).rejects.toMatchObject({ name: 'Fault' })
  expect(ledger.history.lost()?.finding).toMatch(/^event 6 of the database is [0-9a-f]{64}, and this instance has seen/)
})

test('one instance that misses events closes the others, also one that has seen less', async () => {
  const { database, ledger: quiet } = await openRestorable()
  const busy = await openInstance(database.serviceUrl)
  await database.backUp()
  const sold = sampleSettlement()
  await mustAppend(busy, claimOf(sold).change)
  await database.restore()

  await quiet.requireHistory()
  await expect(busy.requireHistory()).rejects.toThrow(/not the one/)
  await expect(quiet.requireHistory()).rejects.toThrow(/not the one/)
  expect(quiet.history.lost()?.finding).toBe('another instance reports that event 3 is lost')
  // An operator who restarts an instance accepts the losses that were reported before.
  const restarted = await openInstance(database.serviceUrl)
  await mustAppend(restarted, claimOf(sold).change)
})

test('a loss that was noted keeps a restarted instance closed until the ledger is back', async () => {
  const { ledger } = await openRestorable()
  const { leaves } = await mustAppend(ledger, claimOf(sampleSettlement()).change)
  const newest = assertPresent(leaves.at(-1), 'a claim has events')
  const file = join(await makeScratchDirectory(), 'checkpoint')

  await writeLossNote(file, { ...newest, leafHash: createHash('sha256').digest('hex') })
  await expect(requireStoredCheckpoint(ledger.database, file)).rejects.toMatchObject({
    retryable: false,
    message: /does not have event 3 as an instance has seen it .*put .*checkpoint and .*checkpoint\.lost away/s,
  })
  await writeLossNote(file, newest)
  await requireStoredCheckpoint(ledger.database, file)
  expect(await readLossNote(file)).toBeUndefined()
  await expect(access(`${file}.lost`)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('an instance that has seen less than another notices it while it does nothing', async () => {
  const { database, ledger } = await openRestorable()
  const other = await openInstance(database.serviceUrl)
  await database.backUp()
  await mustAppend(other, claimOf(sampleSettlement()).change)
  // Each round of the sealer compares, and remembers what the others have appended.
  await ledger.requireHistory()
  await database.restore()
  await awaitThat('the idle instance has noticed', async () => {
    await ledger.requireHistory().catch(() => undefined)
    return ledger.history.lost() !== undefined
  })
})

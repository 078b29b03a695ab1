import { expect, test } from 'vitest'
import { auditSince } from '@tollbook/audit/auditSince'
import { exitCodeOf } from '@tollbook/audit/auditReport'
import { readCheckpoint } from '@tollbook/audit/checkpointNote'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { createTestDatabase } from '../support/database.ts'
import { growLedger, ledgerKey } from './auditedLedger.ts'
import { editBody, withTamperedLedger } from './tampering.ts'

/* An audit of the events behind a checkpoint. The tests follow each other: each leaves more damage behind. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const note = await growLedger({ serviceUrl, payments: 3, isNew: true })
const size = assertPresent(readCheckpoint(note), 'a checkpoint is stored').size
const newest = await growLedger({ serviceUrl, payments: 3, isNew: false })
const newestSize = assertPresent(readCheckpoint(newest), 'a checkpoint is stored').size

function auditBehind(given: string) {
  return auditSince({
    databaseUrl: adminUrl,
    since: { name: 'kept.txt', note: given },
    verifierKeys: [ledgerKey],
    ownCheckpoints: [],
    clock: systemClock,
  })
}

const codesOf = async (given = note) =>
  (await auditBehind(given)).findings.map(({ code, position }) => [code, position])

test('the new part is examined, and the questions that need the whole ledger are named', async () => {
  const report = await auditBehind(note)
  expect(report).toMatchObject({ findings: [], events: newestSize - size, resumedAfter: size })
  const { integrity, arithmetic, completeness, chainTruth } = report.verdicts
  expect(integrity.status).toBe('holds')
  for (const verdict of [arithmetic, completeness, chainTruth]) {
    expect(verdict.status).toBe('not_checked')
    expect(verdict.notChecked).not.toEqual([])
  }
  expect(exitCodeOf(report)).toBe(0)
  const none = await auditBehind(newest)
  expect(none).toMatchObject({ events: 0, findings: [] })
})

test('a checkpoint of another tree, and a ledger that is shorter than it, are found', async () => {
  const lines = newest.split('\n')
  const [origin = '', , root = '', ...rest] = lines
  const longer = [origin, String(newestSize + 5), root, ...rest].join('\n')
  expect(await codesOf(longer)).toContainEqual(['tree_too_small', newestSize + 1])
  const other = [origin, String(size), Buffer.alloc(32).toString('base64'), ...rest].join('\n')
  expect(await codesOf(other)).toContainEqual(['checkpoint_root_differs', size])
  await expect(auditBehind('nonsense')).rejects.toThrow('kept.txt is not a checkpoint')
})

test('changes of new events are found: a body, a posting, a hash before the checkpoint, and a missing event', async () => {
  await withTamperedLedger(adminUrl, async ({ sql, value }) => {
    const claimed = await value(`select max(seq) as value from ledger.events where kind = 'ProofClaimed'`)
    await sql(`update ledger.events set amounts = array(select a + 1 from unnest(amounts) a) where seq = ${claimed}`)
    expect(await codesOf()).toEqual([['posting_differs', claimed]])
    await sql(editBody(claimed, '"attempt":\\d', '"attempt":7'))
    expect(await codesOf()).toContainEqual(['leaf_mismatch', claimed])
    await sql(`delete from ledger.events where seq = ${newestSize - 1}`)
    expect(await codesOf()).toContainEqual(['position_missing', newestSize - 1])
    await sql(`update ledger.events set leaf_hash = sha256('another') where seq = ${size - 1}`)
    expect(await codesOf()).toContainEqual(['checkpoint_root_differs', size])
  })
})

import { expect, test } from 'vitest'
import { judgeArchive } from '../../src/doctor/databaseChecks.ts'

const none = { archiveMode: 'off', lastArchivedAt: null, lastArchiveFailureAt: null, walReceiver: null }

test('a receiver of the write-ahead log counts as an archive while it is connected', () => {
  expect(judgeArchive(none, 0)).toMatchObject({
    verdict: 'warning',
    fix: expect.stringContaining('pgBackRest'),
  })
  expect(judgeArchive({ ...none, walReceiver: 'active' }, 0).verdict).toBe('ok')
  expect(judgeArchive({ ...none, walReceiver: 'inactive' }, 0)).toMatchObject({
    verdict: 'failed',
    detail: expect.stringContaining('is not connected'),
    fix: expect.stringContaining('start `pg_receivewal`'),
  })
})

test('an archive that fails is not excused by a receiver', () => {
  const failing = { ...none, archiveMode: 'on', lastArchiveFailureAt: new Date(1), walReceiver: 'active' } as const
  expect(judgeArchive(failing, 0)).toMatchObject({ verdict: 'failed', detail: expect.stringContaining('archiving') })
})

test('a failure of archiving is over with the next archived segment, and an archive that stands still is a warning', () => {
  const archived = { ...none, archiveMode: 'on', lastArchivedAt: new Date(60_000), lastArchiveFailureAt: new Date(1) }
  expect(judgeArchive(archived, 61_000)).toMatchObject({ verdict: 'ok', detail: expect.stringContaining('1 s ago') })
  expect(judgeArchive(archived, 60_000 + 900_001).verdict).toBe('warning')
  expect(judgeArchive({ ...archived, lastArchiveFailureAt: new Date(60_001) }, 61_000).verdict).toBe('failed')
})

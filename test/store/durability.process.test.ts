import { chmod, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { silentLog } from '../../src/machine/log.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { problemAt } from './durabilityProblem.ts'

test('I27: fsync off, full_page_writes off and a standby are problems, each by its name', async () => {
  const dataDirectory = `${await makeScratchDirectory()}/postgres`
  const start = (settings: Readonly<Record<string, string>>) =>
    startEmbeddedPostgres({ dataDirectory, log: silentLog, settings })

  const careless = await start({ fsync: 'off', full_page_writes: 'off' })
  expect(await problemAt(careless.adminUrl)).toMatch(/turn on fsync, full_page_writes$/)
  await careless.stop()

  // This file makes a server a standby; without a primary it serves readers without end.
  const signal = `${dataDirectory}/standby.signal`
  await writeFile(signal, '')
  await chmod(signal, 0o644)
  const standby = await start({ hot_standby: 'on' })
  expect(await problemAt(standby.adminUrl)).toMatch(/standby: connect to the primary/)
  await standby.stop()
})

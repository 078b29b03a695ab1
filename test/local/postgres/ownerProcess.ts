import { startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { createLog } from '../../../src/machine/log.ts'

/*
 * A program that owns an embedded Postgres, for tests that kill or interrupt one, or run it as another user:
 * `node ownerProcess.ts DATA_DIRECTORY [PACKAGE_DIRECTORY]`. It prints the address of Postgres on one line of stdout.
 * SIGINT starts an endless drain; SIGTERM stops it properly.
 */
process.on('SIGINT', () => process.stdout.write('draining\n'))

const [, , dataDirectory = '', packageDirectory = ''] = process.argv
const postgres = await startEmbeddedPostgres({
  dataDirectory,
  ...(packageDirectory === '' ? {} : { packageDirectory }),
  log: createLog({ level: 'fatal', name: 'owner' }),
})
process.on('SIGTERM', () => void postgres.stop())
process.stdout.write(`${JSON.stringify({ adminUrl: postgres.adminUrl, postmasterPid: postgres.pid() })}\n`)

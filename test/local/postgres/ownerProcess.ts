import { binariesIn, findBinaries } from '@tollbook/sandbox/postgres/binaries'
import { startCluster } from '@tollbook/sandbox/postgres/cluster'
import { createLog } from '../../../src/machine/log.ts'

/*
 * A program that owns an embedded Postgres, for tests that kill or interrupt one, or run it as another user:
 * `node ownerProcess.ts DATA_DIRECTORY [PACKAGE_DIRECTORY]`. It prints the address of Postgres on one line of stdout.
 * SIGINT starts an endless drain; SIGTERM stops it properly.
 */
process.on('SIGINT', () => process.stdout.write('draining\n'))

const [, , dataDirectory = '', packageDirectory = ''] = process.argv
const cluster = await startCluster({
  binaries: await (packageDirectory === '' ? findBinaries() : binariesIn(packageDirectory)),
  dataDirectory,
  port: 0,
  settings: {},
  log: createLog({ level: 'fatal', name: 'owner' }),
})
process.on('SIGTERM', () => void cluster.stop())
const adminUrl = `postgres://postgres:${cluster.password}@127.0.0.1:${cluster.port}/postgres`
process.stdout.write(`${JSON.stringify({ adminUrl, postmasterPid: cluster.pid() })}\n`)

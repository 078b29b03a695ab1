import { startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { systemClock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'
import { createLog } from '../../src/machine/log.ts'
import { removeAbandonedDirectories } from './abandonedDirectories.ts'
import { dockerAnswers } from './dockerEngine.ts'
import { makeTemporaryDirectory } from './temporaryDirectory.ts'

/** The one Postgres of a test run. */
export interface DatabaseServer {
  readonly adminUrl: string
  readonly stop: () => Promise<void>
}

/**
 * `TEST_DATABASE_URL`, else a container, else the embedded binaries. Prints one line with the choice and its reason.
 * All three are durable (fsync on), because crash tests rely on it.
 */
export async function startDatabaseServer(environment: NodeJS.ProcessEnv): Promise<DatabaseServer> {
  const given = environment['TEST_DATABASE_URL']
  if (given !== undefined && given !== '') {
    say(`TEST_DATABASE_URL (${new URL(given).host})`)
    return { adminUrl: given, stop: () => Promise.resolve() }
  }
  if (!(await dockerAnswers(environment))) return startEmbedded('Docker does not answer, so testcontainers is skipped')
  const wantedImage = environment['TEST_POSTGRES_IMAGE']
  const image = wantedImage ?? 'postgres:17-alpine'
  try {
    return await startContainer(image)
  } catch (error) {
    // An image named by the user must work. With Docker but without a network to pull the default image, the tests
    // should still run.
    if (wantedImage !== undefined) throw error
    return startEmbedded(`testcontainers could not start ${image}: ${describeError(error)}`)
  }
}

async function startContainer(image: string): Promise<DatabaseServer> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql')
  const starting = new PostgreSqlContainer(image)
    .withUsername('postgres')
    .withDatabase('postgres')
    .withPassword(randomToken())
    .withCommand(['postgres', '-c', `max_connections=${maxConnections}`])
    .start()
  const container = await within(containerStartTimeoutMs, starting)
  if (container === undefined) {
    void starting.then((late) => late.stop()).catch(() => undefined)
    throw new Error(`it did not start within ${containerStartTimeoutMs} ms`)
  }
  say(`testcontainers, ${image}`)
  return {
    adminUrl: container.getConnectionUri(),
    stop: async () => {
      await container.stop()
    },
  }
}

async function startEmbedded(reason: string): Promise<DatabaseServer> {
  await removeAbandonedDirectories()
  const directory = await makeTemporaryDirectory()
  const postgres = await startEmbeddedPostgres({
    dataDirectory: `${directory.path}/postgres`,
    log: createLog({ level: 'error', name: 'test-postgres' }),
    settings: { max_connections: maxConnections },
  })
  say(`embedded binaries (${reason})`)
  return {
    adminUrl: postgres.adminUrl,
    stop: async () => {
      await postgres.stop()
      await directory.remove()
    },
  }
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
  const settled = new AbortController()
  const overdue = systemClock.sleep(timeoutMs, settled.signal).then(() => undefined)
  return Promise.race([work, overdue]).finally(() => {
    overdue.catch(() => undefined)
    settled.abort()
  })
}

function say(what: string): void {
  process.stdout.write(`Postgres for this test run: ${what}\n`)
}

/** Two test files at a time, each with a few pools of up to ten, and races of 32 clients. */
const maxConnections = '200'
/** Pulling the image counts, and testcontainers itself does not bound that. */
const containerStartTimeoutMs = 100_000

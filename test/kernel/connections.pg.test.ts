import { openDatabase } from '@tollbook/ledger/database'
import { afterEach, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../support/database.ts'

const { serviceUrl } = await createTestDatabase()
const log = { warn: () => undefined, error: () => undefined }

// Nothing waits for it: the tests move the clock.
const connectTimeoutMs = 60_000

/** A pool of one connection, whose second new connection is compared until the gate opens. */
function openGatedPool() {
  const gate = Promise.withResolvers<void>()
  const comparing = Promise.withResolvers<void>()
  let opened = 0
  const pool = openDatabase({
    databaseUrl: serviceUrl,
    applicationName: 'connections test',
    connectionsMax: 1,
    connectTimeoutMs,
    log,
    async onConnect() {
      opened += 1
      if (opened !== 2) return
      comparing.resolve()
      await gate.promise
    },
  })
  return { pool, comparing: comparing.promise, openGate: gate.resolve }
}

let close = async (): Promise<void> => undefined
afterEach(() => vi.useRealTimers())
afterEach(() => close())

test.each(['a connection', 'a query'] as const)(
  'a caller who no longer waits for %s loses none while a new one is compared, and nothing runs for it',
  async (what) => {
    const { pool, comparing, openGate } = openGatedPool()
    const first = await pool.connect()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const waiting = what === 'a query' ? pool.query('create temporary table late (id int)') : pool.connect()
    const refused = expect(waiting).rejects.toThrow('timeout exceeded')
    first.release(true)
    await comparing
    vi.advanceTimersByTime(connectTimeoutMs)
    await refused
    vi.useRealTimers()
    openGate()
    const { rows } = await pool.query("select to_regclass('pg_temp.late') is not null as late")
    expect(rows).toEqual([{ late: false }])
    close = () => pool.end()
  },
)

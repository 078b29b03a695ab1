import { openDatabase } from '@tollbook/ledger/database'
import { afterEach, expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'

const { serviceUrl } = await createTestDatabase()
const log = { warn: () => undefined, error: () => undefined }

/** A pool of one connection, whose second new connection is compared until the gate opens. */
function openGatedPool() {
  const gate = Promise.withResolvers<void>()
  const comparing = Promise.withResolvers<void>()
  let opened = 0
  const pool = openDatabase({
    databaseUrl: serviceUrl,
    applicationName: 'connections test',
    connectionsMax: 1,
    // The first connection has to be there within it, on a slow machine too.
    connectTimeoutMs: 1_500,
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
afterEach(() => close())

test.each(['a connection', 'a query'] as const)(
  'a caller who no longer waits for %s loses none while a new one is compared, and nothing runs for it',
  async (what) => {
    const { pool, comparing, openGate } = openGatedPool()
    const first = await pool.connect()
    const waiting = what === 'a query' ? pool.query('create temporary table late (id int)') : pool.connect()
    const refused = expect(waiting).rejects.toThrow('timeout exceeded')
    first.release(true)
    await comparing
    await refused
    openGate()
    const { rows } = await pool.query("select to_regclass('pg_temp.late') is not null as late")
    expect(rows).toEqual([{ late: false }])
    close = () => pool.end()
  },
)

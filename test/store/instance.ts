import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { assert } from '@tollbook/core/assert'
import { type Ledger, openLedger } from '../../src/store/openLedger.ts'
import type { AppendOutcome, PaymentChange } from '../../src/payment/paymentLedger.ts'
import { afterFile } from '../support/afterFile.ts'

/** The write side as one process of the service opens it, closed after the test file. */
export async function openInstance(databaseUrl: string): Promise<Ledger> {
  const ledger = await openLedger({ databaseUrl, applicationName: 'test instance', clock: systemClock, log: silentLog })
  afterFile(() => ledger.close())
  return ledger
}

/** Sessions of one role, closed after the test file. */
export function openSessions(connectionString: string, max = 4): pg.Pool {
  const pool = new pg.Pool({ connectionString, max, application_name: 'test sessions' })
  // A session that is idle when its server is killed is an event of the pool, not of the test.
  pool.on('error', () => undefined)
  afterFile(() => pool.end())
  return pool
}

export type Appended = Extract<AppendOutcome, { outcome: 'appended' }>

export async function mustAppend(ledger: Ledger, change: PaymentChange): Promise<Appended> {
  const appended = await ledger.payments.append(change)
  assert(appended.outcome === 'appended', `the append was taken, not ${appended.outcome}`)
  return appended
}

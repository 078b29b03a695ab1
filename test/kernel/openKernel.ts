import type pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { openDatabase } from '@tollbook/ledger/database'
import { createLedger, type LedgerDeps } from '@tollbook/ledger/ledger'
import type { LedgerKernel } from '@tollbook/ledger/port'
import { afterFile } from '../support/afterFile.ts'

const quiet = { warn: () => undefined, error: () => undefined }

/** A pool that is closed after the file. */
export function openPool(databaseUrl: string, connectionsMax = 8): pg.Pool {
  const pool = openDatabase({ databaseUrl, applicationName: 'kernel test', connectionsMax, log: quiet })
  afterFile(() => pool.end())
  return pool
}

/** One process's ledger: a separate queue over the pool. */
export function openKernel(pool: LedgerDeps['pool'], more: Partial<LedgerDeps> = {}): LedgerKernel {
  return createLedger({ pool, clock: systemClock, log: quiet, outcomeTimeoutMs: 15_000, ...more })
}

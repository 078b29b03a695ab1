import type { Log } from '../../machine/log.ts'
import { createPaymentFacts } from '../../reports/paymentFacts.ts'
import { createReports } from '../../reports/reports.ts'
import { eventsPerRollUpMax, rollUp } from '../../reports/rollUp.ts'
import { openDatabase } from '../../store/database.ts'

export interface ReportsOptions {
  readonly databaseUrl: string
  /** Database that the reports read. Undefined: the primary. */
  readonly readDatabaseUrl: string | undefined
  readonly token: { readonly mint: string; readonly decimals: number }
  readonly log: Log
}

// Use a small, separate pool, so that a download of a report never takes a connection from payments.
const connectionsMax = 3
// Maximum number of rollup steps per run. A longer backlog is spread over several runs.
const stepsPerRunMax = 20

export type OpenReports = ReturnType<typeof openReports>

export function openReports({ databaseUrl, readDatabaseUrl, token, log }: ReportsOptions) {
  const opened = new AsyncDisposableStack()
  const options = { databaseUrl, applicationName: 'tollbook finance', connectionsMax, log }
  const database = opened.adopt(openDatabase(options), (handle) => handle.destroy())
  const standby =
    readDatabaseUrl === undefined
      ? database
      : opened.adopt(openDatabase({ ...options, databaseUrl: readDatabaseUrl }), (handle) => handle.destroy())
  return {
    ...createReports(standby, token),
    // Read the state of one payment from the primary, because support and payers act on it.
    facts: createPaymentFacts(database),
    async rollUp() {
      for (let step = 0; step < stepsPerRunMax; step++) if ((await rollUp(database)) < eventsPerRollUpMax) return
    },
    close: () => opened.disposeAsync(),
  }
}

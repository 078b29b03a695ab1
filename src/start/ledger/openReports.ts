import type { Log } from '../../machine/log.ts'
import { createPaymentFacts, type PaymentFacts } from '../../reports/paymentFacts.ts'
import { createReports, type Reports } from '../../reports/reports.ts'
import { eventsPerRollUpMax, rollUp } from '../../reports/rollUp.ts'
import { openDatabase } from '../../store/database.ts'

/** The reports over a small pool of connections. The handle stays in here. */
export interface OpenReports extends Reports {
  readonly facts: PaymentFacts
  /** Brings the reports up to date, or closer to it by a bounded amount of work. */
  rollUp(): Promise<void>
  close(): Promise<void>
}

export interface ReportsOptions {
  readonly databaseUrl: string
  /** Source of the reports; the primary by default. */
  readonly readDatabaseUrl: string | undefined
  readonly token: { readonly mint: string; readonly decimals: number }
  readonly log: Log
}

// Separate and small: a download of a report never holds a connection that a payment waits for.
const connectionsMax = 3
// A longer backlog is spread over several rounds.
const stepsPerRoundMax = 20

/** Reports are read from a standby where one is configured. */
export function openReports({ databaseUrl, readDatabaseUrl, token, log }: ReportsOptions): OpenReports {
  const opened = new AsyncDisposableStack()
  const options = { databaseUrl, applicationName: 'tollbook finance', connectionsMax, log }
  const database = opened.adopt(openDatabase(options), (handle) => handle.destroy())
  const standby =
    readDatabaseUrl === undefined
      ? database
      : opened.adopt(openDatabase({ ...options, databaseUrl: readDatabaseUrl }), (handle) => handle.destroy())
  return {
    ...createReports(standby, token),
    // The state of one payment must not lag: support and payers act on it.
    facts: createPaymentFacts(database),
    async rollUp() {
      for (let step = 0; step < stepsPerRoundMax; step++) if ((await rollUp(database)) < eventsPerRollUpMax) return
    },
    close: () => opened.disposeAsync(),
  }
}

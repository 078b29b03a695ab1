import { rollUp } from '../reports/rollUp.ts'
import type { Database } from '../store/database.ts'

// Maximum of rollup steps: enough for twenty million events, in case no service has rolled up this ledger before.
const stepsMax = 2_000

export async function rollUpAll(database: Database, interrupted: AbortSignal): Promise<void> {
  for (let step = 0; step < stepsMax; step++) {
    interrupted.throwIfAborted()
    if ((await rollUp(database)) === 0) return
  }
}

import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import type { TabLedger } from '../payment/tabLedger.ts'
import { type Repeated, repeat } from './repeat.ts'

export interface TabEndDeps {
  readonly clock: Clock
  readonly log: Log
  readonly tabs: Pick<TabLedger, 'find' | 'listHolding' | 'close'>
  /** The database's time: one server whose clock is wrong must not end the tabs of all. */
  readonly readDatabaseClockMs: () => Promise<number>
}

const everyMs = 60_000

/** Closes tabs whose time is over, and owes to its wallet every amount that was returned to a closed tab. */
export function startTabEndJob(deps: TabEndDeps): Repeated {
  return repeat(deps, { name: 'tab ends', everyMs, run: () => endTabs(deps) })
}

/** One run. Two instances may run it at once: the lifecycle of each tab decides which of them is first. */
async function endTabs({ log, tabs, readDatabaseClockMs }: TabEndDeps): Promise<void> {
  const nowMs = await readDatabaseClockMs()
  for (const id of await tabs.listHolding()) {
    const tab = await tabs.find(id)
    if (tab === undefined || (!tab.lifecycle.isClosed && nowMs < tab.terms.endsAtMs)) continue
    const restBaseUnits = await tabs.close(id, 'end', nowMs)
    if (restBaseUnits !== undefined) log.info({ event: 'tab_rest_owed', tab: id, restBaseUnits: String(restBaseUnits) })
  }
}

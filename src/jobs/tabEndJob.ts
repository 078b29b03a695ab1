import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import type { TabLedger } from '../payment/tabLedger.ts'
import { eachInTurn, type Repeated, repeat } from './repeat.ts'

export interface TabEndDeps {
  readonly clock: Clock
  readonly log: Log
  readonly tabs: Pick<TabLedger, 'find' | 'listHolding' | 'close'>
  /** Reads the database's time. A server with a wrong clock could otherwise end the tabs of all servers. */
  readonly readDatabaseClockMs: () => Promise<number>
}

const everyMs = 60_000

/**
 * Owes the balances of tabs that have ended. Includes closed tabs, because an amount that was returned to a closed tab
 * also becomes a debt to its wallet.
 */
export function startTabEndJob(deps: TabEndDeps): Repeated {
  return repeat(deps, { name: 'tab ends', everyMs, run: () => endTabs(deps) })
}

/**
 * Closes the tabs that have ended. Two instances may run this at the same time: the lifecycle of each tab decides which
 * change is recorded.
 */
async function endTabs({ log, tabs, readDatabaseClockMs }: TabEndDeps): Promise<void> {
  const nowMs = await readDatabaseClockMs()
  await eachInTurn(await tabs.listHolding(), async (id) => {
    const tab = await tabs.find(id)
    if (tab === undefined || (!tab.lifecycle.isClosed && nowMs < tab.terms.endsAtMs)) return
    const closed = await tabs.close(id, 'end', nowMs)
    if (closed?.hasChanged === true)
      log.info({ event: 'tab_rest_owed', tab: id, restBaseUnits: String(closed.restBaseUnits) })
  })
}

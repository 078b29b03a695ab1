import type { Chain } from './chain/openChain.ts'
import type { Config } from './config.ts'
import { createFinanceAccess } from './http/financeAccess.ts'
import { createFinanceRoutes } from './http/financeRoutes.ts'
import type { FinanceServing } from './http/openServer.ts'
import { repeat } from './jobs/repeat.ts'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from './primitives/log.ts'
import { createReports } from './reports/reports.ts'
import { eventsPerRollUpMax, rollUp } from './reports/rollUp.ts'
import { openDatabase } from './store/database.ts'

export interface FinanceDeps {
  readonly clock: Clock
  readonly log: Log
  readonly databaseUrl: string
  readonly chain: Chain
}

export interface Finance {
  /** Undefined when nobody may read the reports over HTTP. */
  readonly serving: FinanceServing | undefined
  stop(): Promise<void>
}

// A report brings itself up to date as far as one step goes; this keeps the rest short.
const rollUpEveryMs = 1_000
// Then others get their turn; a long backlog takes several rounds.
const stepsPerRoundMax = 20
// Of its own, and few: whoever draws reports, or downloads them, never makes a payment wait for a connection.
const connectionsMax = 3

/** The finance reports with their access. Off unless configured: then nothing is rolled up and nothing is served. */
export function openFinance({ finance: config, publicUrl }: Config, deps: FinanceDeps): Finance {
  if (config === undefined) return { serving: undefined, stop: () => Promise.resolve() }
  const { clock, log, databaseUrl, chain } = deps
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook finance', connectionsMax, log })
  const rolling = repeat(deps, {
    name: 'report roll-up',
    everyMs: rollUpEveryMs,
    async run() {
      for (let step = 0; step < stepsPerRoundMax; step++) if ((await rollUp(database)) < eventsPerRollUpMax) return
    },
  })
  const { mint, decimals, network, paymentWallet } = chain.terms
  const routes = createFinanceRoutes({
    clock,
    log,
    access: createFinanceAccess(config, { clock, log }),
    reports: createReports(database, { mint, decimals }),
    network,
    publicUrl: config.listener === undefined ? '' : publicUrl,
    walletBaseUnits: () => chain.reader.balanceBaseUnits(paymentWallet),
  })
  const stop = async () => {
    await rolling.stop()
    await database.destroy()
  }
  return { serving: { routes, listener: config.listener }, stop }
}

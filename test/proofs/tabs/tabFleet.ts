import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { awaitThat } from '../../support/awaitThat.ts'
import { startLedgerServer } from '../ledgerServer.ts'
import { openEnvironment, type ProofEnvironment } from '../proofEnvironment.ts'
import { type SpawnedServer, spawnServer } from '../spawnServer.ts'

/** Server processes on one ledger, which can be killed with Postgres and start again. */
export interface TabFleet extends AsyncDisposable {
  readonly environment: ProofEnvironment
  readonly runsFile: string
  /** Configuration of each instance. */
  readonly env: Readonly<Record<string, string>>
  /** Address of one instance; `nth` counts on over the instances. */
  baseUrl(nth: number): string
  /** Returns when the instance sells again, at another port. */
  killServer(nth: number): Promise<void>
  /** Returns when Postgres has been restarted. */
  killPostgres(): Promise<void>
}

const servers = 4

export async function openTabFleet(settings: Readonly<Record<string, string>>): Promise<TabFleet> {
  await using opened = new AsyncDisposableStack()
  let pid = (): number => 0
  const environment = opened.use(
    await openEnvironment({
      async startServer() {
        const server = await startLedgerServer()
        pid = server.postgres.pid
        return server
      },
    }),
  )
  const runsFile = `${environment.directory}/runs`
  const env = {
    ...environment.env,
    TAB_WALLET: environment.tabWallet.publicKey.toBase58(),
    TABS_TOTAL_MAX_USD: '1000000',
    // Short leases, so that the holds of a dead process are on their tabs again soon.
    HANDLER_TIMEOUT_MS: '500',
    ...settings,
  }
  // A server that loses Postgres while it starts ends, as its supervisor expects.
  const start = async (): Promise<SpawnedServer> => {
    for (let tries = 1; ; tries++) {
      try {
        return await spawnServer({ env, runsFile })
      } catch (error) {
        if (tries === startsMax) throw error
        await systemClock.sleep(500)
      }
    }
  }
  const fleet: SpawnedServer[] = []
  // One after the other: four that start at once on a busy machine do not reach the database in time.
  while (fleet.length < servers) fleet.push(await start())
  opened.defer(async () => void (await Promise.all(fleet.map((server) => server.stop()))))
  const at = (nth: number) => assertPresent(fleet[nth % servers], 'the instance runs')
  const disposables = opened.move()
  return {
    environment,
    runsFile,
    env,
    baseUrl: (nth) => at(nth).baseUrl,
    async killServer(nth) {
      process.kill(at(nth).pid, 'SIGKILL')
      await at(nth).gone
      fleet[nth % servers] = await start()
    },
    async killPostgres() {
      const victim = pid()
      process.kill(victim, 'SIGKILL')
      await awaitThat('Postgres has been restarted', () => pid() !== victim)
    },
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}

const startsMax = 20

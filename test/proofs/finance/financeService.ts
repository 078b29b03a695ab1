import { join } from 'node:path'
import { z } from 'zod'
import { createService } from '../../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../../src/config.ts'
import { openLocalFinance } from '../../../src/cli/local/financeTokens.ts'
import { type Home, openHome } from '../../../src/cli/local/home.ts'
import { readAddress } from '@tollbook/core/address'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../../src/machine/log.ts'
import { buy } from '../../support/ask.ts'
import { openEnvironment, type ProofEnvironment } from '../proofEnvironment.ts'
import { say } from '../verdict.ts'
import { seedLedger } from './seedLedger.ts'

/** The service with its finance reports, on a seeded ledger with one real sale on top, all of it rolled up. */
export interface FinanceService extends AsyncDisposable {
  readonly baseUrl: string
  readonly financeToken: string
  /** Payments of the seed: fewer than requested when the time was over. */
  readonly payments: number
  /** Configuration of a command of the service. */
  readonly env: Readonly<Record<string, string>>
  /** Signature of the sale. */
  readonly signature: string
  /** Id of its receipt. */
  readonly receiptId: string
  /** A path below /api/finance, asked as an auditor. */
  ask(path: string): Promise<Response>
  dataOf<T>(path: string, shape: z.ZodType<T>): Promise<T>
}

export interface SeedSize {
  readonly payments: number
  readonly durationMaxMs: number
}

export async function openFinanceService({ payments: asked, durationMaxMs }: SeedSize): Promise<FinanceService> {
  await using opened = new AsyncDisposableStack()
  const environment = opened.use(await openEnvironment())
  const mint = assertPresent(readAddress(environment.env['TOKEN_MINT'] ?? ''), 'a mint')
  const onProgress = (done: number) => say(`       ${done} of ${asked} payments seeded`)
  const startedAtMs = systemClock.monotonicMs()
  const payments = await seedLedger(environment.database, { mint, payments: asked, durationMaxMs, onProgress })
  const seconds = Math.round((systemClock.monotonicMs() - startedAtMs) / 1000)
  say(`${payments} of ${asked} payments seeded over 120 days, in ${seconds} s`)
  const home = await openHome(join(environment.directory, 'home'))
  const service = opened.use(await serveFinance({ environment, home, payments }))
  const disposables = opened.move()
  return { ...service, [Symbol.asyncDispose]: () => disposables.disposeAsync() }
}

export interface SeededLedger {
  readonly environment: Pick<ProofEnvironment, 'env' | 'database' | 'payer'>
  /** Has the keys of the identity provider. */
  readonly home: Home
  readonly payments: number
}

/** Starts the service on a seeded ledger, and buys once. */
export async function serveFinance({ environment, home, payments }: SeededLedger): Promise<FinanceService> {
  await using opened = new AsyncDisposableStack()
  const access = await openLocalFinance(home, systemClock)
  const config = readConfig(environment.env)
  assert(isServiceConfig(config), 'the environment has a database, a chain and a key')
  const service = await createService({ ...config, finance: access.config }, { log: silentLog })
  opened.defer(() => service.close())
  const baseUrl = `http://127.0.0.1:${service.port}`
  const ask = (path: string) =>
    fetch(`${baseUrl}/api/finance/${path}`, { headers: { authorization: `Bearer ${access.auditorToken}` } })
  const dataOf = async <T>(path: string, shape: z.ZodType<T>): Promise<T> =>
    z.object({ data: shape }).parse(await (await ask(path)).json()).data
  const { receipt } = await buy({ baseUrl, payer: environment.payer })
  await caughtUp(dataOf)
  await sealed(baseUrl, dataOf)
  const disposables = opened.move()
  return {
    baseUrl,
    financeToken: access.financeToken,
    payments,
    env: environment.env,
    signature: receipt.signature,
    receiptId: receipt.id,
    ask,
    dataOf,
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}

const standing = z.object({ ledger: z.object({ position: z.int(), headPosition: z.int() }) })

/** Waits for the background roll-up; a report never waits for all of it. */
async function caughtUp(dataOf: FinanceService['dataOf']): Promise<void> {
  const startedAtMs = systemClock.monotonicMs()
  const look = async () => (await dataOf('summary', standing)).ledger
  const first = await look()
  for (let now = first; now.position < now.headPosition; now = await look()) await systemClock.sleep(100)
  const seconds = Math.max(systemClock.monotonicMs() - startedAtMs, 1) / 1000
  const rolled = first.headPosition - first.position
  say(`rolled up to position ${first.headPosition}; the last ${rolled} events in ${seconds.toFixed(1)} s`)
}

const sealLookMs = 1_000

/** Waits for the checkpoint that covers the sale: a closing statement ends at one. */
async function sealed(baseUrl: string, dataOf: FinanceService['dataOf']): Promise<void> {
  const { headPosition } = (await dataOf('summary', standing)).ledger
  const sealedUpto = async () => Number((await (await fetch(`${baseUrl}/api/ledger/checkpoint`)).text()).split('\n')[1])
  let shownPercent = 0
  for (let size = await sealedUpto(); !(size >= headPosition); size = await sealedUpto()) {
    const percent = Math.floor((10 * size) / headPosition) * 10
    if (percent > shownPercent) say(`       ${percent} % of ${headPosition} events sealed`)
    shownPercent = Math.max(shownPercent, percent)
    await systemClock.sleep(sealLookMs)
  }
}

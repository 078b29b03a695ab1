import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { systemClock } from '@tollbook/core/clock'
import type { MarketServers } from '../../support/marketServers.ts'
import type { ChainControl } from '../nodes/chainControl.ts'
import { say } from '../verdict.ts'
import type { Instances } from './instances.ts'

export interface TroubleDeps {
  readonly instances: Instances
  readonly postgresPid: () => number
  readonly chain: ChainControl
  readonly markets: MarketServers
  readonly dollarMint: string
  readonly deliver: (baseUnits: bigint) => Promise<void>
  /** True while the promised burns leave no room for another sale in dollars. */
  readonly isAtLimit: () => Promise<boolean>
  /** Called while no instance may offer dollars, with the reason. */
  readonly probe: (reason: string) => Promise<void>
}

export interface Trouble {
  /** Prices of the token in US dollars that the markets said. */
  readonly tokenPrices: readonly string[]
  /** The peg left at the first time, and was back at the second. */
  readonly away: readonly [number, number]
  readonly kills: { servers: number; postgres: number; forks: number }
}

export const firstTokenPrice = '0.001'
const laterTokenPrices = ['0.0013', '0.0009', '0.0016', '0.0007']
const limitMsMax = 180_000
const limitProbes = 5
/** Offers share a reading of one second. */
const limitKnownMs = 2_000
const priceEveryMs = 40_000
const deliverEveryMs = 35_000
const deliveredBaseUnits = 150_000_000n
/** Servers of each lane are killed one after another. Between two kills their jobs have time to end what was killed. */
const [killLanes, killEveryMs] = [2, 6_000]
const forkMs = 3_000
/** Dollars are checked every 30 s. */
export const pegKnownMs = 40_000
const pegProbedMs = 10_000
const pegged: [string, string, string] = ['1', '1.001', '0.999']

/**
 * Kills and forks. Meanwhile sales in dollars reach the limit of promised burns and the treasury delivers; then prices
 * jump, and the peg leaves by one market, then by two, and returns.
 */
export async function makeTrouble(totalMs: number, deps: TroubleDeps): Promise<Trouble> {
  const startedAtMs = systemClock.monotonicMs()
  const elapsedMs = () => systemClock.monotonicMs() - startedAtMs
  const left = (): boolean => elapsedMs() < totalMs
  const kills = { servers: 0, postgres: 0, forks: 0 }
  const every = async (everyMs: number, step: (index: number) => Promise<void>): Promise<void> => {
    for (let index = 0; left(); index++) {
      await systemClock.sleep(Math.min(everyMs, Math.max(0, totalMs - elapsedMs())))
      if (left()) await step(index)
    }
  }
  const tokenPrices = [firstTokenPrice]
  const killing = Promise.all([
    ...Array.from({ length: killLanes }, (_, lane) =>
      every(killEveryMs, async (index) => {
        kills.servers++
        await deps.instances.kill(index * killLanes + lane)
      }),
    ),
    every(30_000, async () => {
      kills.postgres++
      await killPostgres(deps.postgresPid())
    }),
    every(12_000, async () => {
      kills.forks++
      await deps.chain.setNode(0, { fork: true })
      await systemClock.sleep(forkMs)
      await deps.chain.setNode(0, {})
    }),
  ])
  await reachLimit(deps)
  const [away] = await Promise.all([
    movePeg(Math.max(0, totalMs - elapsedMs()), deps),
    every(priceEveryMs, async (index) => {
      const price = laterTokenPrices[index % laterTokenPrices.length] ?? firstTokenPrice
      tokenPrices.push(price)
      deps.markets.sayAll(price)
    }),
    every(deliverEveryMs, () => deps.deliver(deliveredBaseUnits)),
  ])
  await killing
  return { tokenPrices, away, kills }
}

/** From another process, so that the callers of this one are at work. */
async function killPostgres(pid: number): Promise<void> {
  await once(spawn('/bin/sh', ['-c', `kill -9 ${pid}`]), 'exit')
}

/** Waits until the treasury owes as much as it may, checks that dollars are off, and delivers. */
async function reachLimit({ isAtLimit, probe, deliver }: TroubleDeps): Promise<void> {
  const untilMs = systemClock.monotonicMs() + limitMsMax
  while (!(await isAtLimit()) && systemClock.monotonicMs() < untilMs) await systemClock.sleep(500)
  await systemClock.sleep(limitKnownMs)
  for (let probes = 0; probes < limitProbes; probes++) await probe('at the limit')
  const isReached = await isAtLimit()
  say(`the promised burns ${isReached ? 'reached' : 'did not reach'} their limit, and the treasury delivers`)
  await deliver(2n * deliveredBaseUnits)
}

async function movePeg(totalMs: number, { markets, dollarMint, probe }: TroubleDeps): Promise<[number, number]> {
  await systemClock.sleep(totalMs * 0.2)
  markets.sayOf(dollarMint, ['0.95', '1', '1'])
  say('one market prices the dollar 5 % off')
  await systemClock.sleep(totalMs * 0.15)
  markets.sayOf(dollarMint, ['0.95', '0.97', '1'])
  const leftAtMs = systemClock.nowMs()
  say('two markets price the dollar more than 2 % off')
  await systemClock.sleep(pegKnownMs)
  const backAtMs = leftAtMs + Math.max(totalMs * 0.35, pegKnownMs + pegProbedMs)
  while (systemClock.nowMs() < backAtMs) {
    await probe('away from the peg')
    await systemClock.sleep(500)
  }
  const away: [number, number] = [leftAtMs, systemClock.nowMs()]
  markets.sayOf(dollarMint, pegged)
  say('the peg is back')
  return away
}

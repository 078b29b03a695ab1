import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { openEnvironment, type ProofEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { allAttacks } from './hostile/allAttacks.ts'
import { startAttacker } from './hostile/child.ts'
import { openProcessorMeter, type ProcessorUse, usedBetween } from './hostile/processorUse.ts'
import { withLimits } from './hostile/siege.ts'
import type { Bench, BenchOptions, Yardstick } from './yardstick.ts'

const addresses = Array.from({ length: 64 }, (_, n) => `127.0.2.${n + 1}`)
const wavesSeconds = 2
// Time for the server to settle: start, caches and the first rounds of its jobs.
const settleMs = 4_000
// Purchases a second that the attacks take as capacity; each sends ten times as many requests.
const capacityPerSecond = 30
const millisecondsGoal = 2

/** Each attack alone, without payers, so that nothing is shed: what one of its requests or connections costs. */
export const attacks: Bench = {
  name: 'attacks',
  about: 'processor time of the server and of Postgres for one request or connection of each attack',
  async run(options) {
    await using environment = await openEnvironment()
    const found: Yardstick[] = []
    for (const { name } of allAttacks) found.push(await measureAttack(environment, name, options))
    return found
  },
}

async function measureAttack(
  environment: ProofEnvironment,
  name: string,
  { roundSeconds, attackersNice, progress }: BenchOptions,
): Promise<Yardstick> {
  const server = await spawnServer({
    env: { ...withLimits(environment.env), TOKEN_PRICE_USD: '100' },
    runsFile: `${environment.directory}/runs`,
  })
  const { chain, database } = environment
  await using meter = await openProcessorMeter({
    adminUrl: database.adminUrl,
    serverPid: server.pid,
    chainPid: chain.pid,
  })
  const during = async (durationMs: number): Promise<ProcessorUse> => {
    const before = await meter.read()
    await systemClock.sleep(durationMs)
    return usedBetween(before, await meter.read())
  }
  try {
    await systemClock.sleep(settleMs)
    const durationMs = wavesSeconds * roundSeconds * 1000
    const idle = await during(durationMs)
    const port = Number(new URL(server.baseUrl).port)
    const target = {
      port,
      wallet: environment.payer.address,
      addresses,
      nice: attackersNice,
      capacityPerSecond,
      only: name,
    }
    const attacker = startAttacker(target)
    const used = await during(durationMs)
    const [report] = await attacker.stop()
    progress(`attacks: ${report ?? 'no report'}`)
    const count = countOf(report ?? '{}')
    assert(count > 0, 'an attack opens connections or sends requests')
    const serverMs = (1000 * (used.server - idle.server)) / count
    const postgresMs = (1000 * (used.postgres - idle.postgres)) / count
    return {
      what: `processor ms of one of: ${name}`,
      value: serverMs + postgresMs,
      goal: { atMost: millisecondsGoal },
      detail: `server ${serverMs.toFixed(2)} ms, Postgres ${postgresMs.toFixed(2)} ms, of ${count} in ${durationMs / 1000} s`,
    }
  } finally {
    await server.stop()
  }
}

/** Requests that were answered, or the connections of an attack that sends none. */
function countOf(report: string): number {
  const counts: Record<string, Record<string, number>> = JSON.parse(report)
  const [of = {}] = Object.values(counts)
  const answered = Object.entries(of).reduce((sum, [name, count]) => (/^\d{3}$/.test(name) ? sum + count : sum), 0)
  return Math.max(answered, of['opened'] ?? 0)
}

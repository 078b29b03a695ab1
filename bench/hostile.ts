import { checkOutRelease } from '../test/proofs/upgrade/earlierRelease.ts'
import { createDatabaseTemplate } from '../test/support/databaseTemplate.ts'
import { cloneTemplate } from '../test/support/testDatabase.ts'
import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { besiege, type Probed, type Siege } from './hostile/siege.ts'
import type { Bench, Yardstick } from './yardstick.ts'

/** The last commit whose requests took a slot before their bodies were read. */
const earlierCommit = 'ba05378'
const manyAddresses = Array.from({ length: 64 }, (_, n) => `127.0.2.${n + 1}`)
const oneAddress = ['127.0.3.1']
const windowRounds = 5
const millionBytes = 1e6
const memoryBudget = 512 * millionBytes

/** Every attack that closed the first release, all at once, while callers pay. */
export const hostile: Bench = {
  name: 'hostile',
  about: 'paid goodput, /livez and memory while strangers attack, before and after the admission of decision 0027',
  async run({ roundSeconds, progress }) {
    await using environment = await openEnvironment()
    const windowMs = roundSeconds * windowRounds * 1000
    const earlierRelease = await checkOutRelease(earlierCommit)
    try {
      const { entry, migrate } = earlierRelease
      const { adminUrl, serviceUrl: databaseUrl } = environment.database
      const earlierDatabase = await cloneTemplate(await createDatabaseTemplate({ adminUrl, migrate }))
      const besieged = {
        environment,
        databaseUrl: earlierDatabase.serviceUrl,
        entry,
        attackers: manyAddresses,
        windowMs,
      }
      const earlier = await besiege(besieged)
      progress(`hostile: ${earlierCommit}: ${describe(earlier)}`)
      const many = await besiege({ environment, databaseUrl, attackers: manyAddresses, windowMs })
      progress(`hostile: from ${manyAddresses.length} addresses: ${describe(many)}; ${many.attackers}`)
      const one = await besiege({ environment, databaseUrl, attackers: oneAddress, windowMs })
      progress(`hostile: from one address: ${describe(one)}; ${one.attackers}`)
      return [
        ...yardsticks(`attacked from ${manyAddresses.length} addresses`, many, earlier),
        ...yardsticks('attacked from one address', one, earlier),
      ]
    } finally {
      await earlierRelease.remove()
    }
  },
}

function yardsticks(attacked: string, now: Siege, earlier: Siege): readonly Yardstick[] {
  const beside = (read: (siege: Siege) => string) => `${read(now)}; ${earlierCommit}: ${read(earlier)}`
  return [
    {
      what: `paid goodput ÷ its own peak, ${attacked}`,
      value: now.besiegedPerSecond / now.peakPerSecond,
      goal: { atLeast: 0.8 },
      detail: beside(
        (siege) => `${siege.besiegedPerSecond.toFixed(1)} of ${siege.peakPerSecond.toFixed(1)} purchases/s`,
      ),
    },
    {
      what: `seconds of a purchase, p99, ${attacked}`,
      value: now.besiegedP99Ms / 1000,
      goal: { atMost: 2 },
      detail: beside((siege) => `${(siege.besiegedP99Ms / 1000).toFixed(1)} s`),
    },
    livez(`slowest /livez in ms, ${attacked}`, now.probed, earlier.probed),
    livez(`slowest /livez in ms, on HEALTH_PORT, ${attacked}`, now.probedApart ?? now.probed, earlier.probed),
    {
      what: `growth of resident memory ÷ ${memoryBudget / millionBytes} MB, ${attacked}`,
      value: (now.besiegedBytes - now.quietBytes) / memoryBudget,
      goal: { atMost: 1 },
      detail: beside(
        ({ quietBytes, besiegedBytes, died }) =>
          `${(quietBytes / millionBytes).toFixed(0)} to ${(besiegedBytes / millionBytes).toFixed(0)} MB${died === undefined ? '' : `, died: ${died}`}`,
      ),
    },
    {
      what: `paid goodput from 5 s after the attack ÷ its own peak, ${attacked}`,
      value: now.recoveredPerSecond / now.peakPerSecond,
      goal: { atLeast: 0.9 },
      detail: beside((siege) => `${siege.recoveredPerSecond.toFixed(1)} purchases/s`),
    },
  ]
}

function livez(what: string, now: Probed, earlier: Probed): Yardstick {
  return {
    what,
    value: now.failed > 0 ? Infinity : now.slowestMs,
    goal: { atMost: 100 },
    detail: `${describeProbes(now)}; ${earlierCommit}: ${describeProbes(earlier)}`,
  }
}

function describeProbes({ count, failed, slowestMs }: Probed): string {
  return `${slowestMs.toFixed(0)} ms, ${failed} of ${count} not 200`
}

function describe(siege: Siege): string {
  return [
    `${siege.peakPerSecond.toFixed(1)} purchases/s, then ${siege.besiegedPerSecond.toFixed(1)}, then ${siege.recoveredPerSecond.toFixed(1)}`,
    `p99 ${siege.besiegedP99Ms.toFixed(0)} ms`,
    `/livez ${describeProbes(siege.probed)}`,
    ...(siege.probedApart === undefined ? [] : [`on HEALTH_PORT ${describeProbes(siege.probedApart)}`]),
    `${(siege.quietBytes / millionBytes).toFixed(0)} to ${(siege.besiegedBytes / millionBytes).toFixed(0)} MB`,
    `payers' failures ${siege.failures}`,
    ...(siege.died === undefined ? [] : [`died: ${siege.died}`]),
  ].join(', ')
}

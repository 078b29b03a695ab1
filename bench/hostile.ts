import { checkOutRelease } from '../test/proofs/upgrade/earlierRelease.ts'
import { createDatabaseTemplate } from '../test/support/databaseTemplate.ts'
import { cloneTemplate } from '../test/support/testDatabase.ts'
import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { describeLoad } from './hostile/attack.ts'
import { describeUse } from './hostile/processorUse.ts'
import { besiege, type Phase, type Probed, type Siege, type SiegeOptions } from './hostile/siege.ts'
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
  async run({ roundSeconds, progress, ...options }) {
    await using environment = await openEnvironment()
    const windowMs = roundSeconds * windowRounds * 1000
    const { serviceUrl: databaseUrl } = environment.database
    const { attackersNice, profileDirectory } = options
    const besieged = { environment, databaseUrl, windowMs, attackersNice, profileDirectory }
    const report = async (name: string, siege: SiegeOptions): Promise<Siege> => {
      const found = await besiege(siege)
      progress(`hostile: ${name}: ${describe(found)}`)
      return found
    }
    const many = await report(`from ${manyAddresses.length} addresses`, { ...besieged, attackers: manyAddresses })
    const one = await report('from one address', { ...besieged, attackers: oneAddress })
    const earlier = options.comparesEarlier ? await besiegeEarlier(besieged, report) : undefined
    return [
      ...yardsticks(`attacked from ${manyAddresses.length} addresses`, many, earlier),
      ...yardsticks('attacked from one address', one, earlier),
    ]
  },
}

async function besiegeEarlier(
  besieged: Omit<SiegeOptions, 'attackers'>,
  report: (name: string, siege: SiegeOptions) => Promise<Siege>,
): Promise<Siege> {
  const release = await checkOutRelease(earlierCommit)
  try {
    const { entry, migrate } = release
    const { adminUrl } = besieged.environment.database
    const { serviceUrl: databaseUrl } = await cloneTemplate(await createDatabaseTemplate({ adminUrl, migrate }))
    return await report(earlierCommit, { ...besieged, databaseUrl, entry, attackers: manyAddresses })
  } finally {
    await release.remove()
  }
}

function yardsticks(attacked: string, now: Siege, earlier: Siege | undefined): readonly Yardstick[] {
  const beside = (read: (siege: Siege) => string) =>
    earlier === undefined ? read(now) : `${read(now)}; ${earlierCommit}: ${read(earlier)}`
  const { peak, duringDecoy, besieged, recovered } = now
  return [
    {
      what: `paid goodput ÷ its own peak, ${attacked}`,
      value: besieged.purchasesPerSecond / peak.purchasesPerSecond,
      goal: { atLeast: 0.8 },
      detail: beside((siege) => `${rate(siege.besieged)} of ${rate(siege.peak)} purchases/s`),
    },
    {
      what: `paid goodput ÷ that during the same attack on a decoy, ${attacked}`,
      value: besieged.purchasesPerSecond / duringDecoy.purchasesPerSecond,
      goal: { atLeast: 0.8 },
      detail: beside((siege) => `${rate(siege.besieged)} of ${rate(siege.duringDecoy)} purchases/s`),
    },
    {
      what: `purchases per processor second of the server ÷ those of its peak, ${attacked}`,
      value: perServerSecond(besieged) / perServerSecond(peak),
      goal: { atLeast: 0.8 },
      detail: beside(
        (siege) => `${perServerSecond(siege.besieged).toFixed(1)} of ${perServerSecond(siege.peak).toFixed(1)}`,
      ),
    },
    {
      what: `seconds of a purchase, p99, ${attacked}`,
      value: besieged.p99Ms / 1000,
      goal: { atMost: 2 },
      detail: beside((siege) => `${(siege.besieged.p99Ms / 1000).toFixed(1)} s`),
    },
    livez(`slowest /livez in ms, ${attacked}`, now.probed, earlier?.probed),
    livez(`slowest /livez in ms, on HEALTH_PORT, ${attacked}`, now.probedApart ?? now.probed, earlier?.probed),
    ...beyondTheMachine(attacked, now),
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
      value: recovered.purchasesPerSecond / peak.purchasesPerSecond,
      goal: { atLeast: 0.9 },
      detail: beside((siege) => `${rate(siege.recovered)} purchases/s`),
    },
  ]
}

function rate({ purchasesPerSecond }: Phase): string {
  return purchasesPerSecond.toFixed(1)
}

function perServerSecond({ purchasesPerSecond, seconds, processor }: Phase): number {
  return (purchasesPerSecond * seconds) / processor.server
}

function livez(what: string, now: Probed, earlier: Probed | undefined): Yardstick {
  return {
    what,
    value: now.failed > 0 ? Infinity : now.slowestMs,
    goal: { atMost: 100 },
    detail: `${describeProbes(now)}${earlier === undefined ? '' : `; ${earlierCommit}: ${describeProbes(earlier)}`}`,
  }
}

/** The same probes of a process that only answers, in the same run: what remains is the delay of the service. */
function beyondTheMachine(attacked: string, { probed, probedApart, probedControl }: Siege): readonly Yardstick[] {
  const ratio = (where: string, ours: Probed): Yardstick => ({
    what: `p99 of /livez ${where} ÷ p99 of a process that only answers, ${attacked}`,
    value: ours.p99Ms / probedControl.p99Ms,
    goal: { atMost: 2 },
    detail: `${describeProbes(ours)}; control: ${describeProbes(probedControl)}`,
  })
  return [ratio("on the callers' port", probed), ratio('on HEALTH_PORT', probedApart ?? probed)]
}

function describeProbes({ count, failed, p99Ms, slowestMs }: Probed): string {
  return `slowest ${slowestMs.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ${failed} of ${count} not 200`
}

function describe(siege: Siege): string {
  const {
    peak,
    duringDecoy,
    besieged,
    recovered,
    probed,
    probedApart,
    probedControl,
    quietBytes,
    besiegedBytes,
    failures,
    died,
    attacks,
    attacksOnDecoy,
  } = siege
  return [
    `${rate(peak)} purchases/s, ${rate(duringDecoy)} during the same attack on a decoy, then ${rate(besieged)}, then ${rate(recovered)}`,
    `p99 ${besieged.p99Ms.toFixed(0)} ms`,
    `/livez ${describeProbes(probed)}`,
    ...(probedApart === undefined ? [] : [`on HEALTH_PORT ${describeProbes(probedApart)}`]),
    `control ${describeProbes(probedControl)}`,
    `${(quietBytes / millionBytes).toFixed(0)} to ${(besiegedBytes / millionBytes).toFixed(0)} MB`,
    `payers' failures ${failures}`,
    ...(died === undefined ? [] : [`died: ${died}`]),
    `\n  processors at the peak: ${describeUse(peak.processor, peak.seconds)}`,
    `\n  processors during the attack on a decoy: ${describeUse(duringDecoy.processor, duringDecoy.seconds)}`,
    `\n  processors under attack: ${describeUse(besieged.processor, besieged.seconds)}`,
    `\n  attacks, offered and achieved: ${describeLoad(attacks)}`,
    `\n  the same on the decoy: ${describeLoad(attacksOnDecoy)}`,
  ].join(', ')
}

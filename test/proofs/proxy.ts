import { systemClock } from '@tollbook/core/clock'
import { type AttackReport, describeLoad, readReport } from '../../bench/hostile/attack.ts'
import { startAttacker } from '../../bench/hostile/child.ts'
import { attackDecoy } from '../../bench/hostile/decoy.ts'
import { type Payers, startPayers } from '../../bench/hostile/payers.ts'
import { withLimits } from '../../bench/hostile/siege.ts'
import { openEnvironment, type ProofEnvironment } from './proofEnvironment.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { findHaProxy, startHaProxy } from './proxy/haProxy.ts'
import { type SpawnedServer, spawnServer } from './spawnServer.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * The attacks of `npm run bench -- hostile` against the load balancer that we ship, with two real instances behind it.
 * Neither instance leaves the rotation, and callers who pay are served.
 */

const command = proofCommand('proxy', 'Attacks deploy/haproxy.cfg in front of two instances. About a minute.')
  .option('--seconds <n>', 'length of the attack', wholeNumber, 20)
  .option('--payers <n>', 'callers who buy without a pause', wholeNumber, 8)
  .option('--addresses <n>', 'client addresses of the attackers', wholeNumber, 32)
const {
  seconds,
  payers: payerCount,
  addresses,
} = command.parse().opts<Record<'seconds' | 'payers' | 'addresses', number>>()
// The attackers share the processors of the service, so this is less than the 0.8 that `npm run bench -- hostile` asks
// for.
const goodputMin = 0.5
// As in `npm run bench -- hostile`.
const attackersNice = 5

// Of 2,050 connections, and of some ten times the capacity.
const openedMin = 1_500
const sentMin = 300

if (findHaProxy() === undefined) couldNotRun('there is no haproxy (apt-get install haproxy)')
else await prove()

async function prove(): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const environment = opened.use(await openEnvironment())
  const instances = await Promise.all([1, 2].map((n) => startInstance(environment, n)))
  for (const instance of instances) opened.defer(() => instance.stop())
  const proxy = opened.use(
    await startHaProxy({ directory: environment.directory, instances: instances.map(({ baseUrl }) => baseUrl) }),
  )
  const payers = startPayers({
    baseUrl: proxy.baseUrl,
    rpcUrl: environment.chain.rpcUrl,
    mint: environment.mint,
    wallet: environment.demoWallet,
    addresses: Array.from({ length: payerCount }, (_, n) => `127.0.1.${n + 1}`),
  })
  opened.defer(() => payers.stop())
  await sold(payers, seconds / 2)
  const before = await sold(payers, seconds)
  say(`before the attack: ${before.perSecond.toFixed(1)} purchases/s`)

  const port = Number(new URL(proxy.baseUrl).port)
  const target = {
    port,
    wallet: environment.payer.address,
    addresses: Array.from({ length: addresses }, (_, n) => `127.0.2.${n + 1}`),
    nice: attackersNice,
    capacityPerSecond: before.perSecond,
  }
  const { measured: beside } = await attackDecoy(target, () => sold(payers, seconds))
  say(`while the same attackers attack a decoy on this machine: ${beside.perSecond.toFixed(1)} purchases/s`)
  await sold(payers, seconds / 2)
  const quiet = await proxy.requests()
  const attacker = startAttacker(target)
  const during = await sold(payers, seconds)
  const [line] = await attacker.stop()
  const report = readReport(line)
  const busy = await proxy.requests()
  const after = await sold(payers, seconds / 2)
  say(`the attackers: ${describeLoad(report)}`)
  const harmless = whyHarmless(report)
  if (harmless !== undefined) return couldNotRun(harmless)

  const states = await proxy.states()
  const left = states.filter(({ timesDown, status }) => timesDown > 0 || status !== 'UP')
  const failures = JSON.stringify(Object.fromEntries(payers.failures))
  const goodput = during.perSecond / before.perSecond
  const besideDecoy = during.perSecond / beside.perSecond
  concludeProof({
    holds: left.length === 0 && goodput >= goodputMin && states.length === 2,
    lines: [
      ...states.map(({ name, status, failedChecks, timesDown }) => {
        return `${name}: ${status}, ${failedChecks} failed health checks, ${timesDown} times out of rotation`
      }),
      `under attack: ${during.perSecond.toFixed(1)} purchases/s, ${goodput.toFixed(2)} of before (at least ${goodputMin}), slowest ${during.slowestMs.toFixed(0)} ms`,
      `of ${busy.received - quiet.received} requests in that time the instances were asked ${busy.passedOn - quiet.passedOn}`,
      `${besideDecoy.toFixed(2)} of what callers buy while the attackers attack a decoy, and that is ${(beside.perSecond / before.perSecond).toFixed(2)} of before`,
      `after the attack: ${after.perSecond.toFixed(1)} purchases/s; payers' failures ${failures}`,
    ],
  })
}

function startInstance(environment: ProofEnvironment, n: number): Promise<SpawnedServer> {
  const env = { ...withLimits(environment.env), TRUSTED_PROXY_HOPS: '1', TOKEN_PRICE_USD: '100' }
  return spawnServer({ env, runsFile: `${environment.directory}/runs-${n}` })
}

/** Reason why the proof would show nothing: on a busy machine the attackers, whose priority is lower, hardly run. */
function whyHarmless(report: AttackReport): string | undefined {
  const attacks = Object.values(report)
  const opened = attacks.reduce((sum, attack) => sum + (attack['opened'] ?? 0), 0)
  const sent = attacks.reduce((sum, attack) => sum + (attack['due'] ?? 0), 0)
  if (opened >= openedMin && sent >= sentMin) return undefined
  return `the attackers had too little processor time: ${opened} connections held, ${sent} requests sent`
}

interface Sold {
  readonly perSecond: number
  readonly slowestMs: number
}

/** Counts the purchases that end within a time. */
async function sold({ purchases }: Payers, spanSeconds: number): Promise<Sold> {
  const already = purchases.length
  await systemClock.sleep(spanSeconds * 1000)
  const recent = purchases.slice(already)
  return {
    perSecond: recent.length / spanSeconds,
    slowestMs: Math.max(0, ...recent.map(({ durationMs }) => durationMs)),
  }
}

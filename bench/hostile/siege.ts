import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { noLimits, type ProofEnvironment } from '../../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../../test/proofs/spawnServer.ts'
import { freePort } from '../../test/support/freePort.ts'
import { type AttackReport, readReport, type Target } from './attack.ts'
import { startAttacker, startChild } from './child.ts'
import { attackDecoy } from './decoy.ts'
import { type Payers, type Purchase, startPayers } from './payers.ts'
import { openProcessorMeter, type ProcessorUse, type StrangerProcesses, usedBetween } from './processorUse.ts'

export interface SiegeOptions {
  readonly environment: ProofEnvironment
  readonly databaseUrl: string
  /** Server process of another release; this one's by default. */
  readonly entry?: string
  /** Client addresses of the attackers. */
  readonly attackers: readonly string[]
  /** Scheduling priority of the attackers, from 0 (that of the server) to 19 (what the others leave). */
  readonly attackersNice: number
  readonly windowMs: number
  /** Folder for a profile of the server's processor, of all phases. */
  readonly profileDirectory?: string | undefined
}

/** Figures of one server before, during and after all attacks. */
export interface Siege {
  readonly peak: Phase
  /**
   * The same attack on a decoy on the same machine, while callers buy from ours: what attackers on the processors of
   * the service cost, whatever the service does.
   */
  readonly duringDecoy: Phase
  readonly besieged: Phase
  readonly recovered: Phase
  /** Delays of `/livez` on the port of the callers, each on a new connection. */
  readonly probed: Probed
  /** The same on a listener of its own (HEALTH_PORT), which the earlier release does not have. */
  readonly probedApart: Probed | undefined
  /** Delays of a process that does nothing but answer, which the shared machine itself causes. */
  readonly probedControl: Probed
  readonly quietBytes: number
  readonly besiegedBytes: number
  /** Exit code or signal of a process that did not survive. */
  readonly died: string | undefined
  /** Requests and answers of each attack. */
  readonly attacks: AttackReport
  readonly attacksOnDecoy: AttackReport
  readonly failures: string
}

export interface Phase {
  readonly purchasesPerSecond: number
  readonly p99Ms: number
  readonly seconds: number
  readonly processor: ProcessorUse
}

export interface Probed {
  readonly count: number
  readonly failed: number
  readonly p99Ms: number
  readonly slowestMs: number
}

const payerCount = 16
const payerAddresses = Array.from({ length: payerCount }, (_, n) => `127.0.1.${n + 1}`)
const warmUpMs = 4_000
// Connections and limits have settled after this time.
const rampMs = 4_000
// Full recovery is asked for within it.
const recoveryMs = 5_000
const memoryEveryMs = 250

export async function besiege(options: SiegeOptions): Promise<Siege> {
  const { environment, databaseUrl, entry, attackers, attackersNice, windowMs, profileDirectory } = options
  await using opened = new AsyncDisposableStack()
  const controlPort = String(await freePort())
  const control = startChild('controlProcess.ts', controlPort)
  opened.defer(async () => void (await control.stop()))
  const healthPort = entry === undefined ? String(await freePort()) : undefined
  const server = await spawnServer({
    env: {
      ...withLimits(environment.env),
      DATABASE_URL: databaseUrl,
      TOKEN_PRICE_USD: '100',
      ...(healthPort === undefined ? {} : { HEALTH_PORT: healthPort }),
    },
    runsFile: `${environment.directory}/runs`,
    ...(entry === undefined ? {} : { entry }),
    nodeOptions: profileDirectory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`],
  })
  let died: string | undefined
  const gone = server.gone.then((how) => void (died ??= how))
  const memory = followMemory(server.pid)
  const payers = startPayers({
    baseUrl: server.baseUrl,
    rpcUrl: environment.chain.rpcUrl,
    mint: environment.mint,
    wallet: environment.demoWallet,
    addresses: payerAddresses,
  })
  opened.defer(async () => {
    await Promise.race([server.stop(), gone])
    await payers.stop()
  })
  const { chain, database } = environment
  const processes = { adminUrl: database.adminUrl, serverPid: server.pid, chainPid: chain.pid }
  const meter = opened.use(await openProcessorMeter(processes))
  const measure = (strangers?: StrangerProcesses) =>
    measurePhase({ payers, windowMs, read: () => meter.read(strangers) })
  await systemClock.sleep(warmUpMs)
  const peak = await measure()
  const quietBytes = memory.most()
  const port = Number(new URL(server.baseUrl).port)
  const target: Target = {
    port,
    wallet: environment.payer.address,
    addresses: attackers,
    nice: attackersNice,
    capacityPerSecond: peak.purchasesPerSecond,
  }
  const decoy = await attackDecoy(target, async (strangers) => {
    await systemClock.sleep(rampMs)
    return measure(strangers)
  })
  await systemClock.sleep(recoveryMs)
  const prober = startChild('proberProcess.ts', String(port))
  const apart = healthPort === undefined ? undefined : startChild('proberProcess.ts', healthPort)
  const controlProber = startChild('proberProcess.ts', controlPort)
  const attacker = startAttacker(target)
  await systemClock.sleep(rampMs)
  const besieged = await measure({ attackersPid: attacker.pid })
  const [report] = await attacker.stop()
  const probed = probedBy(await prober.stop())
  const probedApart = apart === undefined ? undefined : probedBy(await apart.stop())
  const probedControl = probedBy(await controlProber.stop())
  const besiegedBytes = memory.most()
  await systemClock.sleep(recoveryMs)
  const recovered = await measure()
  memory.stop()
  return {
    peak,
    duringDecoy: decoy.measured,
    besieged,
    recovered,
    probed,
    probedApart,
    probedControl,
    quietBytes,
    besiegedBytes,
    died,
    attacks: readReport(report),
    attacksOnDecoy: decoy.report,
    failures: JSON.stringify(Object.fromEntries(payers.failures)),
  }
}

/** The limits of a service are on, as they are for strangers. */
export function withLimits(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !(name in noLimits)))
}

interface MeasuredPhase {
  readonly payers: Payers
  readonly windowMs: number
  readonly read: () => Promise<ProcessorUse>
}

async function measurePhase({ payers, windowMs, read }: MeasuredPhase): Promise<Phase> {
  const before = await read()
  const fromMs = systemClock.monotonicMs()
  await systemClock.sleep(windowMs)
  const toMs = systemClock.monotonicMs()
  const processor = usedBetween(before, await read())
  const purchases = payers.purchases.filter(({ endedAtMs }) => endedAtMs >= fromMs && endedAtMs < toMs)
  const seconds = (toMs - fromMs) / 1000
  return { purchasesPerSecond: purchases.length / seconds, p99Ms: p99(purchases), seconds, processor }
}

const probesToWarmUp = 5
const probeShape = z.object({ status: z.int(), durationMs: z.number() })

function probedBy(lines: readonly string[]): Probed {
  // The first ones also load the modules of the prober.
  const probes = lines.slice(probesToWarmUp).map((line) => probeShape.parse(JSON.parse(line)))
  return {
    count: probes.length,
    failed: probes.filter(({ status }) => status !== 200).length,
    p99Ms: p99(probes),
    slowestMs: Math.max(0, ...probes.map(({ durationMs }) => durationMs)),
  }
}

function p99(measured: readonly Pick<Purchase, 'durationMs'>[]): number {
  const sorted = measured.map(({ durationMs }) => durationMs).sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Infinity
}

/** Most resident memory of a process so far. Linux only. */
function followMemory(pid: number) {
  let most = 0
  const reading = setInterval(() => {
    readFile(`/proc/${pid}/status`, 'utf8').then(
      (status) => void (most = Math.max(most, Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024)),
      // The process has ended.
      () => undefined,
    )
  }, memoryEveryMs)
  return { most: () => most, stop: () => clearInterval(reading) }
}

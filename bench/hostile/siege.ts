import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { noLimits, type ProofEnvironment } from '../../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../../test/proofs/spawnServer.ts'
import { freePort } from '../../test/support/freePort.ts'
import type { Target } from './attack.ts'
import { startChild } from './child.ts'
import { type Payers, type Purchase, startPayers } from './payers.ts'

export interface SiegeOptions {
  readonly environment: ProofEnvironment
  readonly databaseUrl: string
  /** Server process of another release; this one's by default. */
  readonly entry?: string
  /** Client addresses of the attackers. */
  readonly attackers: readonly string[]
  readonly windowMs: number
}

/** Figures of one server before, during and after all attacks. */
export interface Siege {
  readonly peakPerSecond: number
  readonly besiegedPerSecond: number
  readonly besiegedP99Ms: number
  readonly recoveredPerSecond: number
  /** Of `/livez` on the port of the callers, each time on a new connection. */
  readonly probed: Probed
  /** The same on a listener of its own (HEALTH_PORT), which the earlier release does not have. */
  readonly probedApart: Probed | undefined
  readonly quietBytes: number
  readonly besiegedBytes: number
  /** Exit code or signal of a process that did not survive. */
  readonly died: string | undefined
  readonly attackers: string
  readonly failures: string
}

export interface Probed {
  readonly count: number
  readonly failed: number
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

export async function besiege({ environment, databaseUrl, entry, attackers, windowMs }: SiegeOptions): Promise<Siege> {
  await using opened = new AsyncDisposableStack()
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
  })
  let died: string | undefined
  const gone = server.gone.then((how) => void (died ??= how))
  const memory = followMemory(server.pid)
  const payers = startPayers({
    baseUrl: server.baseUrl,
    rpcUrl: environment.chain.rpcUrl,
    wallet: environment.demoWallet,
    addresses: payerAddresses,
  })
  opened.defer(async () => {
    await Promise.race([server.stop(), gone])
    await payers.stop()
  })
  const phase = async (durationMs: number) => {
    const fromMs = systemClock.monotonicMs()
    await systemClock.sleep(durationMs)
    return endedBetween(payers, fromMs, systemClock.monotonicMs())
  }
  await phase(warmUpMs)
  const peak = await phase(windowMs)
  const quietBytes = memory.most()
  const port = Number(new URL(server.baseUrl).port)
  const target: Target = {
    port,
    wallet: environment.payer.address,
    addresses: attackers,
    capacityPerSecond: perSecond(peak, windowMs),
  }
  const prober = startChild('proberProcess.ts', String(port))
  const apart = healthPort === undefined ? undefined : startChild('proberProcess.ts', healthPort)
  const attacker = startChild('attackerProcess.ts', JSON.stringify(target))
  await phase(rampMs)
  const besieged = await phase(windowMs)
  const [report] = await attacker.stop()
  const probed = probedBy(await prober.stop())
  const probedApart = apart === undefined ? undefined : probedBy(await apart.stop())
  const besiegedBytes = memory.most()
  await phase(recoveryMs)
  const recovered = await phase(windowMs)
  memory.stop()
  return {
    peakPerSecond: perSecond(peak, windowMs),
    besiegedPerSecond: perSecond(besieged, windowMs),
    besiegedP99Ms: p99(besieged),
    recoveredPerSecond: perSecond(recovered, windowMs),
    probed,
    probedApart,
    quietBytes,
    besiegedBytes,
    died,
    attackers: report ?? 'no report',
    failures: JSON.stringify(Object.fromEntries(payers.failures)),
  }
}

/** The limits of a service are on, as they are for strangers. */
export function withLimits(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !(name in noLimits)))
}

const probeShape = z.object({ status: z.int(), durationMs: z.number() })

function probedBy(lines: readonly string[]): Probed {
  const probes = lines.map((line) => probeShape.parse(JSON.parse(line)))
  return {
    count: probes.length,
    failed: probes.filter(({ status }) => status !== 200).length,
    slowestMs: Math.max(0, ...probes.map(({ durationMs }) => durationMs)),
  }
}

function endedBetween({ purchases }: Payers, fromMs: number, toMs: number): readonly Purchase[] {
  return purchases.filter(({ endedAtMs }) => endedAtMs >= fromMs && endedAtMs < toMs)
}

function perSecond(purchases: readonly Purchase[], windowMs: number): number {
  return purchases.length / (windowMs / 1000)
}

function p99(purchases: readonly Purchase[]): number {
  const sorted = purchases.map(({ durationMs }) => durationMs).sort((one, other) => one - other)
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

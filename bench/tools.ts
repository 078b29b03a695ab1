import { systemClock } from '@tollbook/core/clock'
import { openEnvironment, type ProofEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { describeLoad, readReport, type Target } from './hostile/attack.ts'
import { startAttacker } from './hostile/child.ts'
import { attackDecoy } from './hostile/decoy.ts'
import { startPayers } from './hostile/payers.ts'
import { attackFactor, quoteFlood } from './hostile/quoteFlood.ts'
import { withLimits } from './hostile/siege.ts'
import { toolFlood } from './hostile/toolFlood.ts'
import { type Bench, median } from './yardstick.ts'

const payerAddresses = Array.from({ length: 16 }, (_, n) => `127.0.1.${n + 1}`)
const attackerAddresses = Array.from({ length: 64 }, (_, n) => `127.0.2.${n + 1}`)
const windowRounds = 4
// Connections and limits have settled after this time.
const settlingMs = 4_000
const attemptsMax = 3
// Attackers that send less, or purchases without attackers that differ more, say that something else took the
// processors.
const offeredShareMin = 0.8
const steadyShareMin = 0.7

/**
 * Purchases over MCP and over HTTP, each while strangers ask for prices in the same way. Both are measured on one
 * server in each round, and compared with the purchases while the strangers ask a decoy on the same machine: what is
 * missing then is lost to the shared processors, whatever the service does. A round in which the machine was busy with
 * something else is measured again.
 */
export const tools: Bench = {
  name: 'tools',
  about: 'paid goodput over MCP while strangers call tools without paying at 10 × capacity, and the same over HTTP',
  async run({ rounds, roundSeconds, progress, attackersNice }) {
    await using environment = await openEnvironment()
    const server = await spawnServer({
      env: { ...withLimits(environment.env), TOKEN_PRICE_USD: '100' },
      runsFile: `${environment.directory}/runs`,
    })
    const asked = { environment, baseUrl: server.baseUrl, windowMs: roundSeconds * windowRounds * 1000, attackersNice }
    const measureRound = async () => {
      const http = await measure({ ...asked, overMcp: false, capacityMin: 0 })
      const mcp = await measure({ ...asked, overMcp: true, capacityMin: http.peak })
      progress(`tools: over HTTP: ${http.detail}\ntools: over MCP: ${mcp.detail}`)
      return { http, mcp, isSteady: http.isSteady && mcp.isSteady }
    }
    // The first round warms both sides up.
    await measureRound()
    const all: Awaited<ReturnType<typeof measureRound>>[] = []
    const steady = () => all.filter(({ isSteady }) => isSteady)
    while (steady().length < rounds && all.length < rounds * attemptsMax) all.push(await measureRound())
    const found = steady().length === 0 ? all : steady()
    const unsteady = all.length - found.length
    const busy = steady().length === 0 ? 'no round was steady' : `${unsteady} rounds on a busy machine are left out`
    await server.stop()
    const of = (read: (round: (typeof found)[number]) => number) => median(found.map(read))
    const shares = (side: 'http' | 'mcp') => found.map((round) => round[side].share.toFixed(2)).join(', ')
    const last = found.at(-1)
    return [
      {
        what: 'paid goodput over MCP under unpaid calls at 10 × capacity ÷ that while they call a decoy',
        value: of(({ mcp }) => mcp.share),
        goal: { atLeast: 0.8 },
        detail: `rounds ${shares('mcp')}; ${busy}; the last: ${last?.mcp.detail}`,
      },
      {
        what: 'the same share ÷ that over HTTP in the same round',
        value: of(({ mcp, http }) => mcp.share / http.share),
        goal: { atLeast: 0.9 },
        detail: `over HTTP rounds ${shares('http')}; the last: ${last?.http.detail}`,
      },
      {
        what: 'peak of purchases over MCP ÷ over HTTP in the same round',
        value: of(({ mcp, http }) => mcp.peak / http.peak),
        goal: { atLeast: 0.8 },
        detail: `${last?.mcp.peak.toFixed(1)} and ${last?.http.peak.toFixed(1)} purchases/s by 16 callers`,
      },
    ]
  },
}

interface Measured {
  readonly environment: ProofEnvironment
  readonly baseUrl: string
  readonly windowMs: number
  readonly attackersNice: number
  readonly overMcp: boolean
  /** Least capacity to assume, so that tools are called at least as often as prices are asked for over HTTP. */
  readonly capacityMin: number
}

async function measure({ environment, baseUrl, windowMs, ...asked }: Measured) {
  const { attackersNice, overMcp, capacityMin } = asked
  const { chain, demoWallet, mint, payer } = environment
  const paying = { rpcUrl: chain.rpcUrl, mint, wallet: demoWallet, addresses: payerAddresses }
  const payers = startPayers({ baseUrl, overMcp, ...paying })
  const purchasesPerSecond = async () => {
    await systemClock.sleep(settlingMs)
    const before = payers.purchases.length
    await systemClock.sleep(windowMs)
    return (payers.purchases.length - before) / (windowMs / 1000)
  }
  const peak = await purchasesPerSecond()
  const target: Target & { readonly only: string } = {
    port: Number(new URL(baseUrl).port),
    wallet: payer.address,
    addresses: attackerAddresses,
    nice: attackersNice,
    capacityPerSecond: Math.max(peak, capacityMin),
    only: (overMcp ? toolFlood : quoteFlood).name,
  }
  const decoy = await attackDecoy(target, purchasesPerSecond)
  const attacker = startAttacker(target)
  const besieged = await purchasesPerSecond()
  const [line] = await attacker.stop()
  const afterwards = await purchasesPerSecond()
  await payers.stop()
  const report = readReport(line)
  const offered = Object.values(report)[0]?.['due'] ?? 0
  const isSteady =
    Math.min(peak, afterwards) >= steadyShareMin * Math.max(peak, afterwards) &&
    offered >= offeredShareMin * attackFactor * target.capacityPerSecond * ((settlingMs + windowMs) / 1000)
  const [before, decoyed, attacked, after] = [peak, decoy.measured, besieged, afterwards].map((each) => each.toFixed(1))
  const failures = JSON.stringify(Object.fromEntries(payers.failures))
  const detail = `${before} purchases/s alone, ${decoyed} with the decoy, ${attacked} attacked, ${after} afterwards; failures of payers ${failures}; ${describeLoad(report)}`
  return { peak: Math.max(peak, afterwards), share: besieged / decoy.measured, isSteady, detail }
}

import { systemClock } from '@tollbook/core/clock'
import { openEnvironment, type ProofEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { describeLoad, readReport } from './hostile/attack.ts'
import { startAttacker } from './hostile/child.ts'
import { startPayers } from './hostile/payers.ts'
import { quoteFlood } from './hostile/quoteFlood.ts'
import { withLimits } from './hostile/siege.ts'
import { toolFlood } from './hostile/toolFlood.ts'
import type { Bench } from './yardstick.ts'

const payerAddresses = Array.from({ length: 16 }, (_, n) => `127.0.1.${n + 1}`)
const attackerAddresses = Array.from({ length: 64 }, (_, n) => `127.0.2.${n + 1}`)
const windowRounds = 4
const settlingMs = 4_000

/** Purchases over MCP and over HTTP, each while strangers ask for prices in the same way. */
export const tools: Bench = {
  name: 'tools',
  about: 'paid goodput over MCP while strangers call tools without paying at 10 × capacity, and the same over HTTP',
  async run({ roundSeconds, progress, attackersNice }) {
    await using environment = await openEnvironment()
    const windowMs = roundSeconds * windowRounds * 1000
    const measured = { environment, windowMs, attackersNice }
    const overHttp = await measure({ ...measured, overMcp: false })
    progress(`tools: over HTTP: ${overHttp.detail}`)
    const overMcp = await measure({ ...measured, overMcp: true })
    progress(`tools: over MCP: ${overMcp.detail}`)
    return [
      {
        what: 'paid goodput over MCP under unpaid calls at 10 × capacity ÷ its own peak',
        value: overMcp.share,
        goal: { atLeast: 0.8 },
        detail: overMcp.detail,
      },
      {
        what: 'the same share ÷ that over HTTP',
        value: overMcp.share / overHttp.share,
        goal: { atLeast: 0.9 },
        detail: overHttp.detail,
      },
      {
        what: 'peak of purchases over MCP ÷ over HTTP',
        value: overMcp.peak / overHttp.peak,
        goal: { atLeast: 0.8 },
        detail: `${overMcp.peak.toFixed(1)} and ${overHttp.peak.toFixed(1)} purchases/s by 16 callers`,
      },
    ]
  },
}

interface Measured {
  readonly environment: ProofEnvironment
  readonly windowMs: number
  readonly attackersNice: number
  readonly overMcp: boolean
}

async function measure({ environment, windowMs, attackersNice, overMcp }: Measured) {
  const { chain, demoWallet, directory, env, payer } = environment
  const server = await spawnServer({
    env: { ...withLimits(env), TOKEN_PRICE_USD: '100' },
    runsFile: `${directory}/runs`,
  })
  const { baseUrl } = server
  const payers = startPayers({ baseUrl, rpcUrl: chain.rpcUrl, wallet: demoWallet, addresses: payerAddresses, overMcp })
  const purchasesPerSecond = async () => {
    await systemClock.sleep(settlingMs)
    const before = payers.purchases.length
    await systemClock.sleep(windowMs)
    return (payers.purchases.length - before) / (windowMs / 1000)
  }
  const peak = await purchasesPerSecond()
  const attacker = startAttacker({
    port: Number(new URL(baseUrl).port),
    wallet: payer.address,
    addresses: attackerAddresses,
    nice: attackersNice,
    capacityPerSecond: peak,
    only: (overMcp ? toolFlood : quoteFlood).name,
  })
  const besieged = await purchasesPerSecond()
  const [report] = await attacker.stop()
  await payers.stop()
  await server.stop()
  const failures = JSON.stringify(Object.fromEntries(payers.failures))
  const load = describeLoad(readReport(report))
  const detail = `${besieged.toFixed(1)} of ${peak.toFixed(1)} purchases/s; failures of payers ${failures}; ${load}`
  return { peak, share: besieged / peak, detail }
}

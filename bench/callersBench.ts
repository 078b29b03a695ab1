import { startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { callsPerSecond } from './callers.ts'
import { type Claimer, openClaimer } from './claims/claimer.ts'
import { thisTree } from './claims/tree.ts'
import { type Bench, type BenchOptions, median } from './yardstick.ts'

const callerCounts = [1, 4, 16, 64, 256]
const instanceCounts = [1, 2, 4]

/** Payments (claim, then fulfilment) per second through the store, by callers and instances. */
export const callersBench: Bench = {
  name: 'callers',
  about: 'payments a second through the store: 1 to 256 callers in all, over 1, 2 and 4 instances',
  async run(options) {
    await using server = await startLedgerServer()
    await using opened = new AsyncDisposableStack()
    const { serviceUrl } = await server.createDatabase()
    const claimers: Claimer[] = []
    for (let instance = 1; instance <= Math.max(...instanceCounts); instance++) {
      const claimer = await openClaimer({ tree: thisTree, databaseUrl: serviceUrl, applicationName: 'bench-callers' })
      opened.defer(() => claimer.close())
      claimers.push(claimer)
    }
    const rates = await measureRates(claimers, options)
    const rate = (instances: number, callers: number) => median(rates.get(`${instances} × ${callers}`) ?? [])
    const lines = instanceCounts.map((instances) => {
      const counts = callerCounts.filter((count) => count >= instances)
      const figures = counts.map((callers) => `${callers}: ${Math.round(rate(instances, callers))}/s`)
      return `${instances} instance${instances === 1 ? '' : 's'}: ${figures.join(', ')}`
    })
    const detail = lines.join('; ')
    return [
      { what: 'payments at 4 callers ÷ at 1 caller', value: rate(1, 4) / rate(1, 1), goal: { atLeast: 2 }, detail },
    ]
  },
}

async function measureRates(
  claimers: readonly Claimer[],
  { rounds, roundSeconds, progress }: BenchOptions,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rates = new Map<string, number[]>()
  // The first round warms plans and pools up, and is thrown away.
  for (let round = 0; round <= rounds; round++)
    for (const instances of instanceCounts)
      for (const callers of callerCounts.filter((count) => count >= instances)) {
        const used = claimers.slice(0, instances)
        for (const { prepare } of used) prepare()
        const each = await Promise.all(used.map(({ pay }) => callsPerSecond(callers / instances, roundSeconds, pay)))
        const rate = each.reduce((sum, one) => sum + one, 0)
        const name = `${instances} × ${callers}`
        if (round > 0) rates.set(name, [...(rates.get(name) ?? []), rate])
        progress(`callers: round ${round}, ${name}: ${Math.round(rate)}/s`)
      }
  return rates
}

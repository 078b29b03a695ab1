import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { answersPerSecond } from './autocannon.ts'
import { startBare } from './bareServer.ts'
import { type Bench, median } from './yardstick.ts'

// Number of unpaid requests admitted concurrently with paid ones; the same for both servers.
const connections = 64

/** Each 402 is a priced offer with a fresh secret, and it is stored before it is sent. */
export const quotes: Bench = {
  name: 'quotes',
  about: '402 quotes a second over HTTP, against bare Koa and its router',
  async run({ rounds, roundSeconds, progress }) {
    await using environment = await openEnvironment()
    const server = await spawnServer({ env: environment.env, runsFile: `${environment.directory}/runs` })
    const bare = await startBare()
    const load = { seconds: roundSeconds, connections }
    const found: { bare: number; quotes: number }[] = []
    try {
      // The first round warms both up and is thrown away.
      for (let round = 0; round <= rounds; round++) {
        const headers = { 'x-wallet-address': environment.payer.address }
        const url = (base: string): string => `${base}/api/data/crypto?symbol=BTC`
        const result = {
          bare: await answersPerSecond({ ...load, url: url(bare.baseUrl), headers, expected: '2xx' }),
          quotes: await answersPerSecond({ ...load, url: url(server.baseUrl), headers, expected: '4xx' }),
        }
        if (round > 0) found.push(result)
        progress(`quotes: round ${round} of ${rounds}, ratio ${(result.quotes / result.bare).toFixed(2)}`)
      }
    } finally {
      bare.stop()
      await server.stop()
    }
    const value = median(found.map((round) => round.quotes / round.bare))
    const rates = `quotes ${Math.round(median(found.map((round) => round.quotes)))}/s, bare Koa ${Math.round(median(found.map((round) => round.bare)))}/s, ${connections} connections`
    return [{ what: '402 quotes/s over HTTP ÷ bare Koa + router JSON', value, goal: { atLeast: 0.4 }, detail: rates }]
  },
}

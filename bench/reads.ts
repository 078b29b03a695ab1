import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { askQuote, present } from '../test/proofs/present.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { awaitThat } from '../test/support/awaitThat.ts'
import type { Payer } from '../test/support/payer.ts'
import { answersPerSecond } from './autocannon.ts'
import { startBare } from './bareServer.ts'
import { type Bench, median, type Yardstick } from './yardstick.ts'

const connections = 64
const paths = [
  '/api/token/burn-stats',
  '/openapi.json',
  '/api/catalog',
  '/api/ledger/checkpoint',
  '/api/ledger/inclusion/1',
  '/docs',
] as const

/** Public reads, which need no payment, against an answer from memory by the same framework. */
export const reads: Bench = {
  name: 'reads',
  about: 'public reads a second over HTTP, against bare Koa and its router',
  async run({ rounds, roundSeconds, progress }) {
    await using environment = await openEnvironment()
    // A fixed address, as every public deployment has one.
    const env = { ...environment.env, PUBLIC_URL: 'https://shop.example' }
    const server = await spawnServer({ env, runsFile: `${environment.directory}/runs` })
    const bare = await startBare()
    const found = new Map<string, number[]>(paths.map((path) => [path, []]))
    const load = { seconds: roundSeconds, connections, headers: {}, expected: '2xx' } as const
    try {
      await sellOnce(server.baseUrl, environment.payer)
      // The first round warms all up and is thrown away.
      for (let round = 0; round <= rounds; round++) {
        const limit = await answersPerSecond({ ...load, url: `${bare.baseUrl}/api/data/crypto` })
        for (const path of paths) {
          const rate = await answersPerSecond({ ...load, url: `${server.baseUrl}${path}` })
          if (round > 0) found.get(path)?.push(rate / limit)
          progress(
            `reads: round ${round} of ${rounds}, ${path} ${Math.round(rate)}/s, ratio ${(rate / limit).toFixed(3)}`,
          )
        }
      }
    } finally {
      bare.stop()
      await server.stop()
    }
    return [...found].map(([path, ratios]): Yardstick => {
      const what = `${path}: answers/s ÷ bare Koa + router JSON`
      return {
        what,
        value: median(ratios),
        goal: { atLeast: 0.3 },
        detail: `${connections} connections, without a coding`,
      }
    })
  },
}

/** A payment in the statistics, and an event that a checkpoint proves. */
async function sellOnce(baseUrl: string, payer: Payer): Promise<void> {
  const request = { baseUrl, wallet: payer.address, symbol: 'BTC' }
  await present({ ...request, proof: await payer.pay(await askQuote(request)) })
  await awaitThat('the first event is sealed', async () => (await fetch(`${baseUrl}/api/ledger/inclusion/1`)).ok)
}

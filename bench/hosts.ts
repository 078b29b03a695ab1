import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { answersPerSecond } from './autocannon.ts'
import { type Bench, median, type Yardstick } from './yardstick.ts'

const connections = 16
const paths = ['/openapi.json', '/docs', '/llms.txt', '/.well-known/x402'] as const

/** Documents without a PUBLIC_URL, for a new Host at each request against one Host. */
export const hosts: Bench = {
  name: 'hosts',
  about: 'documents a second with a new Host at each request, against a constant one, without a PUBLIC_URL',
  async run({ rounds, roundSeconds, progress }) {
    await using environment = await openEnvironment()
    const server = await spawnServer({ env: environment.env, runsFile: `${environment.directory}/runs` })
    const found = new Map<string, number[]>(paths.map((path) => [path, []]))
    const rateOf = (path: string, host: string) => {
      const url = `${server.baseUrl}${path}`
      return answersPerSecond({
        url,
        seconds: roundSeconds,
        connections,
        headers: { host },
        replacesIds: true,
        expected: '2xx',
      })
    }
    try {
      // The first round warms all up and is thrown away.
      for (let round = 0; round <= rounds; round++) {
        for (const path of paths) {
          const ratio = (await rateOf(path, '[<id>].example')) / (await rateOf(path, 'shop.example'))
          if (round > 0) found.get(path)?.push(ratio)
          progress(`hosts: round ${round} of ${rounds}, ${path} ${ratio.toFixed(3)}`)
        }
      }
    } finally {
      await server.stop()
    }
    return [...found].map(([path, ratios]): Yardstick => {
      const what = `${path}: answers/s with a new Host at each request ÷ with one Host`
      return { what, value: median(ratios), goal: { atLeast: 0.9 }, detail: `${connections} connections` }
    })
  },
}

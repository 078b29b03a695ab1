import pg from 'pg'
import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { measureQuoteFlood } from './flood/quoteFlood.ts'
import type { Bench } from './yardstick.ts'

/** A minute with the default of 3 seconds a round. */
const floodRounds = 20

/** A day of a flood of quotes, by arithmetic from what a minute of it stores. */
export const flood: Bench = {
  name: 'flood',
  about: 'storage of a flood of quotes over days, from a measured minute, and the job that drops a day of quotes',
  async run({ roundSeconds, progress }) {
    await using opened = new AsyncDisposableStack()
    const environment = opened.use(await openEnvironment())
    const server = await spawnServer({ env: environment.env, runsFile: `${environment.directory}/runs` })
    opened.defer(() => server.stop())
    const admin = new pg.Client({ connectionString: environment.database.adminUrl })
    await admin.connect()
    opened.defer(() => admin.end())
    const seconds = floodRounds * roundSeconds
    progress(`flood: ${seconds} s of quotes`)
    return await measureQuoteFlood({ environment, admin, baseUrl: server.baseUrl, seconds })
  },
}

import pg from 'pg'
import { createPayingFetch, keypairWallet } from '@tollbook/client'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { ProofEnvironment } from '../../test/proofs/proofEnvironment.ts'
import { askQuote, present } from '../../test/proofs/present.ts'
import type { SpawnedServer } from '../../test/proofs/spawnServer.ts'
import type { Form } from '../../test/support/payer.ts'
import type { PaidService } from './paidLoad.ts'
import { postgresMs, processMs } from './processTime.ts'

export interface OurService extends Pick<PaidService, 'spent'> {
  readonly offerUrl: string
  /** Our client: the bound form of an unsent transaction. */
  buy(): Promise<void>
  /** The same request with a proof of this form. */
  buyBy(form: Form): Promise<void>
}

export async function openOurService(
  { demoWallet, chain, database, mint, payer }: ProofEnvironment,
  server: SpawnedServer,
): Promise<OurService & AsyncDisposable> {
  const admin = new pg.Client({ connectionString: database.adminUrl })
  await admin.connect()
  const ask = async (text: string): Promise<number> => {
    const { rows } = await admin.query<{ found: number }>(text)
    return assertPresent(rows[0], 'the query has a row').found
  }
  const pid = await ask('select pg_backend_pid() as found')
  const payingFetch = createPayingFetch({
    wallet: keypairWallet(demoWallet),
    rpcUrl: chain.rpcUrl,
    expectedMint: mint,
    spendingLimit: { perRequest: { usd: '1' } },
  })
  const offerUrl = `${server.baseUrl}/api/data/crypto?symbol=BTC`
  const request = { baseUrl: server.baseUrl, wallet: payer.address, symbol: 'BTC' }
  return {
    offerUrl,
    buy: async () => expectAnswer(await payingFetch(offerUrl)),
    async buyBy(form) {
      const { status, code } = await present({ ...request, proof: await payer.pay(await askQuote(request), form) })
      assert(status === 200, `the form ${form} buys an answer, not ${status} ${code}`)
    },
    spent: async () => ({
      serverMs: await processMs(server.pid),
      databaseMs: await postgresMs(pid),
      statements: await ask(countTransactions),
    }),
    [Symbol.asyncDispose]: () => admin.end(),
  }
}

const countTransactions =
  'select (xact_commit + xact_rollback)::float8 as found from pg_stat_database where datname = current_database()'

export async function expectAnswer(response: Response): Promise<void> {
  const text = await response.text()
  assert(response.status === 200, `a paid request is answered 200, not ${response.status}: ${text.slice(0, 300)}`)
}

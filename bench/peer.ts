import { type Keypair, Connection, Keypair as NewKeypair } from '@solana/web3.js'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import pg from 'pg'
import { createPayingFetch, keypairWallet } from '@tollbook/client'
import { assert, assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { openEnvironment, type ProofEnvironment } from '../test/proofs/proofEnvironment.ts'
import { type SpawnedServer, spawnServer } from '../test/proofs/spawnServer.ts'
import { type PaidLoad, measurePaidLoad } from './peer/paidLoad.ts'
import { devnet } from './peer/peerSettings.ts'
import { postgresMs, processMs } from './peer/processTime.ts'
import { type SpawnedPeer, spawnPeer } from './peer/spawnPeer.ts'
import { type Bench, type Yardstick, median } from './yardstick.ts'

const callerCounts = [1, 16] as const
/** The token is worth 100 dollars, so that the payer's tokens last. */
const tokenPriceUsd = '100'
const peerAmountBaseUnits = '1000'

interface Round {
  readonly ours: PaidLoad
  readonly theirs: PaidLoad
}

/** The same kind of answer for a payment on the same local chain, sold by us and by stock x402, in turns. */
export const peer: Bench = {
  name: 'peer',
  about: 'a paid request against stock x402 (express, exact on Solana, in-process facilitator) on the same local chain',
  async run({ rounds, roundSeconds, progress }) {
    await using opened = new AsyncDisposableStack()
    const environment = opened.use(await openEnvironment())
    const runsFile = `${environment.directory}/runs`
    const server = await spawnServer({ env: { ...environment.env, TOKEN_PRICE_USD: tokenPriceUsd }, runsFile })
    opened.defer(() => server.stop())
    const stock = await startStock(environment)
    opened.defer(() => stock.stop())
    const admin = new pg.Client({ connectionString: environment.database.adminUrl })
    await admin.connect()
    opened.defer(() => admin.end())

    const ours = await ourLoad({ environment, server, admin })
    const theirs = await theirLoad({ demoWallet: environment.demoWallet, rpcUrl: environment.chain.rpcUrl, stock })
    const found: Yardstick[] = []
    for (const callers of callerCounts) {
      const results: Round[] = []
      // The first round warms both up and is thrown away.
      for (let round = 0; round <= rounds; round++) {
        const load = { callers, seconds: roundSeconds }
        const result = {
          ours: await measurePaidLoad({ ...load, ...ours }),
          theirs: await measurePaidLoad({ ...load, ...theirs }),
        }
        if (round > 0) results.push(result)
        const ratio = (result.ours.p50Ms / result.theirs.p50Ms).toFixed(2)
        progress(`peer: ${callers} callers, round ${round} of ${rounds}, p50 ratio ${ratio}`)
      }
      found.push(...yardsticks(callers, results))
    }
    return found
  },
}

function yardsticks(callers: number, rounds: readonly Round[]): Yardstick[] {
  const medianOf = (read: (round: Round) => number): number => median(rounds.map(read))
  const load = `${callers} caller${callers === 1 ? '' : 's'}`
  const p50 = {
    what: `p50 of a paid request ÷ stock x402, ${load}`,
    value: medianOf(({ ours, theirs }) => ours.p50Ms / theirs.p50Ms),
    goal: { atMost: 1 },
    detail: [
      `${medianOf(({ ours }) => ours.p50Ms).toFixed(0)} ms against ${medianOf(({ theirs }) => theirs.p50Ms).toFixed(0)} ms`,
      `${medianOf(({ ours }) => ours.perSecond).toFixed(0)} and ${medianOf(({ theirs }) => theirs.perSecond).toFixed(0)} paid requests/s`,
    ].join('; '),
  }
  const processor = {
    what: `server processor time of a paid request ÷ stock x402, ${load}`,
    value: medianOf(({ ours, theirs }) => (ours.serverMs + ours.databaseMs) / theirs.serverMs),
    goal: { atMost: 1 },
    detail: [
      `Node ${medianOf(({ ours }) => ours.serverMs).toFixed(1)} ms and Postgres ${medianOf(({ ours }) => ours.databaseMs).toFixed(1)} ms`,
      `against Node ${medianOf(({ theirs }) => theirs.serverMs).toFixed(1)} ms, which stores nothing`,
    ].join(', '),
  }
  return [p50, processor]
}

interface OurParts {
  readonly environment: ProofEnvironment
  readonly server: SpawnedServer
  readonly admin: pg.Client
}

async function ourLoad({ environment, server, admin }: OurParts) {
  const payingFetch = createPayingFetch({
    wallet: keypairWallet(environment.demoWallet),
    rpcUrl: environment.chain.rpcUrl,
    spendingLimit: { perRequest: { usd: '1' } },
  })
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid')
  const { pid } = assertPresent(rows[0], 'the query has a row')
  return {
    call: async () => expectAnswer(await payingFetch(`${server.baseUrl}/api/data/crypto?symbol=BTC`)),
    serverMs: () => processMs(server.pid),
    databaseMs: () => postgresMs(pid),
  }
}

interface TheirParts {
  readonly demoWallet: Keypair
  readonly rpcUrl: string
  readonly stock: SpawnedPeer
}

async function theirLoad({ demoWallet, rpcUrl, stock }: TheirParts) {
  const signer = await createKeyPairSignerFromBytes(demoWallet.secretKey)
  const client = new x402Client().register(devnet, new ExactSvmScheme(signer, { rpcUrl })).setSpendControls(false)
  const payingFetch = wrapFetchWithPayment(globalThis.fetch, client)
  return {
    call: async () => expectAnswer(await payingFetch(`${stock.baseUrl}/api/data/crypto?symbol=BTC`)),
    serverMs: () => processMs(stock.pid),
    databaseMs: () => Promise.resolve(0),
  }
}

async function startStock({ env, chain }: ProofEnvironment): Promise<SpawnedPeer> {
  const feePayer = NewKeypair.generate()
  const connection = new Connection(chain.rpcUrl, 'confirmed')
  await connection.requestAirdrop(feePayer.publicKey, 1_000_000_000_000)
  return spawnPeer({
    rpcUrl: chain.rpcUrl,
    mint: assertPresent(env['TOKEN_MINT'], 'the service has a mint'),
    payTo: assertPresent(env['PAYMENT_WALLET'], 'the service has a payment wallet'),
    amountBaseUnits: peerAmountBaseUnits,
    feePayerSecret: encodeBase58(feePayer.secretKey),
  })
}

async function expectAnswer(response: Response): Promise<void> {
  const text = await response.text()
  assert(response.status === 200, `a paid request is answered 200, not ${response.status}: ${text.slice(0, 300)}`)
}

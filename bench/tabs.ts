import { Keypair } from '@solana/web3.js'
import pg from 'pg'
import { z } from 'zod'
import { createPayingFetch, keypairWallet } from '@tollbook/client'
import { assertPresent } from '@tollbook/core/assert'
import { openEnvironment, type ProofEnvironment } from '../test/proofs/proofEnvironment.ts'
import { type SpawnedServer, spawnServer } from '../test/proofs/spawnServer.ts'
import type { Order } from '../test/support/ask.ts'
import { openTab } from '../test/tabs/tabClient.ts'
import { answersPerSecond } from './autocannon.ts'
import { setPageImages, walPosition } from './claims/writes.ts'
import { openFeePayer } from './peer/feePayer.ts'
import { expectAnswer, type OurService, openOurService } from './peer/ourService.ts'
import { measureIdle, measurePaidLoad, type Spent } from './peer/paidLoad.ts'
import { type Commits, openCommits } from './tabs/commits.ts'
import { type Debtor, openDebtor } from './tabs/debtor.ts'
import { type Bench, type BenchOptions, inRounds, median, type Yardstick } from './yardstick.ts'

const callerCounts = [1, 16, 64] as const
const connections = 64
const idleSeconds = 5
const drawing: Order = { path: '/api/tools/qrcode', body: { data: 'hello' } }
/** Its handler does nothing, so that its debit and its price differ in the till only. */
const counted: Order = { path: '/api/data/crypto?symbol=BTC' }
// One deposit pays for 200,000 requests, and the payer's tokens last. Strangers have another address.
const settings = {
  TRUSTED_PROXY_HOPS: '1',
  TOKEN_PRICE_USD: '0.01',
  PRICES_USD: '/api/data/crypto=0.0001,/api/tools/qrcode=0.0001',
  TABS_TOTAL_MAX_USD: '1000000',
}

/** The same QR code by a debit of one tab and by a payment on a local chain, in turns at one service with all rails on. */
export const tabs: Bench = {
  name: 'tabs',
  about: 'requests on a tab against the same over the chain and against a 402; calls to nodes, bytes of log and disk',
  async run(options) {
    await using opened = new AsyncDisposableStack()
    const sides = await openSides(opened)
    const calls = await countCalls(sides, options)
    const found: Yardstick[] = []
    for (const callers of callerCounts) found.push(...(await compareWithChain(sides, callers, options)))
    found.push(await compareWithOffer(sides, counted, options), await compareWithOffer(sides, drawing, options))
    found.push(calls, ...(await measureBytes(sides, options)))
    return found
  },
}

interface Sides extends Pick<OurService, 'spent'> {
  readonly baseUrl: string
  readonly debtor: Debtor
  readonly buyOverChain: () => Promise<void>
  readonly admin: pg.Client
  readonly commits: Commits
  /** Calls to the node of the service so far, by method. */
  readonly calls: () => Promise<ReadonlyMap<string, number>>
  readonly idle: Spent
}

async function openSides(opened: AsyncDisposableStack): Promise<Sides> {
  // The service has the first node to itself, so that the calls of payers are not among its own.
  const environment = opened.use(await openEnvironment({ nodes: [{}, {}] }))
  const [serviceNode = ''] = environment.chain.rpcUrls
  const feePayer = opened.use(await openFeePayer(environment))
  const TAB_WALLET = environment.tabWallet.publicKey.toBase58()
  const env = { ...environment.env, ...feePayer.env, ...settings, TAB_WALLET, SOLANA_RPC_URLS: serviceNode }
  const server = await spawnServer({ env, runsFile: `${environment.directory}/runs` })
  opened.defer(() => server.stop())
  const { spent } = opened.use(await openOurService(environment, server))
  const admin = new pg.Client({ connectionString: environment.database.adminUrl })
  await admin.connect()
  opened.defer(() => admin.end())
  const { baseUrl } = server
  const commits = opened.use(await openCommits(environment.database.adminUrl, Math.max(...callerCounts)))
  const debtor = openDebtor(baseUrl, await openTab({ baseUrl, payer: environment.payer }, { depositUsd: 20 }))
  opened.defer(() => debtor.close())
  const idle = await measureIdle({ spent }, idleSeconds)
  const calls = () => readCalls(serviceNode)
  return { baseUrl, spent, admin, commits, debtor, calls, idle, buyOverChain: chainBuyer(environment, server) }
}

/** Our client, which pays by an unsent transaction. */
function chainBuyer({ chain, demoWallet, mint }: ProofEnvironment, { baseUrl }: SpawnedServer): () => Promise<void> {
  const payingFetch = createPayingFetch({
    wallet: keypairWallet(demoWallet),
    rpcUrl: assertPresent(chain.rpcUrls.at(-1), 'the chain has a node for payers'),
    expectedMint: mint,
    spendingLimit: { perRequest: { usd: '1' } },
  })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(drawing.body) }
  const buy = async (triesLeft: number): Promise<void> => {
    try {
      await expectAnswer(await payingFetch(`${baseUrl}${drawing.path}`, init))
    } catch (error) {
      // On a busy machine a node answers too late, or a blockhash of 6 s (150 slots of 40 ms) ends. The caller buys
      // again.
      if (triesLeft === 0) throw error
      await buy(triesLeft - 1)
    }
  }
  return () => buy(3)
}

async function readCalls(rpcUrl: string): Promise<ReadonlyMap<string, number>> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'localnet_requestCounts', params: [0] })
  const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result } = z.object({ result: z.record(z.string(), z.number()) }).parse(await response.json())
  return new Map(Object.entries(result))
}

function buyOnTab({ debtor, spent, idle }: Sides, order: Order, load: { callers: number; seconds: number }) {
  debtor.prepare(order)
  return measurePaidLoad({ ...load, call: debtor.buy, spent, idle })
}

async function compareWithChain(sides: Sides, callers: number, options: BenchOptions): Promise<readonly Yardstick[]> {
  const load = { callers, seconds: options.roundSeconds }
  const { buyOverChain: call, spent, idle, commits } = sides
  const rounds = await inRounds(options, async () => ({
    tab: await buyOnTab(sides, drawing, load),
    chain: await measurePaidLoad({ ...load, call, spent, idle }),
    commitsMs: await commits.pairMs(load),
  }))
  const of = (read: (round: (typeof rounds)[number]) => number) => median(rounds.map(read))
  const name = `${callers} caller${callers === 1 ? '' : 's'}`
  const figures = (side: 'tab' | 'chain') =>
    `${of((round) => round[side].perSecond).toFixed(0)}/s, p50 ${of((round) => round[side].p50Ms).toFixed(1)} ms, ${of((round) => costMs(round[side].each)).toFixed(2)} ms of processor`
  const floor = of(({ commitsMs }) => commitsMs).toFixed(1)
  const detail = `tab ${figures('tab')}; chain ${figures('chain')}; two bare commits ${floor} ms`
  options.progress(`tabs: ${name}: ${detail}`)
  return [
    {
      what: `QR codes/s on a tab ÷ over the chain, ${name}`,
      value: of(({ tab, chain }) => tab.perSecond / chain.perSecond),
      goal: { atLeast: 10 },
      detail,
    },
    {
      what: `p50 of a QR code on a tab ÷ over the chain, ${name}`,
      value: of(({ tab, chain }) => tab.p50Ms / chain.p50Ms),
      goal: { atMost: 0.1 },
      detail,
    },
  ]
}

async function compareWithOffer(sides: Sides, order: Order, options: BenchOptions): Promise<Yardstick> {
  const seconds = options.roundSeconds
  const rounds = await inRounds(options, async () => ({
    debit: (await buyOnTab(sides, order, { callers: connections, seconds })).each,
    offer: await measureOffers(sides, order, seconds),
  }))
  const of = (read: (round: (typeof rounds)[number]) => number) => median(rounds.map(read))
  const figures = (side: 'debit' | 'offer') =>
    `Node ${of((round) => round[side].serverMs).toFixed(3)} ms, Postgres ${of((round) => round[side].databaseMs).toFixed(3)} ms`
  const detail = `debit ${figures('debit')}; 402 ${figures('offer')}`
  options.progress(`tabs: ${order.path}: ${detail}`)
  return {
    what: `processor time of a debit ÷ a 402 with all rails on, ${order === counted ? 'a handler that does nothing' : 'a QR code'}, ${connections} callers`,
    value: of(({ debit, offer }) => costMs(debit) / costMs(offer)),
    goal: { atMost: 2 },
    detail,
  }
}

// Thousands of open quotes of the payer would slow the lookup of the cheapest.
const strangersWallet = Keypair.generate().publicKey.toBase58()
// Work that the payments of an address have earned is soon used up, and more prices are then refused.
const strangersAddress = '192.0.2.1'

async function measureOffers({ baseUrl, spent }: Sides, order: Order, seconds: number): Promise<Cost> {
  const before = await spent()
  const headers = { 'x-wallet-address': strangersWallet, 'x-forwarded-for': strangersAddress }
  const load = { url: `${baseUrl}${order.path}`, headers, body: order.body }
  const answers = seconds * (await answersPerSecond({ ...load, connections, seconds, expected: '4xx' }))
  const after = await spent()
  const each = (name: keyof Cost) => (after[name] - before[name]) / answers
  return { serverMs: each('serverMs'), databaseMs: each('databaseMs') }
}

type Cost = Pick<Spent, 'serverMs' | 'databaseMs'>

function costMs({ serverMs, databaseMs }: Cost): number {
  return serverMs + databaseMs
}

/** Methods by which a payment is verified, as the service calls them for a payment over the chain. */
const verifying = ['getTransaction', 'getSignatureStatuses', 'sendTransaction', 'simulateTransaction']

/** Counts before anything but the deposit is on the chain: jobs follow payments for a while. */
async function countCalls(sides: Sides, options: BenchOptions): Promise<Yardstick> {
  const seconds = options.roundSeconds * options.rounds
  const before = await sides.calls()
  const { perSecond } = await buyOnTab(sides, counted, { callers: connections, seconds })
  const after = await sides.calls()
  const calls = [...after].map(([method, count]) => ({ method, count: count - (before.get(method) ?? 0) }))
  const grown = calls.filter(({ count }) => count > 0)
  const forDebits = grown.filter(({ method }) => verifying.includes(method))
  options.progress('tabs: calls to the node')
  return {
    what: `calls to the node during debits by ${verifying.join(', ')}`,
    value: forDebits.reduce((sum, { count }) => sum + count, 0),
    goal: { atMost: 0 },
    detail: `${Math.round(perSecond * seconds)} debits in ${seconds} s; all calls, of jobs: ${grown.map(({ method, count }) => `${method} ${count}`).join(', ')}`,
  }
}

// Pages and jobs would weigh more than the requests of a shorter measurement.
const [weighedRequests, weighingsMax] = [2_000, 100]

const sizeOfLedger = `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'ledger' and c.relkind = 'r' and c.relname not in ('notes', 'sent_notes', 'quotes')`

// Counted in the ledger: at the end of a measurement some requests are still on their way.
const debitsSince = `select count(*) filter (where e.kind = 'TabDebited')::float8 as requests, sum(octet_length(e.body))::float8 as bodies,
  (select avg(octet_length(n.note)) from ledger.notes n)::float8 as answer
  from ledger.events e where e.seq > $1`

/** Bytes per debit, without the images of whole pages that follow a checkpoint, and without what is deleted again. */
async function measureBytes(sides: Sides, options: BenchOptions): Promise<readonly Yardstick[]> {
  const ask = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    assertPresent((await sides.admin.query<Row>(text, values)).rows[0], 'the query has a row')
  const measure = async () => ({
    ...(await ask<{ seq: string }>('select seq from ledger.head')),
    ...(await ask<{ bytes: number }>(sizeOfLedger)),
    log: await walPosition(sides.admin),
  })
  await setPageImages(sides.admin, 'off')
  const load = { callers: connections, seconds: options.roundSeconds }
  const before = await measure()
  let bought = 0
  for (let weighing = 0; weighing < weighingsMax && bought < weighedRequests; weighing++)
    bought += load.seconds * (await buyOnTab(sides, drawing, load)).perSecond
  const after = await measure()
  await setPageImages(sides.admin, 'on')
  const found = await ask<{ requests: number; bodies: number; answer: number }>(debitsSince, [before.seq])
  const { requests, bodies, answer } = found
  options.progress('tabs: bytes')
  const detail = `${requests} QR codes, with sealing, reports and all other jobs; bodies of events ${Math.round(bodies / requests)}, a stored answer ${Math.round(answer)}`
  return [
    {
      what: 'bytes of write-ahead log per request',
      value: (after.log - before.log) / requests,
      goal: { atMost: 2_200 },
      detail,
    },
    {
      what: 'bytes on disk per request, without answers and quotes, which are deleted',
      value: (after.bytes - before.bytes) / requests,
      goal: { atMost: 1_900 },
      detail,
    },
  ]
}

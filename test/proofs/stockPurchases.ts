import { Keypair } from '@solana/web3.js'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { z } from 'zod'
import { audit } from '@tollbook/audit'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { openHome } from '../../src/cli/local/home.ts'
import { sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import type { LocalJson } from '../../src/cli/localJson.ts'
import { openLocalService } from '../../src/cli/openLocalService.ts'
import { createService } from '../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../src/config.ts'
import { products } from '../support/builtinProducts.ts'
import { type ProductFacts, requestOf } from '../../src/product/productFacts.ts'
import { startSampleUpstreams } from '@tollbook/sandbox/sampleUpstreams/sampleUpstreams'
import { silentLog } from '../../src/machine/log.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { type DroppingProxy, openDroppingProxy } from './droppingProxy.ts'
import type { Findings } from './mppValidation.ts'
import { noLimits } from './proofEnvironment.ts'
import { readProofLedger } from './proofLedger.ts'
import { concludeProof, say } from './verdict.ts'

/** Stock clients that buy every product of local mode, from two instances behind a proxy that loses answers. */
export interface StockPurchases extends AsyncDisposable {
  readonly wallet: Keypair
  readonly rpcUrl: string
  readonly tokenMint: string
  readonly baseUrl: string
  /** Page that products may render. */
  readonly pageUrl: string
  /**
   * Buys every product by each client, then checks more, audits the ledger against the chain, and says whether all of
   * it holds.
   */
  prove(clients: readonly StockClient[], check?: () => Promise<Findings>): Promise<void>
  /** Whether every payment so far was in the sample dollar, and every delivery owes its burn in the token. */
  paidInDollars(): Promise<Findings>
}

export interface StockClient {
  readonly name: string
  readonly fetch: typeof fetch
  /** Header by which a paid answer is recognised. */
  readonly receiptHeader: string
  /** Prefix of the path of a product. */
  readonly mount: string
  /** Whether a broken request is repeated with the same payment. */
  readonly repeats: boolean
}

export interface PurchaseOptions {
  readonly rounds: number
  readonly drop: number
}

interface Opened {
  readonly local: LocalJson
  readonly proxy: DroppingProxy
  readonly adminUrl: string
  readonly rounds: number
  readonly wrong: string[]
}

export async function openStockPurchases({ rounds, drop }: PurchaseOptions): Promise<StockPurchases> {
  await using opened = new AsyncDisposableStack()
  const home = await makeTemporaryDirectory()
  opened.defer(home.remove)
  const env = { PORT: '0', LOG_LEVEL: 'fatal', ...noLimits }
  const sampled = (folder: string) =>
    readConfig({ ...env, TOLLBOOK_HOME: join(home.path, folder) }, { sampleUpstreams: 'always' })
  const onProgress = (step: string) => say(`starting ${step}`)
  const first = await openLocalService(sampled('first'), { log: silentLog, onProgress })
  opened.defer(() => first.close())
  const { local } = first
  const rpcUrl = assertPresent(local.rpcUrl, 'local mode has a chain')
  const samples = await startSampleUpstreams({ clock: systemClock })
  opened.defer(() => samples.close())
  const onSameChain = readConfig({
    ...env,
    DATABASE_URL: assertPresent(local.databaseUrl, 'local mode has a database'),
    SOLANA_RPC_URLS: rpcUrl,
    TOKEN_MINT: local.tokenMint,
    PAYMENT_WALLET: local.paymentWallet,
    RECEIPT_SIGNING_KEY: JSON.stringify(await (await openHome(join(home.path, 'first'))).receiptKey()),
    SIGNER_SOCKET: join(home.path, 'first', 'signer.sock'),
    X402_NETWORK: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    // As local mode does.
    CURRENCIES: 'usdc:minimum=0.000001',
    BURN_DEBT_MAX_TOKENS: '1000000',
    ARTIFACT_DIR: join(home.path, 'first', 'artifacts'),
    EGRESS_ALLOW_HOSTS: [local.sampleUpstreams?.pageUrl ?? local.baseUrl, samples.pageUrl]
      .map((url) => new URL(url).host)
      .join(','),
  })
  assert(isServiceConfig(onSameChain), 'the second instance is configured')
  const { upstreams, newsFeeds, chatServer } = samples
  const second = await createService(
    { ...onSameChain, providers: sampled('first').providers },
    {
      log: silentLog,
      samples: { upstreams, newsFeeds: [...newsFeeds], aiServers: [{ ...chatServer, apiKey: undefined }] },
    },
  )
  opened.defer(() => second.close())
  const proxy = opened.use(await openDroppingProxy([local.baseUrl, `http://127.0.0.1:${second.port}`], drop))
  const { keypairPath } = assertPresent(local.demoWallet, 'local mode has a wallet')
  const secretKey = z.array(z.int()).parse(JSON.parse(await readFile(keypairPath, 'utf8')))
  const adminUrl = assertPresent(local.adminDatabaseUrl ?? undefined, 'local mode has a database')
  const purchases: Opened = { local, proxy, adminUrl, rounds, wrong: [] }
  const disposables = opened.move()
  return {
    wallet: Keypair.fromSecretKey(Uint8Array.from(secretKey)),
    rpcUrl,
    tokenMint: local.tokenMint,
    baseUrl: local.baseUrl,
    pageUrl: pageUrlOf(local),
    prove: (clients, check = () => Promise.resolve({ lines: [], wrong: [] })) => prove(purchases, clients, check),
    paidInDollars: () => paidInDollars(purchases),
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}

const nameOf = ({ name, repeats }: StockClient) =>
  repeats ? `${name}, on a fetch that repeats a broken request` : name

const pageUrlOf = ({ sampleUpstreams }: LocalJson) => sampleUpstreams?.pageUrl ?? 'https://example.com/'

async function prove(
  purchases: Opened,
  clients: readonly StockClient[],
  check: () => Promise<Findings>,
): Promise<void> {
  const { wrong } = purchases
  const lines: string[] = []
  for (const client of clients) {
    const { answers, payments, dropped } = await buyAll(purchases, client)
    const ratio = (payments / answers).toFixed(2)
    lines.push(`${nameOf(client)}: ${payments} payments ÷ ${answers} answers = ${ratio}, ${dropped} answers dropped`)
    say(lines.at(-1) ?? '')
    // A client that does not repeat pays again, unless the service still knew that its first answer had not been sent.
    const most = client.repeats ? answers : answers + dropped
    if (payments < answers || payments > most)
      wrong.push(`${nameOf(client)}: ${payments} payments, expected ${answers} to ${most}`)
  }
  const more = await check()
  wrong.push(...more.wrong)
  lines.push(...more.lines, await auditPurchases(purchases))
  concludeProof({ holds: wrong.length === 0, lines: [...lines, ...wrong.slice(0, 20)] })
}

interface Bought {
  readonly answers: number
  readonly payments: number
  readonly dropped: number
}

/** Every product, as many times as there are rounds. A purchase whose answer is lost is begun again. */
async function buyAll(purchases: Opened, client: StockClient): Promise<Bought> {
  const { adminUrl, proxy, rounds } = purchases
  const [before, droppedBefore] = [await readProofLedger(adminUrl), proxy.dropped()]
  let answers = 0
  for (let round = 0; round < rounds; round++) {
    for (const product of products) {
      await buyUntilAnswered(purchases, client, product)
      answers++
    }
  }
  const after = await readProofLedger(adminUrl)
  return { answers, payments: after.payments - before.payments, dropped: proxy.dropped() - droppedBefore }
}

const triesMax = 20
const pauseMs = 1_000

async function buyUntilAnswered(purchases: Opened, client: StockClient, product: ProductFacts): Promise<void> {
  const { local, proxy, wrong } = purchases
  const { target, body } = requestOf(product, product.demo.order({ pageUrl: pageUrlOf(local) }))
  for (let tries = 1; tries <= triesMax; tries++) {
    const order = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const headers = { 'content-type': 'application/json' }
    const response = await client
      .fetch(`${proxy.baseUrl}${client.mount}${target}`, { ...order, headers })
      .catch(() => undefined)
    const text = await response?.text()
    if (response?.status === 200 && response.headers.has(client.receiptHeader)) return
    // A product is not on sale before its providers have answered for the first time.
    if (response?.status === 503) await systemClock.sleep(pauseMs)
    else if (response !== undefined) wrong.push(`${product.path}: ${response.status} ${text?.slice(0, 200)}`)
  }
  wrong.push(`${nameOf(client)}: ${product.path} was not bought in ${triesMax} tries`)
}

// The chain is final 32 slots later.
const finalMs = 20_000
const burnStats = z.object({
  data: z.object({ total: z.object({ baseUnits: z.string() }), owed: z.object({ baseUnits: z.string() }) }),
})

async function auditPurchases({ local, adminUrl, wrong }: Opened): Promise<string> {
  await systemClock.sleep(finalMs)
  const { findings, verdicts } = await audit({
    source: { kind: 'database', url: adminUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    // The burn job goes on meanwhile, and confirms a burn only once it is final.
    chain: { rpcUrl: local.rpcUrl ?? '', paymentWallet: local.paymentWallet, fetch, recordedWithinMs: finalMs },
    resumeFile: undefined,
    clock: systemClock,
  })
  wrong.push(...findings.map(({ code, message }) => `audit: ${code}: ${message}`))
  const { total, owed } = burnStats.parse(await (await fetch(`${local.baseUrl}/api/token/burn-stats`)).json()).data
  // The burn job of local mode may have burned some of it by now; nothing may be in both figures, or in none.
  const owedBaseUnits = await readOwedInAll(adminUrl)
  if (BigInt(total.baseUnits) + BigInt(owed.baseUnits) !== owedBaseUnits || owedBaseUnits === 0n)
    wrong.push(`burned and owed are not the ${owedBaseUnits} base units that all payments owed`)
  return `burned ${total.baseUnits}, owed ${owed.baseUnits} base units; audit against the chain: ${verdicts.chainTruth.status}, ${findings.length} findings`
}

async function paidInDollars({ adminUrl, local }: Opened): Promise<Findings> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  const { rows } = await client.query<{ payments: number; dollars: number; fulfilled: number; owed: number }>(
    `select count(*) filter (where kind = 'PaymentVerified')::int as payments,
       count(*) filter (where kind = 'PaymentVerified' and said #>> '{settlement,price,mint}' = $1)::int as dollars,
       count(*) filter (where kind = 'RequestFulfilled')::int as fulfilled,
       count(*) filter (where kind = 'BurnOwed' and said ->> 'source' = 'treasury' and said ->> 'mint' = $2)::int as owed
     from ledger.events cross join lateral (select convert_from(body, 'UTF8')::jsonb as said) body`,
    [sampleDollarMint, local.tokenMint],
  )
  await client.end()
  const { payments = 0, dollars = 0, fulfilled = 0, owed = 0 } = rows[0] ?? {}
  const line = `${dollars} of ${payments} payments in dollars, ${owed} of ${fulfilled} deliveries owe a burn in the token`
  const holds = payments > 0 && dollars === payments && owed === fulfilled
  return { lines: [line], wrong: holds ? [] : [line] }
}

async function readOwedInAll(databaseUrl: string): Promise<bigint> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ owed: string }>(
    "select coalesce(sum((convert_from(body, 'UTF8')::jsonb ->> 'owedBaseUnits')::numeric), 0)::text as owed from ledger.events where kind = 'BurnOwed'",
  )
  await client.end()
  return BigInt(rows[0]?.owed ?? 0)
}

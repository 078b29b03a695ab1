import '@tollbook/core/quietBindings'
import { Keypair } from '@solana/web3.js'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { audit } from '@tollbook/audit'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { randomToken } from '@tollbook/core/id'
import { openLocalService } from '../../src/cli/openLocalService.ts'
import { readConfig } from '../../src/config.ts'
import { products } from '../../src/endpoints/catalog.ts'
import { type ProductFacts, requestOf } from '../../src/endpoints/productFacts.ts'
import { silentLog } from '../../src/primitives/log.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { repeatingFetch, stockFetch } from '../support/x402Service.ts'
import { openDroppingProxy } from './droppingProxy.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { noLimits } from './proofEnvironment.ts'
import { readProofLedger } from './proofLedger.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The unmodified stock client of x402 buys every product of local mode. With `--drop N` a proxy loses the answer to every Nth
 * payment: the stock client alone pays again, and on a fetch that repeats a broken request it does not.
 */

interface Options {
  readonly rounds: number
  readonly drop: number
}

const command = proofCommand('x402', 'The stock client of x402 buys every product of local mode.')
  .option('--rounds <n>', 'purchases of each product', wholeNumber, 3)
  .option('--drop <n>', 'lose the answer to every Nth payment; 0: none', wholeNumber, 0)
const { rounds, drop } = command.parse().opts<Options>()

await using opened = new AsyncDisposableStack()
const home = await makeTemporaryDirectory()
opened.defer(home.remove)
const config = readConfig(
  { TOLLBOOK_HOME: home.path, PORT: '0', LOG_LEVEL: 'fatal', ...noLimits },
  { sampleUpstreams: 'always' },
)
const service = await openLocalService(config, { log: silentLog, onProgress: (step) => say(`starting ${step}`) })
opened.defer(() => service.close())
const { local } = service
const rpcUrl = assertPresent(local.rpcUrl, 'local mode has a chain')
const adminUrl = assertPresent(local.adminDatabaseUrl ?? undefined, 'local mode has a database')
const proxy = opened.use(await openDroppingProxy(local.baseUrl, drop))
const keypair = z
  .array(z.int())
  .parse(JSON.parse(await readFile(assertPresent(local.demoWallet, 'local mode has a wallet').keypairPath, 'utf8')))
const wallet = Keypair.fromSecretKey(Uint8Array.from(keypair))
const triesMax = 20
const pauseMs = 1_000
const wrong: string[] = []

interface Bought {
  readonly answers: number
  readonly payments: number
  readonly dropped: number
}

/** Every product, as many times as there are rounds. A purchase whose answer is lost is begun again. */
async function buyAll(payingFetch: typeof fetch): Promise<Bought> {
  const [before, droppedBefore] = [await readProofLedger(adminUrl), proxy.dropped()]
  let answers = 0
  for (let round = 0; round < rounds; round++) {
    // A stream carries the receipt behind its body, where this client does not look.
    for (const product of products.filter(({ stream }) => stream === undefined)) {
      await buyUntilAnswered(payingFetch, product)
      answers++
    }
  }
  const after = await readProofLedger(adminUrl)
  return { answers, payments: after.payments - before.payments, dropped: proxy.dropped() - droppedBefore }
}

async function buyUntilAnswered(payingFetch: typeof fetch, product: ProductFacts): Promise<void> {
  const pageUrl = local.sampleUpstreams?.pageUrl ?? 'https://example.com/'
  const { target, body } = requestOf(product, product.demo.order({ pageUrl }))
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomToken() }
  for (let tries = 1; tries <= triesMax; tries++) {
    const order = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const key = payingFetch === repeating ? headers : { 'content-type': headers['content-type'] }
    const response = await payingFetch(`${proxy.baseUrl}/x402${target}`, { ...order, headers: key }).catch(
      () => undefined,
    )
    const text = await response?.text()
    if (response?.status === 200 && response.headers.has('payment-response')) return
    // A product is not on sale before its providers have answered for the first time.
    if (response?.status === 503) await systemClock.sleep(pauseMs)
    else if (response !== undefined) wrong.push(`${product.path}: ${response.status} ${text?.slice(0, 200)}`)
  }
  wrong.push(`${product.path} was not bought in ${triesMax} tries`)
}

const repeating = await stockFetch(wallet, { rpcUrl, asset: local.tokenMint, inner: repeatingFetch })
const runs = [
  ['stock client alone', await stockFetch(wallet, { rpcUrl, asset: local.tokenMint })],
  ['stock client on a fetch that repeats a broken request', repeating],
] as const
const lines: string[] = []
for (const [name, payingFetch] of runs) {
  const { answers, payments, dropped } = await buyAll(payingFetch)
  const ratio = (payments / answers).toFixed(2)
  lines.push(`${name}: ${payments} payments ÷ ${answers} answers = ${ratio}, ${dropped} answers dropped`)
  say(lines.at(-1) ?? '')
  const expected = payingFetch === repeating ? answers : answers + dropped
  if (payments !== expected) wrong.push(`${name}: ${payments} payments, expected ${expected}`)
}

// The chain is final 32 slots later.
const finalMs = 20_000
await systemClock.sleep(finalMs)
const { findings, verdicts } = await audit({
  source: { kind: 'database', url: adminUrl },
  verifierKeys: [],
  ownCheckpoints: [],
  transactions: true,
  chain: { rpcUrl, paymentWallet: local.paymentWallet, fetch, recordedWithinMs: 0 },
  resumeFile: undefined,
  clock: systemClock,
})
wrong.push(...findings.map(({ code, message }) => `audit: ${code}: ${message}`))
const stats = z
  .object({ data: z.object({ total: z.object({ baseUnits: z.string() }), owed: z.object({ baseUnits: z.string() }) }) })
  .parse(await (await fetch(`${local.baseUrl}/api/token/burn-stats`)).json()).data
if (stats.total.baseUnits !== '0' || stats.owed.baseUnits === '0')
  wrong.push('burn statistics call owed burns confirmed')
concludeProof({
  holds: wrong.length === 0,
  lines: [
    ...lines,
    `burned ${stats.total.baseUnits}, owed ${stats.owed.baseUnits} base units; audit against the chain: ${verdicts.chainTruth.status}, ${findings.length} findings`,
    ...wrong.slice(0, 20),
  ],
})

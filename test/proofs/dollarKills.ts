import '@tollbook/core/quietBindings'
import { createServer } from 'node:http'
import { writeFile } from 'node:fs/promises'
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Connection, Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import { z } from 'zod'
import { audit } from '@tollbook/audit'
import { systemClock } from '@tollbook/core/clock'
import { listen } from '@tollbook/localnet/httpServer'
import { connectLocalChain, topUp } from '../../src/cli/local/giveFunds.ts'
import { provisionDollar, sampleDollarAccount, sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { openMarketServers } from '../support/marketServers.ts'
import { airdrop, openDelegate, runBurnJob } from './burn/runBurnJob.ts'
import { type Buyer, openBuyers, type Sale } from './dollarKills/buyers.ts'
import { expectedOf, findForbidden, findUnserved, readLedger, sumOf } from './dollarKills/figures.ts'
import { openInstances } from './dollarKills/instances.ts'
import { firstTokenPrice, makeTrouble } from './dollarKills/trouble.ts'
import { startLedgerServer } from './ledgerServer.ts'
import { controlChain } from './nodes/chainControl.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { openProofSigner } from './proofSigner.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The token and a dollar, sold by four server processes over three rails, on tabs and by routes of a file, while
 * servers and Postgres are killed, a node forks, the token's price jumps, and the dollar's peg leaves and returns.
 * The proof computes from the receipts what was paid, burned and promised, and compares it with ledger and chain.
 */

const options = proofCommand(
  'dollars kills',
  'Two mints keep exact sums while servers, Postgres, forks and prices fail.',
)
  .option('--seconds <n>', 'duration of the trouble', wholeNumber, 240)
  .option('--servers <n>', 'server processes', wholeNumber, 4)
  .parse()
  .opts<{ seconds: number; servers: number }>()

const microUsd = new Map([
  ['/api/data/crypto', 30_000n],
  ['/kills/route', 20_000n],
])
const limitTokens = 300n
const unit = 1_000_000n
/** Burn of the probed product at the first price of the token. */
const firstBurnBaseUnits = 9n * unit
const sendTriesMax = 10
/** A delivery counts within two minutes. */
const onAgainMsMax = 180_000
/** A delivery of the treasury counts after this age, and not after 70 minutes. */
const settleAgeMs = 45_000

await using opened = new AsyncDisposableStack()
const mintAuthority = Keypair.generate()
const server = await startLedgerServer()
const environment = opened.use(
  await openEnvironment({
    nodes: [{}, {}, {}],
    accounts: [sampleDollarAccount(mintAuthority)],
    startServer: () => Promise.resolve(server),
  }),
)
const { chain, env, database, demoWallet, paymentWallet, tabWallet, directory } = environment
const [forkingUrl = '', otherUrl = '', witnessUrl = ''] = chain.rpcUrls
const token = env['TOKEN_MINT'] ?? ''
const connection = new Connection(witnessUrl, { commitment: 'confirmed', wsEndpoint: chain.wsUrl })
const control = controlChain(witnessUrl)
await topUp(connectLocalChain(witnessUrl), mintAuthority.publicKey)
await provisionDollar(witnessUrl, {
  mintAuthority,
  paymentWallet: paymentWallet.publicKey,
  tabWallet: tabWallet.publicKey,
  demoWallet: demoWallet.publicKey,
})
const treasury = Keypair.generate()
await airdrop(connection, treasury)
const markets = await openMarketServers(firstTokenPrice)
opened.defer(markets.close)
markets.sayOf(sampleDollarMint, ['1', '1.001', '0.999'])
const signer = opened.use(await openProofSigner(environment, [sampleDollarMint]))
const burnEnv = await openDelegate(environment, connection)
const runsFile = `${directory}/runs`
await writeFile(runsFile, '')
const instances = opened.use(await openInstances(options.servers, { env: await settings(), runsFile }))
say(`${options.servers} servers sell in the token and in dollars`)

async function settings(): Promise<Readonly<Record<string, string>>> {
  const upstream = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  const port = await listen(upstream, { port: 0, host: '127.0.0.1' })
  opened.defer(() => void upstream.close())
  const file = `${directory}/tollbook.yaml`
  await writeFile(
    file,
    `version: 1
builtin: [{ name: crypto, price: "0.03" }]
upstreams:
  up: { url: "http://127.0.0.1:${port}", timeout: 2s, silence: 2s }
routes:
  - path: /kills/route
    summary: A route
    upstream: up
    to: /
    price: { usd: "0.02" }
    parameters: { type: object, properties: { n: { type: string, maxLength: 20 } } }
`,
  )
  return {
    ...env,
    ...signer.env,
    ...markets.env,
    SOLANA_RPC_URLS: `${forkingUrl},${otherUrl}`,
    PRODUCTS_FILE: file,
    TAB_WALLET: tabWallet.publicKey.toBase58(),
    TAB_MAX_USD: '100',
    TABS_TOTAL_MAX_USD: '1000000',
    CURRENCIES: 'usdc',
    BURN_DEBT_MAX_TOKENS: String(limitTokens),
    TREASURY_WALLET: treasury.publicKey.toBase58(),
    HANDLER_TIMEOUT_MS: '5000',
    NEWS_POLLING: '0',
    SERVER_LIMITS: JSON.stringify({ jobs: { settleAgeMs, pegNetwork: `solana:${chain.genesisHash.slice(0, 32)}` } }),
  }
}

const accountOf = (mint: string, owner: PublicKey) => getAssociatedTokenAddressSync(new PublicKey(mint), owner)
async function held(mint: string, ...owners: readonly Keypair[]): Promise<bigint> {
  const balances = owners.map(async ({ publicKey }) => {
    const account = accountOf(mint, publicKey)
    const info = await connection.getAccountInfo(account, 'processed')
    return info === null ? 0n : BigInt((await connection.getTokenAccountBalance(account, 'processed')).value.amount)
  })
  return (await Promise.all(balances)).reduce((sum, each) => sum + each, 0n)
}
const supply = async (mint: string) =>
  BigInt((await connection.getTokenSupply(new PublicKey(mint), 'processed')).value.amount)

async function transfer(from: Keypair, to: PublicKey, baseUnits: bigint): Promise<void> {
  const mint = new PublicKey(token)
  const [source, target] = [from.publicKey, to].map((owner) => accountOf(token, owner))
  if (source === undefined || target === undefined) return
  const open = createAssociatedTokenAccountIdempotentInstruction(from.publicKey, target, to, mint)
  const send = createTransferCheckedInstruction(source, mint, target, from.publicKey, baseUnits, 6)
  // A busy machine simulates in a state without the blockhash. Nothing was sent then.
  for (let tries = 1; ; tries++)
    try {
      await sendAndConfirmTransaction(connection, new Transaction().add(open, send), [from])
      return
    } catch (error) {
      if (tries === sendTriesMax || !String(error).includes('Blockhash not found')) throw error
      await systemClock.sleep(1_000)
    }
}

const wrong: string[] = []
const sales: Sale[] = []
const tally = new Map<string, number>()
const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1)

await transfer(demoWallet, treasury.publicKey, 20_000n * unit)
const before = {
  supply: await supply(token),
  dollarSupply: await supply(sampleDollarMint),
  payer: { token: await held(token, demoWallet), dollar: await held(sampleDollarMint, demoWallet) },
  treasury: await held(token, treasury),
}
const { buyers, deposits } = await openBuyers(environment, instances)
const stopping = new AbortController()
let serial = 0

/** Buys without pause, a product of this release and a route of the file by turns. */
async function buyOnAndOn({ name, buy }: Buyer): Promise<void> {
  for (let turn = 0; !stopping.signal.aborted; turn++) {
    // Orders differ: a second payment of the wallet for one order is not co-signed, and gets the answer of the first.
    const path = turn % 3 === 2 ? `/kills/route?n=${serial++}` : `/api/data/crypto?symbol=D${serial++}`
    const sale = await buy({ path }).catch((error: unknown) => `${name}: ${String(error)}`)
    if (typeof sale === 'string') wrong.push(sale)
    else if (sale === undefined) await systemClock.sleep(500)
    else {
      sales.push(sale)
      count(`${name}${sale.receipt.currency === undefined ? ', token' : ', dollars'}`)
    }
  }
}

const accepted = z.object({ accepts: z.array(z.object({ asset: z.string() })) })
const probes = new Map<string, number>()

/** True unless a reversal or a killed Postgres leaves it open. */
async function isAtLimit(): Promise<boolean> {
  const [row] = await query<{ balance: string }>(
    `select balance::text from ledger.accounts where mint = '${token}' and name = 'Assets:TokensToDeliver'`,
  )
  return row !== undefined && BigInt(row.balance) + firstBurnBaseUnits > limitTokens * unit
}

/** Empty while Postgres is down. */
async function query<T extends object>(text: string): Promise<readonly T[]> {
  const read = withAdminSession(database.adminUrl, async (admin) => (await admin.query<T>(text)).rows)
  return read.catch(() => [])
}

/** True once something was sold in dollars after a delivery of the treasury. */
async function isOnAgain(): Promise<boolean> {
  const found = await query(`select from ledger.events e where e.kind = 'BurnOwed'
    and convert_from(e.body, 'UTF8')::jsonb ->> 'source' = 'treasury'
    and e.seq > (select min(d.seq) from ledger.events d where d.kind = 'TokensDelivered') limit 1`)
  return found.length > 0
}

/** No instance may offer dollars now. An instance that is being replaced is not asked. */
async function probe(reason: string): Promise<void> {
  for (const url of instances.urls()) {
    const response = await fetch(`${url}/x402/api/data/crypto?symbol=PROBE`).catch(() => undefined)
    const header = response?.headers.get('payment-required')
    if (header === undefined || header === null) continue
    const { accepts } = accepted.parse(JSON.parse(Buffer.from(header, 'base64').toString()))
    // A payment that the chain dropped may have made room meanwhile.
    if (reason === 'at the limit' && !(await isAtLimit())) continue
    probes.set(reason, (probes.get(reason) ?? 0) + 1)
    if (accepts.some(({ asset }) => asset === sampleDollarMint)) wrong.push(`a dollar was offered ${reason}`)
  }
}

const deliver = (baseUnits: bigint) => transfer(treasury, paymentWallet.publicKey, baseUnits)
const buying = buyers.map(buyOnAndOn)
const trouble = await makeTrouble(options.seconds * 1_000, {
  instances,
  postgresPid: () => server.postgres.pid(),
  chain: control,
  markets,
  dollarMint: sampleDollarMint,
  deliver,
  isAtLimit,
  probe,
})
const onAgainUntilMs = systemClock.monotonicMs() + onAgainMsMax
while (!(await isOnAgain()) && systemClock.monotonicMs() < onAgainUntilMs) await systemClock.sleep(1_000)
if (!(await isOnAgain())) wrong.push('nothing was sold in dollars after a delivery')
stopping.abort()
say('waiting for the last answers')
await Promise.all(buying)
say([...tally].map(([what, times]) => `${what}: ${times}`).join('; '))

/** Tokens that have left the treasury and are not on record. */
async function inTransit(): Promise<bigint> {
  const recorded = sumOf(await readLedger(database.adminUrl), 'TokensDelivered', 'receivedBaseUnits')
  return before.treasury - (await held(token, treasury)) - recorded
}

const settleMsMax = 300_000

/** Waits until every payment is final, delivers what is still owed, and waits until that is on record. */
async function settle(): Promise<void> {
  const untilMs = systemClock.monotonicMs() + settleMsMax
  let isTopped = false
  for (; systemClock.monotonicMs() < untilMs; await systemClock.sleep(2_000)) {
    const { balances, states } = await readLedger(database.adminUrl)
    const isOpen = [...states.keys()].some((state) => /^(claimed|streaming|released|exhausted|fulfilled)$/.test(state))
    const waiting = await inTransit()
    if (isTopped && waiting === 0n) return
    const owed = (balances.get(`${token} Assets:TokensToDeliver`) ?? 0n) - waiting
    if (isOpen || isTopped) continue
    if (owed > 0n) await deliver(owed)
    isTopped = true
  }
  wrong.push('payments or deliveries were not settled in five minutes')
}

function equal(what: string, found: bigint | undefined, right: bigint): void {
  if (found !== right) wrong.push(`${what}: ${found}, and not ${right}`)
}

async function conclude(): Promise<void> {
  const ledger = await readLedger(database.adminUrl)
  const expected = expectedOf(sales, { token, dollar: sampleDollarMint, prices: microUsd }, ledger)
  const { owedForDollarsBaseUnits: promised, insideBaseUnits: inside, paid } = expected
  wrong.push(...expected.wrong, ...findUnserved(sales, ledger))
  wrong.push(...findForbidden(ledger, trouble, { dollar: sampleDollarMint, limitBaseUnits: limitTokens * unit }))
  const quoted = new Set(trouble.tokenPrices.map((price) => BigInt(Math.round(Number(price) * 1e6)) * 10n ** 12n))
  for (const [list, price] of ledger.tokenPrices)
    if (!quoted.has(price)) wrong.push(`price list ${list} has a price that no market said: ${price}`)
  const balance = (mint: string, account: string) => ledger.balances.get(`${mint} ${account}`) ?? 0n
  const spent = {
    token: before.payer.token - (await held(token, demoWallet)) - deposits.token,
    dollar: before.payer.dollar - (await held(sampleDollarMint, demoWallet)) - deposits.dollar,
  }
  const rounds = sumOf(ledger, 'BurnConfirmed', 'burnedBaseUnits')
  const delivered = before.treasury - (await held(token, treasury))
  const fell = before.supply - (await supply(token))
  equal('tokens on chain', await held(token, paymentWallet, tabWallet), balance(token, 'Assets:PaymentWallet'))
  equal(
    'dollars on chain',
    await held(sampleDollarMint, paymentWallet, tabWallet),
    balance(sampleDollarMint, 'Assets:PaymentWallet'),
  )
  equal('tokens spent by the payers', spent.token, paid.get(token) ?? 0n)
  equal('dollars spent by the payers', spent.dollar, paid.get(sampleDollarMint) ?? 0n)
  equal('supply of the dollar', await supply(sampleDollarMint), before.dollarSupply)
  equal('burns in rounds', rounds, expected.owedBaseUnits)
  equal('fall of the supply', fell, inside + rounds)
  equal('burns still owed', balance(token, 'Liabilities:BurnOwed'), 0n)
  equal('deliveries on record', sumOf(ledger, 'TokensDelivered', 'receivedBaseUnits'), delivered)
  equal('tokens to deliver', balance(token, 'Assets:TokensToDeliver'), promised - delivered)
  for (const [key, amount] of ledger.balances)
    if (key.startsWith(sampleDollarMint) && key.includes('Burn') && amount !== 0n) wrong.push(`${key} is ${amount}`)
  await checkStats({ total: fell, inRounds: rounds, promised, delivered, sold: expected.dollarsBaseUnits })
  const findings = await auditAll()
  const { servers, postgres, forks } = trouble.kills
  const { broken, refused } = instances.repeats
  const reversed = ledger.events.filter(({ kind }) => kind === 'PaymentReversed').length
  const inDollars = sales.filter(({ receipt }) => receipt.currency !== undefined).length
  concludeProof({
    holds: wrong.length === 0 && inDollars > 0 && probes.size === 2,
    lines: [
      `${servers} servers and ${postgres} times Postgres killed, ${forks} forks, ${trouble.tokenPrices.length} prices, ${ledger.tokenPrices.size} price lists`,
      `${sales.length} answers, ${inDollars} in dollars, ${reversed} payments dropped by the chain; ${broken} requests broke, ${refused} were asked to repeat`,
      `burns in base units: ${inside} inside payments + ${rounds} in rounds = ${fell} on chain; ${promised} for dollars, ${delivered} delivered`,
      `probes without an offer in dollars: ${[...probes].map(([reason, times]) => `${times} ${reason}`).join(', ')}; audit with the chain: ${findings} findings`,
      ...wrong.slice(0, 30),
    ],
  })
}

const figure = z.object({ baseUnits: z.string() })
const promises = z.object({ promised: figure, delivered: figure, burned: figure, open: figure, sales: z.array(figure) })
const burnStats = z.object({
  data: z.object({ total: figure, owed: figure, confirmed: z.object({ inRounds: figure }), treasury: promises }),
})

interface RightStats {
  readonly total: bigint
  readonly inRounds: bigint
  readonly promised: bigint
  readonly delivered: bigint
  /** Base units of the dollar. */
  readonly sold: bigint
}

async function checkStats(right: RightStats): Promise<void> {
  const response = await instances.persistentFetch('http://instance/api/token/burn-stats')
  const { total, owed, confirmed, treasury } = burnStats.parse(await response.json()).data
  equal('promised by the statistics', BigInt(treasury.promised.baseUnits), right.promised)
  equal('delivered by the statistics', BigInt(treasury.delivered.baseUnits), right.delivered)
  equal('burned for dollars by the statistics', BigInt(treasury.burned.baseUnits), right.promised)
  equal('open by the statistics', BigInt(treasury.open.baseUnits), 0n)
  equal('sold in dollars by the statistics', BigInt(treasury.sales[0]?.baseUnits ?? 0), right.sold)
  equal('burned by the statistics', BigInt(total.baseUnits), right.total)
  equal('burned in rounds by the statistics', BigInt(confirmed.inRounds.baseUnits), right.inRounds)
  equal('owed by the statistics', BigInt(owed.baseUnits), 0n)
}

async function auditAll(): Promise<number> {
  const { findings } = await audit({
    source: { kind: 'database', url: database.adminUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    chain: { rpcUrl: witnessUrl, paymentWallet: env['PAYMENT_WALLET'], fetch, recordedWithinMs: 0 },
    resumeFile: undefined,
    clock: systemClock,
  })
  wrong.push(...findings.map(({ code, position, message }) => `audit: ${code} at ${position}: ${message}`))
  return findings.length
}

await settle()
say('the burn job burns what was delivered')
const { said } = await runBurnJob(burnEnv)
if (said !== 'nothing_owed') wrong.push(`the burn job ended with ${said}`)
await systemClock.sleep(3_000)
await conclude()

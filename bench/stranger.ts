import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { randomBytesOf } from '@tollbook/core/id'
import { startLocalChain } from '@tollbook/localnet/localChain'
import { askQuote } from '../test/proofs/present.ts'
import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { createPayer } from '../test/support/payer.ts'
import { provisionWallets } from '../test/support/provisionWallets.ts'
import { type JsonShape, jsonShapes } from './stranger/jsonShapes.ts'
import {
  type Background,
  type MeasuredService,
  measureBackground,
  measureCost,
  type RequestCost,
} from './stranger/requestCost.ts'
import type { Bench, BenchOptions, Yardstick } from './yardstick.ts'

const callers = 16
/** Junk proofs wait for the chain, so more of them are in progress. */
const junkCallers = 64
const slotMs = 400
const pdfBytes = 640 * 1024
const otherBytes = 64 * 1024
const warmUpSeconds = 10
const idleSeconds = 5
const junkSecondsMin = 6
// Together, so that little of the background falls into the time of a shape.
const shapeLoad = { callers: 8, requestsMax: 64, seconds: 30 }
/** The most expensive shapes of the first round, again: the maximum of many short measurements is mostly noise. */
const againCount = 3
const againLoad = { ...shapeLoad, requestsMax: 256 }

/** The table of "What a stranger may cost": every request without a verified payment against a quote. */
export const stranger: Bench = {
  name: 'stranger',
  about: 'cost of requests without a verified payment, as multiples of a quote',
  async run(options) {
    await using opened = new AsyncDisposableStack()
    const environment = opened.use(await openEnvironment())
    const chain = await startLocalChain({ slotMs, nodes: [{}, {}] })
    opened.defer(() => chain.close())
    const wallets = await provisionWallets(chain)
    const [node, payerNode] = chain.nodes
    const { rpcUrl } = assertPresent(payerNode, 'the chain has two nodes')
    const TOKEN_MINT = wallets.mint.publicKey.toBase58()
    const PAYMENT_WALLET = wallets.paymentWallet.publicKey.toBase58()
    const served = assertPresent(node, 'the chain has two nodes')
    const env = { ...environment.env, SOLANA_RPC_URLS: served.rpcUrl, TOKEN_MINT, PAYMENT_WALLET }
    const server = await spawnServer({ env, runsFile: `${environment.directory}/runs`, nodeOptions: ['--expose-gc'] })
    opened.defer(() => server.stop())
    const admin = new pg.Client({ connectionString: environment.database.adminUrl })
    await admin.connect()
    opened.defer(() => admin.end())

    const service = { server, admin, node: served }
    const payer = createPayer({ rpcUrl, wallet: wallets.demoWallet })
    const wallet = payer.address
    const background = await measureIdle(service, wallet, options)
    const measured = { ...options, service, background, wallet }
    const quote = await measureQuote(measured)
    return [
      ...(await measureJson(measured, quote)),
      ...(await measureJunk(measured, quote)),
      ...(await measureRefused(measured, quote, await landedProof(server.baseUrl, payer))),
    ]
  },
}

interface Measured extends BenchOptions {
  readonly service: MeasuredService
  readonly background: Background
  readonly wallet: string
}

type Headers = Readonly<Record<string, string>>

async function send(url: string, headers: Headers, body?: Uint8Array<ArrayBuffer>): Promise<void> {
  const response = await fetch(url, { headers, ...(body === undefined ? {} : { method: 'POST', body }) })
  await response.arrayBuffer()
}

/** The process compiles its code in the first seconds, which is neither the background's nor a request's. */
async function measureIdle(service: MeasuredService, wallet: string, { progress }: BenchOptions): Promise<Background> {
  const url = `${service.server.baseUrl}/api/data/crypto?symbol=BTC`
  const ask = () => send(url, { 'x-wallet-address': wallet })
  await measureCost(service, { callers, seconds: warmUpSeconds, send: ask }, { processorMs: 0, nodeMs: 0, rpcCalls: 0 })
  const background = await measureBackground(service, idleSeconds)
  progress(
    `stranger: idle ${background.processorMs.toFixed(0)} ms processor and ${background.rpcCalls.toFixed(1)} RPC calls a second`,
  )
  return background
}

async function measureQuote({ service, background, wallet, roundSeconds, progress }: Measured): Promise<RequestCost> {
  const url = `${service.server.baseUrl}/api/data/crypto?symbol=BTC`
  const ask = () => send(url, { 'x-wallet-address': wallet })
  const cost = await measureCost(service, { callers, seconds: roundSeconds, send: ask }, background)
  progress(`stranger: quote ${describe(cost)}`)
  return cost
}

/** Each shape at the largest body of each product that has one: 640 KiB for documents, 64 KiB for the others. */
async function measureJson(measured: Measured, quote: RequestCost): Promise<readonly Yardstick[]> {
  const { service, background, wallet, progress } = measured
  const first: MeasuredBody[] = []
  const before = await service.server.residentBytes()
  const headers = { 'x-wallet-address': wallet, 'content-type': 'application/json' }
  for (const [path, bytes] of [
    ['/api/tools/pdf', pdfBytes],
    ['/api/ai/chat', otherBytes],
  ] as const)
    for (const [shape, make] of Object.entries(jsonShapes)) {
      const ask = () => send(`${service.server.baseUrl}${path}`, headers, bodyOf(make, bytes))
      const cost = await measureCost(service, { ...shapeLoad, send: ask }, background)
      const name = `${shape}, ${bytes / 1024} KiB`
      first.push({ name, cost, ask })
      progress(`stranger: ${name}: ${describe(cost, quote)}`)
    }
  const costs: MeasuredBody[] = []
  for (const { name, ask } of first.toSorted(byProcessor).slice(0, againCount)) {
    const cost = await measureCost(service, { ...againLoad, send: ask }, background)
    costs.push({ name, cost, ask })
    progress(`stranger: again: ${name}: ${describe(cost, quote)}`)
  }
  const heldMiB = ((await service.server.residentBytes()) - before) / 1024 / 1024
  const [worst] = costs.toSorted(byProcessor)
  const [slowest] = costs.toSorted((one, other) => other.cost.nodeMs - one.cost.nodeMs)
  const { name, cost } = assertPresent(worst, 'shapes were measured')
  const slow = assertPresent(slowest, 'shapes were measured')
  return [
    {
      what: 'processor time of the most expensive JSON body ÷ a quote',
      value: cost.processorMs / quote.processorMs,
      goal: { atMost: 10 },
      detail: `${name}: ${describe(cost)}; the worst of ${first.length} bodies; ${heldMiB.toFixed(0)} MiB more resident afterwards`,
    },
    {
      what: 'longest stall of the event loop by one JSON body, in ms: at most its processor time',
      value: slow.cost.nodeMs,
      goal: { atMost: 50 },
      detail: slow.name,
    },
  ]
}

interface MeasuredBody {
  readonly name: string
  readonly cost: RequestCost
  readonly ask: () => Promise<void>
}

function byProcessor(one: MeasuredBody, other: MeasuredBody): number {
  return other.cost.processorMs - one.cost.processorMs
}

function bodyOf(make: JsonShape, bytes: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(make(bytes)).subarray(0, bytes))
}

async function measureJunk(measured: Measured, quote: RequestCost): Promise<readonly Yardstick[]> {
  const { service, background, wallet, roundSeconds } = measured
  const url = `${service.server.baseUrl}/api/data/crypto?symbol=BTC`
  const ask = () => send(url, { 'x-wallet-address': wallet, 'x-payment-proof': junkProof() })
  const seconds = Math.max(junkSecondsMin, roundSeconds)
  const one = await measureCost(service, { callers: 1, seconds, send: ask }, background)
  const many = await measureCost(service, { callers: junkCallers, seconds, send: ask }, background)
  const detail = `${describe(many)}; one after another: ${describe(one)}`
  return [
    ratio(
      `processor time of a made-up signature ÷ a quote, ${junkCallers} callers`,
      { cost: many, quote, max: 3 },
      detail,
    ),
    { what: 'RPC calls of a made-up signature, one caller', value: one.rpcCalls, goal: { atMost: 2 }, detail },
  ]
}

async function measureRefused(measured: Measured, quote: RequestCost, landed: string): Promise<readonly Yardstick[]> {
  const { service, background, wallet, roundSeconds } = measured
  const url = `${service.server.baseUrl}/api/data/crypto?symbol=BTC`
  const repeat = (proof: string, as: string) => {
    const ask = () => send(url, { 'x-wallet-address': as, 'x-payment-proof': proof })
    return measureCost(service, { callers, seconds: Math.max(junkSecondsMin, roundSeconds), send: ask }, background)
  }
  const junk = await repeat(junkProof(), wallet)
  const foreign = await repeat(landed, encodeBase58(randomBytesOf(32)))
  return [
    ratio('processor time of a repeated made-up signature ÷ a quote', { cost: junk, quote, max: 3 }),
    {
      what: 'RPC calls of a repeated made-up signature',
      value: junk.rpcCalls,
      goal: { atMost: 2 },
      detail: describe(junk),
    },
    ratio("processor time of another wallet's payment, repeated ÷ a quote", { cost: foreign, quote, max: 3 }),
    {
      what: "RPC calls of another wallet's payment, repeated",
      value: foreign.rpcCalls,
      goal: { atMost: 2 },
      detail: describe(foreign),
    },
  ]
}

function junkProof(): string {
  return Buffer.from(encodeBase58(randomBytesOf(64))).toString('base64')
}

/** A payment on chain that has bought nothing. */
async function landedProof(baseUrl: string, payer: ReturnType<typeof createPayer>): Promise<string> {
  return payer.pay(await askQuote({ baseUrl, wallet: payer.address, symbol: 'BTC' }))
}

interface Ratio {
  readonly cost: RequestCost
  readonly quote: RequestCost
  readonly max: number
}

function ratio(what: string, { cost, quote, max }: Ratio, detail = describe(cost)): Yardstick {
  return { what, value: cost.processorMs / quote.processorMs, goal: { atMost: max }, detail }
}

function describe({ requests, processorMs, rpcCalls, rows }: RequestCost, quote?: RequestCost): string {
  const times = quote === undefined ? '' : ` (${(processorMs / quote.processorMs).toFixed(1)} quotes)`
  return `${processorMs.toFixed(2)} ms processor${times}, ${rpcCalls.toFixed(1)} RPC calls, ${rows.toFixed(1)} rows, ${requests} requests`
}

import { Keypair } from '@solana/web3.js'
import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import type { Form } from '../test/support/payer.ts'
import { answersPerSecond } from './autocannon.ts'
import { openFeePayer } from './peer/feePayer.ts'
import { type OurService, openOurService } from './peer/ourService.ts'
import { measureIdle, measurePaidLoad, type PaidLoad, type Spent } from './peer/paidLoad.ts'
import { openStockService, type StockService } from './peer/stockService.ts'
import { type Bench, type BenchOptions, inRounds, median, type Yardstick } from './yardstick.ts'

const callerCounts = [1, 16, 64] as const
const connectionCounts = [16, 64] as const
/** The other forms of a proof; our client pays by `boundTransaction`. */
const otherForms: readonly Form[] = ['signature', 'transaction', 'boundSignature']
const formCallers = 16
const idleSeconds = 5
/** The token is worth 100 dollars, so that the payer's tokens last. */
const tokenPriceUsd = '100'

/** The same kind of answer for a payment on the same local chain, sold by us and by stock x402, in turns. */
export const peer: Bench = {
  name: 'peer',
  about: '402s and paid requests against stock x402 (express, in-process facilitator) on the same local chain',
  async run(options) {
    await using opened = new AsyncDisposableStack()
    const environment = opened.use(await openEnvironment())
    const feePayer = opened.use(await openFeePayer(environment))
    const env = { ...environment.env, ...feePayer.env, TOKEN_PRICE_USD: tokenPriceUsd }
    const server = await spawnServer({ env, runsFile: `${environment.directory}/runs` })
    opened.defer(() => server.stop())
    const ours = opened.use(await openOurService(environment, server))
    const stock = await openStockService(environment)
    opened.defer(() => stock.stop())
    const idle = await measureIdle(ours, idleSeconds)
    const sides: Sides = { ours, stock, idle, stockIdle: await measureIdle(stock, idleSeconds) }
    options.progress(`peer: without requests ${describeSpent(idle)} a second`)

    const found: Yardstick[] = []
    for (const connections of connectionCounts) found.push(...(await compareOffers(sides, connections, options)))
    for (const callers of callerCounts) found.push(...(await comparePaid(sides, callers, options)))
    for (const form of otherForms) found.push(await compareForm(sides, form, options))
    return found
  },
}

interface Sides {
  readonly ours: OurService
  readonly stock: StockService
  /** Processor time of our idle server in a second. */
  readonly idle: Spent
  readonly stockIdle: Spent
}

// Thousands of open quotes of the payer would slow the lookup of the cheapest.
const strangersWallet = Keypair.generate().publicKey.toBase58()

/** Prices with all rails on, each stored, against prices of the peer, which stores nothing. */
async function compareOffers(sides: Sides, connections: number, options: BenchOptions): Promise<readonly Yardstick[]> {
  const { roundSeconds: seconds } = options
  const ask = async ({ offerUrl: url, spent }: Pick<OurService, 'offerUrl' | 'spent'>): Promise<OfferLoad> => {
    const headers = { 'x-wallet-address': strangersWallet }
    const before = await spent()
    const perSecond = await answersPerSecond({ connections, seconds, headers, url, expected: '4xx' })
    const after = await spent()
    const answers = perSecond * seconds
    const serverMs = (after.serverMs - before.serverMs) / answers
    return { perSecond, serverMs, databaseMs: (after.databaseMs - before.databaseMs) / answers }
  }
  const rounds = await inRounds(options, async () => ({ ours: await ask(sides.ours), theirs: await ask(sides.stock) }))
  const of = middle(rounds)
  options.progress(`peer: 402s at ${connections} connections`)
  const rates = `${of(({ ours }) => ours.perSecond).toFixed(0)}/s, each stored, against ${of(({ theirs }) => theirs.perSecond).toFixed(0)}/s`
  const times = [
    of(({ ours }) => ours.serverMs),
    of(({ ours }) => ours.databaseMs),
    of(({ theirs }) => theirs.serverMs),
  ]
  const [node = '', postgres = '', peerNode = ''] = times.map((ms) => ms.toFixed(3))
  return [
    {
      what: `402s/s with all rails on ÷ stock x402 with its default options, ${connections} connections`,
      value: of(({ ours, theirs }) => ours.perSecond / theirs.perSecond),
      goal: { atLeast: 0.5 },
      detail: rates,
    },
    {
      what: `ms of processor time of a price with all rails on, ${connections} connections`,
      value: of(({ ours }) => ours.serverMs + ours.databaseMs),
      goal: { atMost: 0.2 },
      detail: `Node ${node} ms, Postgres ${postgres} ms, against Node ${peerNode} ms`,
    },
  ]
}

interface OfferLoad {
  readonly perSecond: number
  readonly serverMs: number
  readonly databaseMs: number
}

interface Round {
  readonly ours: PaidLoad
  readonly theirs: PaidLoad
}

async function comparePaid(sides: Sides, callers: number, options: BenchOptions): Promise<readonly Yardstick[]> {
  const rounds = await inRounds(options, () => turn(sides, { callers, buy: sides.ours.buy, options }))
  const of = middle(rounds)
  const load = `${callers} caller${callers === 1 ? '' : 's'}`
  const rates = `${of(({ ours }) => ours.perSecond).toFixed(0)} and ${of(({ theirs }) => theirs.perSecond).toFixed(0)}`
  const times = `${of(({ ours }) => ours.p50Ms).toFixed(0)} ms against ${of(({ theirs }) => theirs.p50Ms).toFixed(0)} ms`
  options.progress(`peer: ${load}`)
  const p50 = {
    what: `p50 of a paid request ÷ stock x402, ${load}`,
    value: of(({ ours, theirs }) => ours.p50Ms / theirs.p50Ms),
    goal: { atMost: 1 },
    detail: `${times}; ${rates} paid requests/s`,
  }
  return [p50, processorTime(`${load}, bound transaction`, rounds)]
}

/** Signatures are of payments that the payer has sent and seen confirmed, which costs the server nothing. */
async function compareForm(sides: Sides, form: Form, options: BenchOptions): Promise<Yardstick> {
  const buy = () => sides.ours.buyBy(form)
  const rounds = await inRounds(options, () => turn(sides, { callers: formCallers, buy, options }))
  options.progress(`peer: form ${form}`)
  return processorTime(`${formCallers} callers, ${formNames[form]}`, rounds)
}

const formNames: Readonly<Record<Form, string>> = {
  signature: 'signature',
  raw: 'raw signature',
  transaction: 'transaction',
  boundSignature: 'bound signature',
  boundTransaction: 'bound transaction',
}

interface Turn {
  readonly callers: number
  readonly buy: () => Promise<void>
  readonly options: BenchOptions
}

async function turn({ ours, stock, idle, stockIdle }: Sides, { callers, buy, options }: Turn): Promise<Round> {
  const load = { callers, seconds: options.roundSeconds }
  return {
    ours: await measurePaidLoad({ ...load, call: buy, spent: ours.spent, idle }),
    theirs: await measurePaidLoad({ ...load, call: stock.call, spent: stock.spent, idle: stockIdle }),
  }
}

function processorTime(load: string, rounds: readonly Round[]): Yardstick {
  const of = middle(rounds)
  const spent = (read: (load: PaidLoad) => Spent, side: keyof Round): Spent => ({
    serverMs: of((round) => read(round[side]).serverMs),
    databaseMs: of((round) => read(round[side]).databaseMs),
    statements: of((round) => read(round[side]).statements),
  })
  const background = spent((each) => each.background, 'ours')
  const theirs = spent(({ each }) => each, 'theirs')
  return {
    what: `server processor time of a paid request ÷ stock x402, ${load}`,
    value: of(({ ours, theirs: stock }) => (ours.each.serverMs + ours.each.databaseMs) / stock.each.serverMs),
    goal: { atMost: 1 },
    detail: [
      describeSpent(spent(({ each }) => each, 'ours')),
      `and ${describeSpent(background)} of background`,
      `against Node ${theirs.serverMs.toFixed(1)} ms, which stores nothing`,
    ].join(', '),
  }
}

function describeSpent({ serverMs, databaseMs, statements }: Spent): string {
  return `Node ${serverMs.toFixed(1)} ms, Postgres ${databaseMs.toFixed(1)} ms, ${statements.toFixed(1)} statements`
}

function middle<T>(rounds: readonly T[]): (read: (round: T) => number) => number {
  return (read) => median(rounds.map(read))
}

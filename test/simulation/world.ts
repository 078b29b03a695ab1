import { assertPresent, Bug } from '@tollbook/core/assert'
import { z } from 'zod'
import type { PostJson } from '../../src/chain/nodeClient.ts'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { createHistory, countFault, type History } from './history.ts'
import { type JobName, openInstance, type PlantedPorts, type ServiceParts } from './instance.ts'
import { createSimulatedChain, type SimulatedChain } from './simulatedChain.ts'
import { clockOf, type Process, startProcess } from './simulatedProcess.ts'
import { type Carry, connectPool } from './simulatedNetwork.ts'
import { answerCall, type NodeState } from './simulatedRpc.ts'
import {
  createSimulatedPostgres,
  type JudgedItem,
  type SchemaRules,
  type SimulatedPostgres,
} from './simulatedPostgres.ts'
import { type Chance, createChance, createVirtualTime, type VirtualTime } from './virtualTime.ts'
import { clearSky, drawWeather, type Weather } from './weather.ts'

/** A bug that is planted into one run, to see whether the simulation finds it. */
export interface PlantedBug extends PlantedPorts {
  readonly name: string
  readonly rules?: (rules: SchemaRules) => SchemaRules
}

export interface WorldOptions {
  readonly seed: number
  readonly rules: SchemaRules
  readonly planted: PlantedBug | undefined
  readonly isTraced: boolean
  /** Callers who present one proof at the same moment, in the few purchases with a crowd. */
  readonly crowd: number
}

/** Everything of one run. */
export interface World {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly chain: SimulatedChain
  readonly postgres: SimulatedPostgres
  readonly history: History
  readonly instances: readonly RunningInstance[]
  readonly prices: readonly Price[]
  readonly crowd: number
  weather(): Weather
  isCalm(): boolean
  /** Ends all faults: clocks are right, everything is up, and the network loses nothing. */
  calm(): void
  trace(line: () => string): void
}

/** One place at which an instance runs; after a kill another instance of the service runs there. */
export interface RunningInstance {
  readonly name: string
  isAlive(): boolean
  parts(): ServiceParts
  /** Resolves when the instance that runs now is killed. */
  died(): Promise<void>
}

export const epochMs = Date.UTC(2026, 10, 22, 6)
const instanceCount = 3
const exposureMaxBaseUnits = 200_000_000n
export const products = ['/api/sim/whole', '/api/sim/stream', '/api/sim/failing'] as const

export function never(): Promise<never> {
  return new Promise(() => undefined)
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const { planted } = options
  const chance = createChance(options.seed)
  const time = createVirtualTime(chance)
  const history = createHistory()
  let weather = clearSky
  const drift = { databaseMs: 0, databaseDownUntilMs: 0, isCalm: false }
  const chain = createSimulatedChain({ time, chance, epochMs })
  const trace = (line: () => string) => {
    if (options.isTraced) history.trace.push(`${String(time.nowMs()).padStart(9)} ${line()}`)
  }
  const postgres = createSimulatedPostgres({
    rules: planted?.rules?.(options.rules) ?? options.rules,
    clock: { nowMs: () => epochMs + time.nowMs() + drift.databaseMs, monotonicMs: time.nowMs, sleep: time.wait },
    grantsTwice: () => chance.happens(weather.secondLeader),
  })
  const nodes = Array.from({ length: chance.between(1, 3) }, healthyNode)
  const prices = products.map((endpoint, n) => priceOf(endpoint, BigInt(n + 1), chain.terms.mint))
  const context = {
    ...options,
    time,
    chance,
    history,
    chain,
    postgres,
    prices,
    drift,
    nodes,
    weather: () => weather,
    trace,
  }
  const instances = Array.from({ length: instanceCount }, (_, n) => runInstance(context, `instance ${n + 1}`))
  const world: World = {
    time,
    chance,
    chain,
    postgres,
    history,
    instances,
    prices,
    crowd: options.crowd,
    weather: () => weather,
    isCalm: () => drift.isCalm,
    calm() {
      weather = clearSky
      chain.setWeather(clearSky)
      for (const node of nodes) Object.assign(node, healthyNode())
      Object.assign(drift, { databaseMs: 0, databaseDownUntilMs: 0, isCalm: true })
    },
    trace,
  }
  await publishPrices(world)
  weather = drawWeather(chance)
  chain.setWeather(weather)
  disturbDatabase(context)
  disturbNodes(context)
  return world
}

interface Drift {
  databaseMs: number
  databaseDownUntilMs: number
  isCalm: boolean
}

interface Context extends WorldOptions {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly history: History
  readonly chain: SimulatedChain
  readonly postgres: SimulatedPostgres
  readonly prices: readonly Price[]
  readonly drift: Drift
  readonly nodes: readonly NodeState[]
  readonly weather: () => Weather
  readonly trace: World['trace']
}

function priceOf(endpoint: string, times: bigint, mint: Price['mint']): Price {
  const requiredBaseUnits = 5_000_003n * times
  const usd = { priceMicroUsd: 5_000n * times, tokenPriceAttoUsd: 10n ** 15n }
  return { endpoint, ...usd, mint, decimals: 6, requiredBaseUnits, ...split(requiredBaseUnits, defaultSplit) }
}

/** Before the run starts, without faults. */
async function publishPrices({ instances, prices, time, history }: World): Promise<void> {
  const [first] = instances
  const { priceLists } = assertPresent(first, 'there is an instance').parts()
  const list = { kind: 'PriceListPublished', source: 'simulation', split: defaultSplit, prices } as const
  const published = priceLists.publish(list).then(
    () => undefined,
    (error: unknown) => history.violations.push(`the price list is not published: ${String(error)}`),
  )
  await time.runUntil(time.nowMs() + 60_000, () => undefined)
  await published
}

const outageMaxMs = 40_000
const jumpMaxMs = 600_000
const minuteMs = 60_000

/** Plans outages and clock jumps of the database. */
function disturbDatabase({ time, chance, history, drift, weather, trace }: Context): void {
  const round = () => {
    if (drift.isCalm) return
    if (chance.happens(weather().databaseOutagesPerMinute / 6)) {
      const lengthMs = chance.between(100, outageMaxMs)
      drift.databaseDownUntilMs = time.nowMs() + lengthMs
      countFault(history, 'database outage')
      trace(() => `the database is away for ${lengthMs} ms`)
    }
    if (chance.happens(weather().databaseJumpsPerMinute / 6)) {
      drift.databaseMs = chance.between(-jumpMaxMs, jumpMaxMs)
      countFault(history, 'database clock jump')
      trace(() => `the clock of the database is off by ${drift.databaseMs} ms`)
    }
    time.after(minuteMs / 6, round)
  }
  time.after(minuteMs / 6, round)
}

class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

function runInstance(context: Context, name: string): RunningInstance {
  const { time, chance, history, drift, postgres, weather, trace } = context
  let generation = 1
  let process = startProcess()
  let parts = open()

  function open(): ServiceParts {
    const own = process
    const clock = clockOf(own, { time, epochMs })
    const pool = connectPool(postgres, databaseCarry(context, own))
    const priced = context.prices.map((price): [string, ListedPrice] => [price.endpoint, { ...price, priceList: 1 }])
    const current = new Map(priced)
    const opened = openInstance({
      name: `${name}.${generation}`,
      pool,
      clock,
      nodeUrls: context.nodes.map((_, n) => String(n)),
      postJson: postToNode(context, own),
      terms: context.chain.terms,
      currentPrice: (endpoint) => current.get(endpoint),
      exposureMaxBaseUnits,
      planted: context.planted ?? {},
    })
    for (const [job, everyMs] of jobTimes) repeatJob(context, own, { run: opened.jobs[job], everyMs })
    repeatJob(context, own, { run: opened.pollNodes, everyMs: pollEveryMs })
    void opened.pollNodes().catch(() => undefined)
    return opened
  }

  const round = () => {
    if (drift.isCalm) {
      process.clockOffMs = 0
      if (!process.isAlive) restart()
      return
    }
    if (process.isAlive && chance.happens(weather().killsPerMinute / 60)) kill()
    if (chance.happens(weather().serverJumpsPerMinute / 60)) {
      process.clockOffMs = chance.happens(0.5) ? 0 : chance.between(-jumpMaxMs, jumpMaxMs)
      countFault(history, 'server clock jump')
      trace(() => `the clock of ${name} is off by ${process.clockOffMs} ms`)
    }
    time.after(chance.between(900, 1_100), round)
  }
  const kill = () => {
    countFault(history, 'kill')
    trace(() => `${name} is killed`)
    process.isAlive = false
    process.end()
    time.after(chance.between(100, 20_000), () => {
      if (!process.isAlive) restart()
    })
  }
  const restart = () => {
    generation++
    process = startProcess()
    parts = open()
  }
  time.after(1_000, round)
  return { name, isAlive: () => process.isAlive, parts: () => parts, died: () => process.died }
}

const jobTimes: readonly (readonly [JobName, number])[] = [
  ['open work', 1_000],
  ['finality', 4_000],
  ['rebroadcast', 4_000],
  ['refunds', 10_000],
  ['transfer scan', 30_000],
]

const pollEveryMs = 3_000

interface Repeated {
  readonly run: () => Promise<void>
  readonly everyMs: number
}

/** One run at a time, as `repeat` of src/jobs does. Ends when all is calm: the end of a run starts its own rounds. */
function repeatJob({ time, drift, chance }: Context, process: Process, { run, everyMs }: Repeated): void {
  const round = async (): Promise<void> => {
    while (process.isAlive && !drift.isCalm) {
      await time.wait(everyMs + chance.number(100))
      if (!process.isAlive || drift.isCalm) return
      await run().catch(() => undefined)
    }
  }
  void round()
}

const stallMaxMs = 10_000

/** A question that the simulation does not understand must not pass for an outage. */
function simulated<T>({ history }: Context, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Bug || error instanceof z.ZodError)
      history.violations.push(`the simulation is out of date: ${error.message}`)
    throw error
  }
}

function isFulfilment({ item, result }: JudgedItem): boolean {
  return item.step === 'payment.fulfil' && result.outcome === 'appended'
}

function databaseCarry(context: Context, process: Process): Carry {
  const { time, chance, history, drift, postgres, weather } = context
  return async (work) => {
    if (!process.isAlive) return never()
    const isStalled = chance.happens(weather().databaseStalls)
    if (isStalled) countFault(history, 'database stall')
    await time.wait(isStalled ? chance.number(stallMaxMs) : chance.number(5))
    const isRefused = drift.databaseDownUntilMs > time.nowMs() || chance.happens(weather().databaseRefuses)
    if (isRefused) countFault(history, 'database refused')
    const judgedBefore = postgres.judged.length
    // A statement that has arrived runs, also when the instance that sent it is gone.
    const result = isRefused ? undefined : { value: simulated(context, work) }
    const hasFulfilled = postgres.judged.slice(judgedBefore).some(isFulfilment)
    await time.wait(chance.number(5))
    if (!process.isAlive) return never()
    if (result === undefined) throw new ConnectionLost('the connection was refused')
    if (hasFulfilled && chance.happens(weather().databaseReplaced)) {
      countFault(history, 'database replaced')
      drift.databaseDownUntilMs = time.nowMs() + chance.between(100, outageMaxMs)
      throw new ConnectionLost('the server went away before the answer')
    }
    if (chance.happens(weather().databaseLosesAnswer)) {
      countFault(history, 'database answer lost')
      throw new ConnectionLost('the connection broke before the answer')
    }
    return result.value
  }
}

function healthyNode(): NodeState {
  return { lagSlots: 0, frozenAtSlot: undefined, hides: false, isForeign: false }
}

/** Plans what goes wrong with the nodes: each of them by itself, for some seconds. */
function disturbNodes({ time, chance, history, drift, chain, nodes, weather, trace }: Context): void {
  const round = () => {
    if (drift.isCalm) return
    for (const [n, node] of nodes.entries()) {
      const { nodeLagSlots, nodeFreezes, nodeHides, nodeForeign } = weather()
      node.lagSlots = nodeLagSlots === 0 ? 0 : chance.number(nodeLagSlots + 1)
      node.frozenAtSlot = chance.happens(nodeFreezes) ? chain.slot() : undefined
      // The first node never lies: one liar alone in rotation is the only truth that there is.
      node.hides = n > 0 && chance.happens(nodeHides)
      node.isForeign = n > 0 && chance.happens(nodeForeign)
      if (node.frozenAtSlot !== undefined) countFault(history, 'node frozen')
      if (node.hides) countFault(history, 'node hides')
      if (node.isForeign) countFault(history, 'node of another network')
      if (node.lagSlots > 0) countFault(history, 'node behind')
      trace(() => `node ${n + 1}: ${JSON.stringify(node)}`)
    }
    time.after(chance.between(2_000, 30_000), round)
  }
  time.after(chance.between(1_000, 5_000), round)
}

/** The network between an instance and a node. */
function postToNode(context: Context, process: Process): PostJson {
  const { time, chance, history, weather, nodes, chain } = context
  return async (url, body, { timeoutMs }) => {
    if (!process.isAlive) return never()
    const isStalled = chance.happens(weather().nodeStalls)
    const delayMs = isStalled ? chance.number(stallMaxMs) : chance.between(5, 80)
    await time.wait(Math.min(delayMs, timeoutMs))
    const node = assertPresent(nodes[Number(url)], 'a node has an address')
    if (process.isStarting && node.isForeign) throw new Error('the instance does not start on this node')
    const answer = simulated(context, () => answerCall(chain, node, body))
    await time.wait(chance.between(5, 80))
    if (!process.isAlive) return never()
    if (delayMs <= timeoutMs && !chance.happens(weather().nodeFails)) {
      // The network of the service is that of the first node that names one.
      if (body.includes('"getGenesisHash"')) process.isStarting = false
      return answer
    }
    countFault(history, 'node failed')
    throw new Error('the node did not answer')
  }
}

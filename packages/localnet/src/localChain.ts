import { assert, assertPresent } from '@tollbook/core/assert'
import { decodeBase58, encodeBase58 } from '@tollbook/core/base58'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { randomBytesOf } from '@tollbook/core/id'
import type { GivenAccount } from './givenAccount.ts'
import { type Log, silentLog } from './log.ts'
import { Bank, type ForkPoint } from './bank.ts'
import { ChainDatabase } from './chainDatabase.ts'
import { type NodeBehaviour, nodeBehaviour } from './nodeBehaviour.ts'
import { type NodeServer, startNodeServer } from './nodeServer.ts'
import type { RequestFailure } from './requestWatch.ts'
import { type ControlledNode, controlMethods } from './rpcMethods/controlMethods.ts'
import { startSlotTimer } from './slotTimer.ts'

export interface LocalChainOptions {
  /** Port of the first node. 0 or absent: any free port whose successor is also free. */
  readonly port?: number
  /** Address to listen on. Default: 127.0.0.1, because every client that reaches the chain has full control over it. */
  readonly host?: string
  /** Duration of a slot in milliseconds. Default: 400, as on mainnet. 0: slots advance only by `advanceSlots`. */
  readonly slotMs?: number
  /** Directory that stores the chain. Absent: the chain is in memory and ends with the process. */
  readonly stateDirectory?: string
  /**
   * Behaviour of each RPC node. `{}` is a healthy node, which shows the state of each commitment as Agave does.
   * Default: one node that shows the newest state at every commitment. With `port`, node N listens 2 N ports after the
   * first node.
   */
  readonly nodes?: readonly NodeBehaviour[]
  /** Slots in one epoch. Default: 432,000, as on mainnet. */
  readonly slotsPerEpoch?: number
  /** Slots for which a blockhash is valid. Default: 150, as on a cluster. */
  readonly blockhashSlots?: number
  /** Accounts that are created at the start, if they do not exist. */
  readonly accounts?: readonly GivenAccount[]
  readonly log?: Log
  readonly clock?: Clock
}

export interface LocalNode {
  readonly rpcUrl: string
  readonly wsUrl: string
  /**
   * Returns the number of calls by method, including subscriptions, but without `localnet_` methods. Each member of a
   * batch counts.
   */
  requestCounts(): ReadonlyMap<string, number>
  forgetRequestCounts(): void
  /** Makes the next calls of a method fail. Further rules for the method apply after the earlier rules. */
  failRequests(failure: RequestFailure): void
}

/** A Solana chain for development (docs/local-chain.md). The members of `LocalNode` belong to the first node. */
export interface LocalChain extends LocalNode {
  readonly genesisHash: string
  readonly nodes: readonly LocalNode[]
  /** Replaces the whole behaviour of a node. `{}` makes the node healthy. */
  setNode(index: number, behaviour: NodeBehaviour): void
  advanceSlots(count: number): void
  /** Marks the current point of the chain, so that `dropFork` can return to it. */
  markFork(): ForkPoint
  /** Returns the chain to the point, without later slots, signatures and balances. May be repeated. */
  dropFork(point: ForkPoint): void
  /** Adds a program at the address. Deployment through a loader program is not supported. */
  addProgram(address: string, elf: Uint8Array): void
  /** Creates an account without a transaction. Does nothing if the account exists. */
  placeAccount(account: GivenAccount): void
  close(): Promise<void>
}

export type { ForkPoint, NodeBehaviour, RequestFailure }

/** Starts a new chain, or continues the chain in `stateDirectory`. Without a directory, it is in memory. */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { log = silentLog, clock = systemClock } = options
  const { stateDirectory } = options
  const genesis = { hash: randomBytesOf(32), createdAtSeconds: Math.floor(clock.nowMs() / 1_000) }
  const database =
    stateDirectory === undefined ? ChainDatabase.inMemory(genesis) : await ChainDatabase.open(stateDirectory, genesis)
  try {
    return await serve({ ...options, log, clock }, database)
  } catch (error) {
    database.close()
    throw error
  }
}

interface Served extends LocalChainOptions {
  readonly log: Log
  readonly clock: Clock
}

async function serve(options: Served, database: ChainDatabase): Promise<LocalChain> {
  const { log, clock, slotMs = defaultSlotMs, slotsPerEpoch, blockhashSlots } = options
  const bank = new Bank({
    database,
    clock,
    ...(slotsPerEpoch === undefined ? {} : { slotsPerEpoch }),
    ...(blockhashSlots === undefined ? {} : { blockhashSlots }),
  })
  for (const account of options.accounts ?? []) placeAccount(bank, account)
  const servers = await startNodes(options, bank)
  const timer = slotMs === 0 ? undefined : startSlotTimer({ slotMs, advance: () => bank.advanceSlots(1), clock, log })
  const close = async (): Promise<void> => {
    await timer?.stop()
    await Promise.all(servers.map((server) => server.close()))
    database.close()
  }
  const nodes = servers.map(localNode)
  const first = assertPresent(nodes[0], 'a chain has a node')
  const setNode = (index: number, behaviour: NodeBehaviour): void => {
    const server = assertPresent(servers[index], `there are ${servers.length} nodes, and no node ${index}`)
    server.node.behave(nodeBehaviour.parse(behaviour))
  }
  return { ...first, nodes, setNode, ...handles(bank), close: once(close) }
}

async function startNodes(options: Served, bank: Bank): Promise<readonly NodeServer[]> {
  const { log, clock, host = '127.0.0.1', port = 0, nodes = [{ newestState: true }] } = options
  assert(nodes.length > 0 && nodes.length <= nodesMax, `a chain has 1 to ${nodesMax} nodes`)
  const servers: NodeServer[] = []
  // A chain in memory cannot be started again, because it ends with the process.
  const mayReturn = options.stateDirectory !== undefined
  const control = controlMethods(() => servers.map(controlledNode))
  try {
    for (const [index, behaviour] of nodes.entries()) {
      const place = { host, port: port === 0 ? 0 : port + 2 * index, behaviour: nodeBehaviour.parse(behaviour) }
      servers.push(await startNodeServer({ bank, clock, log, control, mayReturn, ...place }))
    }
  } catch (error) {
    await Promise.all(servers.map((server) => server.close()))
    throw error
  }
  return servers
}

function controlledNode({ node, watch, rpcUrl }: NodeServer): ControlledNode {
  return {
    rpcUrl,
    behaviour: () => node.behaviour,
    behave: (behaviour) => node.behave(behaviour),
    requestCounts: () => watch.counts(),
  }
}

function localNode({ rpcUrl, wsUrl, watch }: NodeServer): LocalNode {
  return {
    rpcUrl,
    wsUrl,
    requestCounts: () => watch.counts(),
    forgetRequestCounts: () => watch.forgetCounts(),
    failRequests: (failure) => watch.fail(failure),
  }
}

function handles(bank: Bank) {
  return {
    genesisHash: encodeBase58(bank.genesis.hash),
    advanceSlots: (count: number): void => {
      assert(Number.isInteger(count) && count >= 0 && count <= advanceMax, `0 to ${advanceMax} slots at once`)
      bank.advanceSlots(count)
    },
    markFork: () => bank.markFork(),
    dropFork: (point: ForkPoint) => bank.dropFork(point),
    addProgram: (address: string, elf: Uint8Array) => bank.addProgram(readAddress(address), elf),
    placeAccount: (account: GivenAccount) => placeAccount(bank, account),
  }
}

function placeAccount(bank: Bank, { address, owner, data }: GivenAccount): void {
  bank.placeAccount(readAddress(address), { owner: readAddress(owner), data })
}

function readAddress(text: string): Uint8Array {
  const address = decodeBase58(text, 32)
  if (address === undefined) throw new Fault(`${text} is not an address`, { retryable: false })
  return address
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= action())
}

const defaultSlotMs = 400
const nodesMax = 16
/** Maximum number of slots in one call, which blocks the event loop while it notifies the subscribers of each slot. */
const advanceMax = 100_000

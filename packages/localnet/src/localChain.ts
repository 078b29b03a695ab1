import { assert } from '@tollbook/core/assert'
import { decodeBase58, encodeBase58 } from '@tollbook/core/base58'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { randomBytesOf } from '@tollbook/core/id'
import { type Log, silentLog } from './log.ts'
import { Bank, type ForkPoint } from './bank.ts'
import { type OpenedChain, openChainStore, openMemoryStore } from './chainStore.ts'
import { closeServers, listenOnPair } from './portPair.ts'
import { type RequestFailure, RequestWatch } from './requestWatch.ts'
import { accountMethods } from './rpcMethods/accountMethods.ts'
import { blockMethods } from './rpcMethods/blockMethods.ts'
import { clusterMethods } from './rpcMethods/clusterMethods.ts'
import { sendMethods } from './rpcMethods/sendMethods.ts'
import { simulateMethods } from './rpcMethods/simulateMethods.ts'
import { tokenMethods } from './rpcMethods/tokenMethods.ts'
import { transactionMethods } from './rpcMethods/transactionMethods.ts'
import { type RpcServiceDeps, answerText } from './rpcService.ts'
import { startSlotTimer } from './slotTimer.ts'
import { Subscriptions } from './subscriptions.ts'
import { createSubscriptionServer } from './subscriptionServer.ts'

export interface LocalChainOptions {
  /** 0 or absent: any free one whose successor is free too. */
  readonly port?: number
  /** Loopback by default: every client that reaches the chain has full control over it. */
  readonly host?: string
  /** Duration of a slot; 400 as on mainnet. 0: slots only advance by `advanceSlots`. */
  readonly slotMs?: number
  /** Directory that stores the chain. Absent: it ends with its process. */
  readonly stateDirectory?: string
  readonly log?: Log
  readonly clock?: Clock
}

/** A Solana node for development: see docs/local-chain.md for what it is and what it is not. */
export interface LocalChain {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly genesisHash: string
  advanceSlots(count: number): void
  /** Remembers this point … */
  markFork(): ForkPoint
  /** … and drops everything after it: slots, signatures and balances vanish. May be repeated. */
  dropFork(point: ForkPoint): void
  /** Makes a program of ours callable; there is no deployment through the loader. */
  addProgram(address: string, elf: Uint8Array): void
  /** Calls by method since the start, each member of a batch by itself, subscriptions too. */
  requestCounts(): ReadonlyMap<string, number>
  forgetRequestCounts(): void
  /** Lets the next calls of a method fail; rules of one method are used up in the order in which they came. */
  failRequests(failure: RequestFailure): void
  close(): Promise<void>
}

export type { ForkPoint, RequestFailure }

export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { log = silentLog, clock = systemClock } = options
  const opened = await openChain(options.stateDirectory, clock)
  try {
    return await serve({ ...options, log, clock }, opened)
  } catch (error) {
    await opened.store.close()
    throw error
  }
}

async function openChain(stateDirectory: string | undefined, clock: Clock): Promise<OpenedChain> {
  const genesis = { hash: randomBytesOf(32), createdAtSeconds: Math.floor(clock.nowMs() / 1_000) }
  return stateDirectory === undefined ? openMemoryStore(genesis) : openChainStore(stateDirectory, genesis)
}

interface Served extends LocalChainOptions {
  readonly log: Log
  readonly clock: Clock
}

async function serve(options: Served, opened: OpenedChain): Promise<LocalChain> {
  const { log, clock, host = '127.0.0.1', port = 0, slotMs = defaultSlotMs } = options
  const bank = new Bank({ opened, clock })
  const watch = new RequestWatch()
  const service: RpcServiceDeps = { methods: allMethods(bank), watch, log }
  const sockets = createSubscriptionServer({ subscriptions: new Subscriptions(bank), watch, log })
  const pair = await listenOnPair({ host, port, log, answer: (text) => answerText(service, text) })
  for (const server of pair.servers) sockets.serve(server)
  const timer = slotMs === 0 ? undefined : startSlotTimer({ slotMs, advance: () => bank.advanceSlots(1), clock, log })
  const close = async (): Promise<void> => {
    await timer?.stop()
    sockets.close()
    await closeServers(pair.servers)
    await opened.store.close()
  }
  return { ...addresses(host, pair.port), ...handles(bank, watch), close: once(close) }
}

function handles(bank: Bank, watch: RequestWatch) {
  return {
    genesisHash: encodeBase58(bank.genesis.hash),
    advanceSlots: (count: number): void => {
      assert(Number.isInteger(count) && count >= 0 && count <= advanceMax, `0 to ${advanceMax} slots at once`)
      bank.advanceSlots(count)
    },
    markFork: () => bank.markFork(),
    dropFork: (point: ForkPoint) => bank.dropFork(point),
    addProgram: (address: string, elf: Uint8Array) => bank.addProgram(readAddress(address), elf),
    requestCounts: () => watch.counts(),
    forgetRequestCounts: () => watch.forgetCounts(),
    failRequests: (failure: RequestFailure) => watch.fail(failure),
  }
}

function allMethods(bank: Bank): RpcServiceDeps['methods'] {
  return new Map(
    Object.entries({
      ...clusterMethods(bank),
      ...accountMethods(bank),
      ...tokenMethods(bank),
      ...sendMethods(bank),
      ...simulateMethods(bank),
      ...transactionMethods(bank),
      ...blockMethods(bank),
    }),
  )
}

/** WebSockets are served on the first port too, so that one address is enough to know. */
function addresses(host: string, port: number): { readonly rpcUrl: string; readonly wsUrl: string } {
  // An IPv6 address is in brackets in a URL.
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return { rpcUrl: `http://${authority}`, wsUrl: `ws://${authority}` }
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
/** Each slot tells its subscribers; more than this at once would hold the event loop for long. */
const advanceMax = 100_000

import { Connection, Keypair, LAMPORTS_PER_SOL, type PublicKey, type TransactionSignature } from '@solana/web3.js'
import { onTestFinished } from 'vitest'
import { type LocalChain, type LocalChainOptions, startLocalChain } from '../../../src/local/chain/localChain.ts'
import { systemClock } from '../../../src/primitives/clock.ts'

export interface TestChain {
  readonly chain: LocalChain
  /** At `confirmed`; unmodified web3.js. */
  readonly connection: Connection
}

/** A chain of its own for the running test, with manual slots unless told otherwise; closed when the test ends. */
export async function openChain(options: LocalChainOptions = {}): Promise<TestChain> {
  const chain = await startLocalChain({ slotMs: 0, ...options })
  onTestFinished(() => chain.close())
  return { chain, connection: connectTo(chain) }
}

export function connectTo(chain: Pick<LocalChain, 'rpcUrl' | 'wsUrl'>): Connection {
  return new Connection(chain.rpcUrl, { commitment: 'confirmed', wsEndpoint: chain.wsUrl })
}

/** A keypair with ten SOL, already confirmed. */
export async function fundedKeypair({ chain, connection }: TestChain): Promise<Keypair> {
  const keypair = Keypair.generate()
  await fund({ chain, connection }, keypair.publicKey)
  return keypair
}

export async function fund({ chain, connection }: TestChain, address: PublicKey): Promise<TransactionSignature> {
  const signature = await connection.requestAirdrop(address, 10 * LAMPORTS_PER_SOL)
  chain.advanceSlots(1)
  return signature
}

/** Asks until the answer is there; for what happens in its own time, over sockets and in other processes. */
export async function eventually<T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const deadlineMs = systemClock.monotonicMs() + deadlineAfterMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (systemClock.monotonicMs() > deadlineMs) throw new Error(`nothing after ${deadlineAfterMs} ms`)
    await systemClock.sleep(pollEveryMs)
  }
}

const deadlineAfterMs = 15_000
const pollEveryMs = 5

export interface RpcReply {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  readonly id?: unknown
}

/** One JSON-RPC call without a client library in between, to see the bytes as they are. */
export async function call(chain: LocalChain, method: string, ...params: readonly unknown[]): Promise<RpcReply> {
  const response = await post(chain, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return JSON.parse(await response.text()) as RpcReply
}

export function post(chain: LocalChain, body: string | Uint8Array<ArrayBuffer>): Promise<Response> {
  return fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

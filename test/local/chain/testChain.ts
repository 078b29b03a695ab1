import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  TransactionInstruction,
  type TransactionSignature,
} from '@solana/web3.js'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { type LocalChain, type LocalChainOptions, startLocalChain } from '@tollbook/localnet/localChain'
import { systemClock } from '@tollbook/core/clock'
import { temporaryFolder } from '../../support/temporaryFolder.ts'

export interface TestChain {
  readonly chain: LocalChain
  /** At `confirmed`; unmodified web3.js. */
  readonly connection: Connection
}

/** A separate chain for the running test, with manual slots by default; closed when the test ends. */
export async function openChain(options: LocalChainOptions = {}): Promise<TestChain> {
  const chain = await startLocalChain({ slotMs: 0, ...options })
  onTestFinished(() => chain.close())
  return { chain, connection: connectTo(chain) }
}

/**
 * Unmodified web3.js, with a fetch that the test can await: `confirmTransaction` leaves a status request open if the
 * WebSocket is faster, and if its node is closed meanwhile, it rejects without a handler.
 */
export function connectTo(chain: { readonly rpcUrl: string; readonly wsUrl?: string }): Connection {
  const pending = new Set<Promise<unknown>>()
  onTestFinished(async () => void (await Promise.allSettled(pending)))
  return new Connection(chain.rpcUrl, {
    commitment: 'confirmed',
    ...(chain.wsUrl === undefined ? {} : { wsEndpoint: chain.wsUrl }),
    fetch: (input, init) => {
      const answer = fetch(input, init)
      pending.add(answer)
      return answer
    },
  })
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

export function memo(text: string): TransactionInstruction {
  return new TransactionInstruction({ programId: memoProgram, keys: [], data: Buffer.from(text) })
}

const memoProgram = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

/** Asks until the answer is there; for what happens in its own time, over sockets and in other processes. */
export async function eventually<T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const deadlineMs = systemClock.monotonicMs() + deadlineAfterMs
  while (systemClock.monotonicMs() < deadlineMs) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await systemClock.sleep(pollEveryMs)
  }
  throw new Error(`nothing after ${deadlineAfterMs} ms`)
}

/** Only a failure waits for it. */
const deadlineAfterMs = 120_000
const pollEveryMs = 5

export type RpcReply = z.output<typeof replyShape>

const replyShape = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
  id: z.unknown().optional(),
})

/** One JSON-RPC call without a client library in between, to see the bytes as they are. */
export async function call(
  chain: { readonly rpcUrl: string },
  method: string,
  ...params: readonly unknown[]
): Promise<RpcReply> {
  const response = await post(chain, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return replyShape.parse(await response.json())
}

export function post(chain: { readonly rpcUrl: string }, body: string | Uint8Array<ArrayBuffer>): Promise<Response> {
  return fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

/** A directory for a chain's state that does not exist yet, removed after the test together with the files next to it. */
export async function makeStateDirectory(): Promise<string> {
  const directory = await mkdtemp(join(temporaryFolder(), 'tollbook-chain-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return join(directory, 'chain')
}

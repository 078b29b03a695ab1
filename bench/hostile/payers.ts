import { Agent, request } from 'node:http'
import type { Keypair } from '@solana/web3.js'
import { createPayingFetch, keypairWallet } from '@tollbook/client'
import { systemClock } from '@tollbook/core/clock'
import { toolRequest } from '../../test/proofs/callTool.ts'

export interface Purchase {
  readonly endedAtMs: number
  readonly durationMs: number
}

export interface Payers {
  /** Purchases so far: a price, a payment and its answer, with every repetition that the service asked for. */
  readonly purchases: readonly Purchase[]
  readonly failures: ReadonlyMap<string, number>
  stop(): Promise<void>
}

export interface PayerOptions {
  readonly baseUrl: string
  readonly rpcUrl: string
  readonly mint: string
  readonly wallet: Keypair
  /** Each payer has its own client address. */
  readonly addresses: readonly string[]
  /** True: buy by calls of the tool. */
  readonly overMcp?: boolean
}

const pauseMs = 1_000

/** Callers who buy one answer after the other, each from its own address. */
export function startPayers({ overMcp = false, ...options }: PayerOptions): Payers {
  const { baseUrl, rpcUrl, mint, wallet, addresses } = options
  const purchases: Purchase[] = []
  const failures = new Map<string, number>()
  const stopping = new AbortController()
  const buyAsLongAs = async (address: string): Promise<void> => {
    const fetchAlone = fetchFrom(address, baseUrl)
    const payingFetch = createPayingFetch({
      wallet: keypairWallet(wallet),
      rpcUrl,
      expectedMint: mint,
      spendingLimit: { perRequest: { usd: '1' } },
      fetch: fetchAlone,
      retry: { attemptTimeoutMs: 10_000, totalTimeMs: 30_000 },
    })
    const { path, ...init } = overMcp
      ? toolRequest({ name: 'data_crypto', arguments: { symbol: 'BTC' }, meta: {} })
      : { path: '/api/data/crypto?symbol=BTC' }
    const url = baseUrl + path
    while (!stopping.signal.aborted) {
      const startedAtMs = systemClock.monotonicMs()
      const outcome = await untilAnswered(() => payingFetch(url, init), stopping.signal)
      const endedAtMs = systemClock.monotonicMs()
      if (outcome === '200') purchases.push({ endedAtMs, durationMs: endedAtMs - startedAtMs })
      else failures.set(outcome, (failures.get(outcome) ?? 0) + 1)
    }
  }
  const running = addresses.map(buyAsLongAs)
  return {
    purchases,
    failures,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** A refusal because of load is repeated as it says; it is part of the time that the purchase takes. */
async function untilAnswered(buy: () => Promise<Response>, stopping: AbortSignal): Promise<string> {
  for (;;) {
    const outcome = await buy().then(
      // A tool that is refused has an answer with status 200.
      async (response) => ((await response.text()).includes('"isError":true') ? '503' : String(response.status)),
      (error: unknown) => (error instanceof Error ? error.name : 'error'),
    )
    if (outcome === '200' || stopping.aborted) return outcome
    if (outcome !== '503' && outcome !== '429') {
      await systemClock.sleep(pauseMs)
      return outcome
    }
    await systemClock.sleep(pauseMs)
  }
}

/** A fetch whose requests to the service come from a loopback address. Those to the chain go as usual. */
function fetchFrom(localAddress: string, baseUrl: string): typeof fetch {
  const agent = new Agent({ keepAlive: true, localAddress })
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    if (!url.startsWith(baseUrl)) return fetch(input, init)
    const headers = Object.fromEntries(new Headers(init?.headers))
    const { method = 'GET', signal, body } = init ?? {}
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { agent, method, headers, ...(signal && { signal }) }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', reject)
        response.once('end', () => {
          const received = Object.entries(response.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ])
          resolve(new Response(Buffer.concat(chunks), { status: response.statusCode ?? 0, headers: received }))
        })
      })
      outgoing.once('error', reject)
      outgoing.end(typeof body === 'string' || body instanceof Uint8Array ? body : undefined)
    })
  }
}

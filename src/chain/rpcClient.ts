import { z } from 'zod'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'

/** Sends a JSON body and gives the parsed answer; throws when there is none. */
export type PostJson = (url: string, body: string, options: { readonly timeoutMs: number }) => Promise<unknown>

export interface RpcClientDeps {
  /**
   * Tried in this order; one that fails, refuses, or answers what cannot be used is passed over for the next, which is
   * kept until it fails itself.
   */
  readonly urls: readonly string[]
  readonly postJson: PostJson
  readonly timeoutMs: number
  readonly log: Log
  readonly onCall?: (call: { readonly method: string; readonly ok: boolean }) => void
}

export interface RpcClient {
  /** `result` may throw: an answer that its reader cannot believe is no better than none. */
  call<T>(method: string, params: readonly unknown[], result: z.ZodType<T>): Promise<T>
}

/**
 * The nodes understood the request and rejected it. This is not a fault of the transport; the caller knows the code's
 * meaning.
 */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal'
  readonly code: number
  readonly data: unknown

  constructor(message: string, refusal: { readonly code: number; readonly data: unknown }) {
    super(message)
    this.code = refusal.code
    this.data = refusal.data
  }
}

const answer = z.union([
  z.object({ error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }) }),
  z.object({ result: z.unknown() }),
])

export function createRpcClient(deps: RpcClientDeps): RpcClient {
  let preferred = 0
  return {
    async call(method, params, result) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      let lastError: unknown
      for (let offset = 0; offset < deps.urls.length; offset++) {
        const index = (preferred + offset) % deps.urls.length
        try {
          const value = parseResult(method, await ask(deps, deps.urls[index] ?? '', body), result)
          preferred = index
          deps.onCall?.({ method, ok: true })
          return value
        } catch (error) {
          deps.onCall?.({ method, ok: false })
          lastError = error
          deps.log.warn({ event: 'rpc_failed', method, node: index, error: describeError(error) })
        }
      }
      // A refusal is the node's word, and some callers know what it means; anything else only says that we do not know.
      if (lastError instanceof RpcRefusal) throw lastError
      throw new Fault(`no Solana node answered ${method} usably`, { cause: lastError, retryable: true })
    },
  }
}

// -32005 (node is behind), -32603 (internal) and 429 in its JSON form are the node's own trouble, not a word on the matter.
const nodeTroubles = new Set([-32005, -32603, 429])

async function ask({ postJson, timeoutMs }: RpcClientDeps, url: string, body: string): Promise<unknown> {
  const parsed = answer.parse(await postJson(url, body, { timeoutMs }))
  if (!('error' in parsed)) return parsed.result
  const { code, message, data } = parsed.error
  if (nodeTroubles.has(code)) throw new Error(`node error ${code}: ${message}`)
  throw new RpcRefusal(message, { code, data })
}

/** An answer that lacks what was asked for cannot be judged; it is never read as an empty one. */
function parseResult<T>(method: string, value: unknown, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error(`the answer to ${method} is incomplete: ${issue?.path.join('.')}: ${issue?.message}`)
}

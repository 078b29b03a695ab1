import { z } from 'zod'

/** Posts a JSON text and returns the parsed answer. Throws if the node does not answer. */
export type PostJson = (url: string, body: string, options: { readonly timeoutMs: number }) => Promise<unknown>

export interface RpcClient {
  /** An answer that `result` cannot parse counts as missing. */
  call<T>(method: string, params: readonly unknown[], result: z.ZodType<T>): Promise<T>
}

export interface NodeClientDeps {
  readonly url: string
  readonly postJson: PostJson
  readonly timeoutMs: number
  readonly onCall: (call: NodeCall) => void
}

/** Outcome of one call. Metrics and the state of the node are derived from the outcomes. */
export interface NodeCall {
  readonly method: string
  readonly ok: boolean
  /** Undefined if the answer does not state the slot of its state. */
  readonly contextSlot: number | undefined
  /** True if the node did not answer, or its answer was not valid JSON-RPC. */
  readonly isOutage: boolean
}

/** The node understood the request and rejected it, so the connection works. The caller interprets the code. */
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

/** The node answers but cannot serve the request now, so another node may. */
class NodeTrouble extends Error {
  override readonly name = 'NodeTrouble'
}

const answer = z.union([
  z.object({ error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }) }),
  z.object({ result: z.unknown() }),
])
const context = z.object({ context: z.object({ slot: z.int().min(0) }) })

export function createNodeClient({ url, postJson, timeoutMs, onCall }: NodeClientDeps): RpcClient {
  return {
    async call(method, params, result) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      try {
        const found = readAnswer(await postJson(url, body, { timeoutMs }))
        const value = parseResult(method, found, result)
        const slot = context.safeParse(found)
        onCall({ method, ok: true, isOutage: false, contextSlot: slot.data?.context.slot })
        return value
      } catch (error) {
        const isOutage = !(error instanceof RpcRefusal || error instanceof NodeTrouble)
        onCall({ method, ok: false, isOutage, contextSlot: undefined })
        throw error
      }
    },
  }
}

/*
 * Codes with which a node reports its own trouble instead of a result: -32005 (behind), -32016 (its state is older than
 * requested), -32603 (internal), and 429 in JSON.
 */
const nodeTroubles = new Set([-32005, -32016, -32603, 429])

function readAnswer(posted: unknown): unknown {
  const parsed = answer.parse(posted)
  if (!('error' in parsed)) return parsed.result
  const { code, message, data } = parsed.error
  if (nodeTroubles.has(code)) throw new NodeTrouble(`node error ${code}: ${message}`)
  throw new RpcRefusal(message, { code, data })
}

/** Throws for an answer that lacks a requested part, so that it is never read as empty. */
function parseResult<T>(method: string, value: unknown, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new NodeTrouble(`the answer to ${method} is incomplete: ${issue?.path.join('.')}: ${issue?.message}`)
}

import { z } from 'zod'

/** Sends a JSON body and gives the parsed answer; throws when there is none. */
export type PostJson = (url: string, body: string, options: { readonly timeoutMs: number }) => Promise<unknown>

/** JSON-RPC over HTTP, to one node or to the nodes in rotation. */
export interface RpcClient {
  /** `result` may throw: the caller treats an invalid answer as a missing answer. */
  call<T>(method: string, params: readonly unknown[], result: z.ZodType<T>): Promise<T>
}

export interface NodeClientDeps {
  readonly url: string
  readonly postJson: PostJson
  readonly timeoutMs: number
  readonly onCall: (call: NodeCall) => void
}

/** Outcome of one call, for metrics and for the standing of the node. */
export interface NodeCall {
  readonly method: string
  readonly ok: boolean
  /** Slot of the state that the answer is about, where it names one. */
  readonly contextSlot: number | undefined
  /** The node did not answer at all, or not as a node does. */
  readonly isOutage: boolean
}

/**
 * The node understood the request and rejected it. This is not a fault
 * of the transport; the caller knows the code's meaning.
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

/** The node is alive and cannot help at the moment. */
class NodeTrouble extends Error {
  override readonly name = 'NodeTrouble'
}

const answer = z.union([
  z.object({ error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }) }),
  z.object({ result: z.unknown() }),
])
const context = z.object({ context: z.object({ slot: z.int().min(0) }) })

/** JSON-RPC of one node. */
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
 * The node's own trouble and not a reply to the question: -32005 (behind), -32016 (its state is older than the
 * one that was asked for), -32603 (internal) and 429 in its JSON form.
 */
const nodeTroubles = new Set([-32005, -32016, -32603, 429])

function readAnswer(posted: unknown): unknown {
  const parsed = answer.parse(posted)
  if (!('error' in parsed)) return parsed.result
  const { code, message, data } = parsed.error
  if (nodeTroubles.has(code)) throw new NodeTrouble(`node error ${code}: ${message}`)
  throw new RpcRefusal(message, { code, data })
}

/** An answer that lacks what was asked for cannot be judged; it is never read as an empty one. */
function parseResult<T>(method: string, value: unknown, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new NodeTrouble(`the answer to ${method} is incomplete: ${issue?.path.join('.')}: ${issue?.message}`)
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { describeError } from '@tollbook/core/fault'
import { parseJson } from '@tollbook/core/json'
import type { Log } from './log.ts'
import type { RequestFailure, RequestWatch, TransportFailure } from './requestWatch.ts'
import { RpcError, rpcErrorCodes } from './rpcError.ts'
import type { RpcMethod } from './rpcMethod.ts'

export interface RpcServiceDeps {
  readonly methods: ReadonlyMap<string, RpcMethod>
  readonly watch: RequestWatch
  /** Returns the failure that currently applies to all calls of the method. Undefined: none. */
  readonly outage: (method: string) => TransportFailure | undefined
  readonly log: Log
}

/** Response to the client: a JSON body, nothing if there are only notifications, or a failure that a test requested. */
export type RpcAnswer =
  | { readonly kind: 'body'; readonly json: Json }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failure'; readonly outcome: TransportFailure }

/** Answers a request or a batch. Never rejects. */
export async function answerText(deps: RpcServiceDeps, text: string): Promise<RpcAnswer> {
  const request = parseJson(text)
  if (request === undefined) return body(errorBody(null, new RpcError(rpcErrorCodes.parseError, 'Parse error')))
  return Array.isArray(request) ? answerBatch(deps, request) : answerOne(deps, request)
}

/**
 * Answers the members in order, so that each member sees the effects of earlier members. A requested failure of one
 * member is the answer to the batch.
 */
async function answerBatch(deps: RpcServiceDeps, batch: readonly unknown[]): Promise<RpcAnswer> {
  if (batch.length === 0 || batch.length > batchMax) {
    const message = `Invalid request: a batch has 1 to ${batchMax} members, not ${batch.length}`
    return body(errorBody(null, new RpcError(rpcErrorCodes.invalidRequest, message)))
  }
  const answers: Json[] = []
  for (const [index, member] of batch.entries()) {
    // Yield to other requests regularly, because a full batch of transactions would block the event loop.
    if (index % membersPerTurn === membersPerTurn - 1) await nextTurn()
    const answer = answerOne(deps, member)
    if (answer.kind === 'failure') return answer
    if (answer.kind === 'body') answers.push(answer.json)
  }
  return answers.length === 0 ? { kind: 'nothing' } : body(answers)
}

/** This function is synchronous, so that no other request can change the state while it runs. */
function answerOne(deps: RpcServiceDeps, request: unknown): RpcAnswer {
  const frame = frameShape.safeParse(request)
  if (!frame.success) return body(errorBody(null, new RpcError(rpcErrorCodes.invalidRequest, 'Invalid request')))
  const { id, method, params } = frame.data
  const failure = deps.watch.note(method)
  const outcome = typeof failure?.outcome === 'string' ? failure.outcome : deps.outage(method)
  const cut = outcome === undefined ? undefined : ({ kind: 'failure', outcome } as const)
  if (cut !== undefined && failure?.afterEffect !== true) return cut
  const answered = call(deps, { id: id ?? null, method, params, failure })
  if (cut !== undefined) return cut
  // A request without an id is executed but not answered, because it is a notification.
  return id === undefined ? { kind: 'nothing' } : body(answered)
}

interface Call {
  readonly id: string | number | null
  readonly method: string
  readonly params: unknown
  readonly failure: RequestFailure | undefined
}

function call(deps: RpcServiceDeps, { id, method, params, failure }: Call): Json {
  try {
    if (failure?.afterEffect !== true) failAsAsked(failure)
    const handler = deps.methods.get(method)
    if (handler === undefined) throw new RpcError(rpcErrorCodes.methodNotFound, 'Method not found')
    const result = handler(params)
    failAsAsked(failure)
    return { jsonrpc: '2.0', result, id }
  } catch (error) {
    if (error instanceof RpcError) return errorBody(id, error)
    // Log the details of an unexpected error, but do not send them to the client.
    deps.log.error({ method, error: describeError(error) }, 'local_chain_method_failed')
    return errorBody(id, new RpcError(rpcErrorCodes.internalError, 'Internal error'))
  }
}

/** Throws the requested error. Ignores transport failures, which have no JSON-RPC error. */
function failAsAsked(failure: RequestFailure | undefined): void {
  if (failure === undefined || typeof failure.outcome === 'string') return
  throw new RpcError(failure.outcome.code, failure.outcome.message)
}

export function errorBody(id: string | number | null, error: RpcError): Json {
  const data = error.data === undefined ? {} : { data: error.data }
  return { jsonrpc: '2.0', error: { code: error.code, message: error.message, ...data }, id }
}

/** `params` by name are a valid request, but each method refuses them, because Solana uses only positions. */
export const frameShape = z.object({
  jsonrpc: z.literal('2.0'),
  method: z.string().max(100),
  params: z
    .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
    .nullish()
    .transform((params) => params ?? undefined),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
})

function body(json: Json): RpcAnswer {
  return { kind: 'body', json }
}

/** Maximum members of a batch. `getTransactions` of web3.js sends one member per signature. */
const batchMax = 256
const membersPerTurn = 8

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
  /** How every call of the method fails at present. */
  readonly outage: (method: string) => TransportFailure | undefined
  readonly log: Log
}

/** Response to the client: a body (none if it only sent notifications), or a failure that a test requested. */
export type RpcAnswer =
  | { readonly kind: 'body'; readonly json: Json }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failure'; readonly outcome: TransportFailure }

/** JSON-RPC 2.0: takes the text of a request or of a batch. Never throws, whatever the text. */
export async function answerText(deps: RpcServiceDeps, text: string): Promise<RpcAnswer> {
  const request = parseJson(text)
  if (request === undefined) return body(errorBody(null, new RpcError(rpcErrorCodes.parseError, 'Parse error')))
  return Array.isArray(request) ? answerBatch(deps, request) : answerOne(deps, request)
}

/** Members are answered in order and see each other's effects, like requests that were sent one after the other. */
async function answerBatch(deps: RpcServiceDeps, batch: readonly unknown[]): Promise<RpcAnswer> {
  if (batch.length === 0 || batch.length > batchMax) {
    const message = `Invalid request: a batch has 1 to ${batchMax} members, not ${batch.length}`
    return body(errorBody(null, new RpcError(rpcErrorCodes.invalidRequest, message)))
  }
  const answers: Json[] = []
  for (const [index, member] of batch.entries()) {
    // Others get their turn: a full batch of transactions would otherwise hold the event loop for 150 ms.
    if (index % membersPerTurn === membersPerTurn - 1) await nextTurn()
    const answer = answerOne(deps, member)
    if (answer.kind === 'failure') return answer
    if (answer.kind === 'body') answers.push(answer.json)
  }
  return answers.length === 0 ? { kind: 'nothing' } : body(answers)
}

/** Synchronous throughout: no other request runs between reading the state and changing it. */
function answerOne(deps: RpcServiceDeps, request: unknown): RpcAnswer {
  const frame = frameShape.safeParse(request)
  if (!frame.success) return body(errorBody(null, new RpcError(rpcErrorCodes.invalidRequest, 'Invalid request')))
  const { id, method, params } = frame.data
  const failure = deps.watch.note(method)
  const cut = transportFailure(failure) ?? outageAnswer(deps, method)
  if (cut !== undefined && failure?.afterEffect !== true) return cut
  const answered = call(deps, { id: id ?? null, method, params, failure })
  if (cut !== undefined) return cut
  // Without an id it is a notification: carried out, and never answered.
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
    // A bug or a full disk. The client gets no details, the log gets all.
    deps.log.error({ method, error: describeError(error) }, 'local_chain_method_failed')
    return errorBody(id, new RpcError(rpcErrorCodes.internalError, 'Internal error'))
  }
}

/** A failure that looks like a node's own answer, unlike those of the transport. */
function failAsAsked(failure: RequestFailure | undefined): void {
  if (failure === undefined || typeof failure.outcome === 'string') return
  throw new RpcError(failure.outcome.code, failure.outcome.message)
}

function transportFailure(failure: RequestFailure | undefined): RpcAnswer | undefined {
  const outcome = failure?.outcome
  return typeof outcome === 'string' ? { kind: 'failure', outcome } : undefined
}

function outageAnswer({ outage }: RpcServiceDeps, method: string): RpcAnswer | undefined {
  const outcome = outage(method)
  return outcome === undefined ? undefined : { kind: 'failure', outcome }
}

export function errorBody(id: string | number | null, error: RpcError): Json {
  const data = error.data === undefined ? {} : { data: error.data }
  return { jsonrpc: '2.0', error: { code: error.code, message: error.message, ...data }, id }
}

/** `params` may be a list or be left out; Solana has no named parameters. */
export const frameShape = z.object({
  jsonrpc: z.literal('2.0'),
  method: z.string().max(100),
  params: z.array(z.unknown()).nullish().transform(absentIfNull),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
})

function absentIfNull(params: unknown[] | null | undefined): unknown[] | undefined {
  return params ?? undefined
}

function body(json: Json): RpcAnswer {
  return { kind: 'body', json }
}

/** Enough for web3.js' `getTransactions` over the 256 signatures that one status request may ask about. */
const batchMax = 256
const membersPerTurn = 8

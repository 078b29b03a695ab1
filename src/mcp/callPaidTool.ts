import type { CallToolResult } from '@modelcontextprotocol/server'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { sha256 } from '@tollbook/core/digest'
import { describeError } from '@tollbook/core/fault'
import { segmentNames } from '@tollbook/core/pathTemplate'
import { sortedTarget } from '@tollbook/core/toolRequest'
import type { Log } from '../machine/log.ts'
import type { JsonObject } from '../document/jsonSchema.ts'
import { type Answer, jsonAnswer, type RawAnswer, type StreamedAnswer } from '../paywall/answer.ts'
import type { PaidRequest } from '../paywall/paidRequest.ts'
import type { PaymentRail, RailRequest } from '../paywall/rail.ts'
import type { Sales } from '../paywall/sales.ts'
import type { Endpoint } from '../product/endpoint.ts'
import { hasNoBody } from '../product/productFacts.ts'
import type { MessageCarrier } from '../transport/messageRoute.ts'
import { readArguments } from '../transport/readParameters.ts'
import { pathNotFound } from '../transport/transportError.ts'
import { mcpPath, type ToolCall } from './tool.ts'
import { resultOf } from './toolResult.ts'

export interface PaidCallDeps {
  readonly sales: Pick<Sales, 'rails' | 'sell'>
  readonly log: Log
  /** Returns the product at a path. Undefined if there is none. */
  readonly findSold: (path: string) => Endpoint | undefined
}

const idempotencyKey = 'tollbook/idempotency-key'

/** The rails convert a payment in `_meta` to their headers, so that they read it as in an HTTP request. */
export function railRequestOf(rails: readonly PaymentRail[], { name, meta }: ToolCall): RailRequest {
  const key = meta[idempotencyKey] ?? ''
  const headers: Readonly<Record<string, string>> = Object.assign(
    key === '' ? {} : { 'idempotency-key': typeof key === 'string' ? key : canonicalJson(key) },
    ...rails.map((rail) => rail.meta?.headersOf(meta) ?? {}),
  )
  // Set the mount of a rail, if one has a mount. The caller then counts as a client of this rail, whose offers need no
  // wallet address.
  const mount = rails.find(({ description }) => description?.mount !== undefined)?.description?.mount
  return { mount, tool: { name, path: mcpPath }, header: (each) => headers[each] }
}

/** Sells one call with the same function as a request over HTTP, so that a payment buys only once over both. */
export async function callPaidTool(
  { sales, log, findSold }: PaidCallDeps,
  endpoint: Endpoint,
  { call, carrier }: { readonly call: ToolCall; readonly carrier: MessageCarrier },
): Promise<CallToolResult> {
  const { meta } = call
  const { path, ordered } = readArguments(endpoint, call.arguments)
  const values = valuesOf(endpoint, call.arguments)
  const isBare = hasNoBody(endpoint.method)
  const request: PaidRequest = {
    ...railRequestOf(sales.rails, call),
    ...carrier.facts,
    path,
    method: endpoint.method,
    target: isBare ? sortedTarget(path, values) : path,
    bodyDigest: () => (isBare ? undefined : sha256(canonicalJson(values))),
    // Compare the path with the routes again, because a value may make it the path of another product with another
    // price.
    readParameters: () => Promise.resolve(findSold(path) === endpoint ? ordered : pathNotFound()),
  }
  const sold = await sales.sell(endpoint, request)
  const answer = 'chunks' in sold ? await collectAnswer(sold).catch((error: unknown) => brokenStream(log, error)) : sold
  const result = resultOf(answer, { rails: sales.rails, meta })
  if (answer.dispatch !== undefined) carrier.onPaid(endpoint.path, answer.dispatch)
  return result
}

/** Returns the arguments that are not part of the path. An HTTP request would have them in its query or body. */
function valuesOf({ path }: Endpoint, values: JsonObject): JsonObject {
  const inPath = segmentNames(path)
  return Object.fromEntries(Object.entries(values).filter(([name]) => !inPath.includes(name)))
}

function brokenStream(log: Log, error: unknown): Answer {
  log.warn({ event: 'streamed_answer_cut', error: describeError(error) })
  const body = {
    error: 'the answer broke and was not sold; repeat the call with the same payment',
    code: 'UPSTREAM_FAILED',
  }
  return jsonAnswer(502, JSON.stringify(body), { 'retry-after': '2' })
}

// Maximum bytes of a streamed answer, because a result of MCP is one message in memory.
const bytesMax = 1024 * 1024
const cutText = '\n[cut at 1 MiB; the payment and its receipt are for the whole answer]'

/**
 * Collects a streamed answer. Reads the answer to its end even if it is too long, because its delivery is recorded at
 * the end. Throws if the answer breaks off.
 */
async function collectAnswer(answer: StreamedAnswer): Promise<RawAnswer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  let isCut = false
  for await (const chunk of answer.chunks) {
    const part = chunk.subarray(0, bytesMax - bytes)
    isCut ||= part.length < chunk.length
    bytes += part.length
    if (part.length > 0) chunks.push(part)
  }
  const dispatch = answer.dispatch()
  return {
    status: answer.status,
    headers: { ...answer.headers, ...answer.trailers() },
    body: Buffer.concat(isCut ? [...chunks, Buffer.from(cutText)] : chunks),
    ...(dispatch === undefined ? {} : { dispatch }),
  }
}

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { isWellFormed, type Json } from '@tollbook/core/canonicalJson'
import { readBytes } from '../outbound/readBytes.ts'
import type { Job, Outcome } from '../product/product.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { usageOf } from './answerUsage.ts'
import { metaOf, type RouteDeps, type RouteOrder } from './deliverRoute.ts'
import { failureOf } from './failureOf.ts'
import { failureOfStatus, judgeJson } from './judgeAnswer.ts'
import type { RouteEntry } from './productsFile.ts'
import type { CheckedRoute } from './checkRoute.ts'
import type { OpenAnswer } from './upstreamClient.ts'

export interface ToolDeps extends RouteDeps {
  readonly version: string
}

/** Opens a separate MCP session for an order, because a server could forget a shared session and fail a paid order. */
export async function deliverTool(
  deps: ToolDeps,
  { route, prices: { unit } }: CheckedRoute,
  { order, job }: RouteOrder,
): Promise<Outcome> {
  const { client, clock, version } = deps
  const name = assertPresent(route.tool, 'a route to an MCP server names its tool')
  const timeoutMs = route.timeout ?? client.entry.timeout
  const exchanges = createExchanges(deps, { route, job, timeoutMs })
  const options = { signal: job.signal, timeout: timeoutMs }
  const connection = new Client({ name: 'tollbook', version }, { versionNegotiation: { mode: 'auto' } })
  try {
    const mcpTransport = new StreamableHTTPClientTransport(new URL(client.entry.mcp ?? ''), { fetch: exchanges.fetch })
    await connection.connect(mcpTransport, options)
    // The payment is the same for every attempt, so that the upstream can recognize a repeated call.
    const _meta = { 'tollbook/payment': job.payment, 'tollbook/payer': job.payer }
    const result = await connection.callTool({ name, arguments: { ...order }, _meta }, options)
    const data = dataOf(result)
    judgeJson(route, data)
    const usage = unit === undefined ? undefined : usageOf(unit, { bytes: new Uint8Array(), data }, undefined)
    // Delete the session. Otherwise a server with sessions would keep a session for every order.
    await mcpTransport.terminateSession().catch(() => undefined)
    exchanges.end()
    return { kind: 'delivered', data, meta: metaOf(client, clock), ...(usage === undefined ? {} : { usage }) }
  } catch (error) {
    return failureOf(exchanges.end(error) ?? asFailure(error))
  } finally {
    await connection.close()
  }
}

const resultShape = z.object({
  isError: z.boolean().default(false),
  content: z.array(z.record(z.string(), z.json())).default([]),
  structuredContent: z.json().optional(),
})

function dataOf(result: unknown): Json {
  const parsed = resultShape.safeParse(result)
  if (!parsed.success) throw new UpstreamFailure('bad_payload', 'the result of the tool has no canonical JSON')
  const { isError, content, structuredContent } = parsed.data
  // Omit the tool's error text: it is written for the operator, and may contain anything.
  if (isError) throw new UpstreamFailure('incomplete', 'the tool answered with an error')
  const data = structuredContent ?? { content }
  if (!isWellFormed(data)) throw new UpstreamFailure('bad_payload', 'the result of the tool has no canonical JSON')
  return data
}

function asFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  // Omit the cause, because it can quote the upstream's answer.
  return new UpstreamFailure('incomplete', 'the MCP server refused the call')
}

// Maximum time for the end of a session, because the paid result waits for it.
const sessionEndMsMax = 1_000

interface ExchangeLimits {
  readonly route: RouteEntry
  readonly job: Job
  readonly timeoutMs: number
}

/**
 * Sends the requests of the MCP client through the upstream client, so that its headers, circuit breaker and limits
 * apply.
 */
function createExchanges({ client, clock }: ToolDeps, { route, job, timeoutMs }: ExchangeLimits) {
  const { origin, pathname } = new URL(client.entry.mcp ?? '')
  const bytesMax = route.max_response ?? client.entry.max_response
  const open: OpenAnswer[] = []
  let failure: UpstreamFailure | undefined
  const send = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input)
    // Use only the configured URL. Refuse a GET, which would open the server's own event stream.
    const { method = 'GET' } = init
    if ((method !== 'POST' && method !== 'DELETE') || url.origin !== origin || url.pathname !== pathname)
      return new Response(null, { status: 405 })
    const answer = await client.open({
      method,
      target: '',
      headers: { ...Object.fromEntries(new Headers(init.headers)), 'x-request-id': job.requestId },
      body: typeof init.body === 'string' ? init.body : undefined,
      signal: job.signal,
      timeoutMs: method === 'DELETE' ? Math.min(timeoutMs, sessionEndMsMax) : timeoutMs,
      isIdempotent: false,
    })
    open.push(answer)
    const { response } = answer
    const { statusCode: status = 0 } = response
    const failed = failureOfStatus(response, clock)
    if (failed !== undefined) throw failed
    if (status >= 300 && status < 400) throw new UpstreamFailure('upstream', `the upstream answered HTTP ${status}`)
    const bytes = await readBytes(response, bytesMax)
    answer.end()
    const headers = Object.entries(response.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] satisfies [string, string]] : [],
    )
    return new Response(status === 202 || status === 204 ? null : bytes, { status, headers })
  }
  return {
    fetch: async (input: string | URL, init?: RequestInit) => {
      try {
        return await send(input, init)
      } catch (error) {
        failure = open.at(-1)?.end(error) ?? (error instanceof UpstreamFailure ? error : undefined)
        throw error
      }
    },
    /**
     * Ends all open exchanges. Returns the original failure of an exchange, because the MCP client reports it in
     * different words.
     */
    end(error?: unknown): UpstreamFailure | undefined {
      for (const answer of open) answer.end(error === undefined ? undefined : (failure ?? asFailure(error)))
      return failure
    },
  }
}

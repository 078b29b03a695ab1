import {
  type CallToolResult,
  createMcpHandler,
  localhostAllowedHostnames,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { isWellFormed } from '@tollbook/core/canonicalJson'
import type { Seller } from '../product/seller.ts'
import type { Endpoint } from '../product/endpoint.ts'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'
import type { FreeRoute } from '../transport/freeRoute.ts'
import type { Message, MessageCarrier, MessageProtocol } from '../transport/messageRoute.ts'
import { parseJson } from '../transport/parseJson.ts'
import { createRouteTable } from '../transport/routeTable.ts'
import type { ServiceAddress } from '../transport/serviceAddress.ts'
import { callPaidTool, type PaidCallDeps, railRequestOf } from './callPaidTool.ts'
import { mcpPath, type ToolCall } from './tool.ts'
import { openTools, type Tools } from './tools.ts'

export interface McpDeps extends Omit<PaidCallDeps, 'findSold'> {
  readonly version: string
  readonly seller: Pick<Seller, 'name'>
  readonly address: Pick<ServiceAddress, 'url'>
  readonly endpoints: readonly Endpoint[]
  readonly freeRoutes: readonly FreeRoute[]
}

type OpenMcp = McpDeps & PaidCallDeps

// Bytes that are allowed in addition to the body of an order: the envelope of the message, and a payment in each form.
const envelopeBytesMax = 64 * 1024

/**
 * Creates the protocol of `POST /mcp`: the Model Context Protocol in its versions 2026-07-28 and 2025-11-25. It has no
 * sessions, so that any instance can serve any call.
 */
export function createMcp(deps: McpDeps): MessageProtocol {
  const tools = openTools(deps.endpoints, deps.freeRoutes)
  const find = createRouteTable(deps.endpoints)
  const findSold = (path: string) => find(path)?.route
  return {
    path: mcpPath,
    bodyBytesMax: Math.max(0, ...deps.endpoints.map(({ bodyBytesMax }) => bodyBytesMax)) + envelopeBytesMax,
    refuse(header) {
      const foreign = findForeignName(deps.address.url(), header)
      return foreign === undefined ? undefined : rpcError(403, -32_000, foreign)
    },
    read: (body) => readMessage({ ...deps, findSold }, tools, body),
  }
}

/**
 * Returns why the host or origin of a request is foreign. Undefined if the request uses this service's name and does
 * not come from a page of another site. A page of another site could let its own name resolve to this machine (DNS
 * rebinding), read answers, and use a wallet of the browser.
 */
function findForeignName(serviceUrl: string, header: (name: string) => string | undefined): string | undefined {
  const own = [...localhostAllowedHostnames(), ...(serviceUrl === '' ? [] : [new URL(serviceUrl).hostname])]
  const host = validateHostHeader(header('host'), own)
  if (!host.ok)
    return 'the host is not that of this service; the operator sets it as PUBLIC_URL, and a proxy must pass it on'
  return validateOriginHeader(header('origin'), own).ok ? undefined : 'pages of other origins cannot call these tools'
}

// Refuse names and texts that have no UTF-8 encoding, because they have no digest.
const record = z.record(z.string(), z.json()).refine(isWellFormed)
const toolCall = z.object({
  method: z.literal('tools/call'),
  params: z.object({ name: z.string(), arguments: record.default({}), _meta: record.default({}) }),
})

function readMessage(deps: OpenMcp, tools: Tools, body: Buffer): Message | Answer {
  const parsed = parseJson(body)
  if (!parsed.ok) return rpcError(400, -32_700, `the body ${parsed.message}`)
  if (Array.isArray(parsed.value))
    return rpcError(400, -32_600, 'send one message a request; a batch could carry several payments')
  const { data } = toolCall.safeParse(parsed.value)
  const call = data && { name: data.params.name, arguments: data.params.arguments, meta: data.params._meta }
  const isKnown = call !== undefined && (tools.paid.has(call.name) || tools.free.has(call.name))
  return {
    purpose: purposeOf(deps, tools, call),
    label: isKnown ? `mcp:${call.name}` : mcpPath,
    serve: (carrier) =>
      answerMessage(deps, {
        message: parsed.value,
        server: () => createServer(deps, tools, { call, carrier }),
        carrier,
      }),
  }
}

function purposeOf({ sales: { rails } }: McpDeps, { paid }: Tools, call: ToolCall | undefined): Message['purpose'] {
  if (call === undefined || !paid.has(call.name)) return 'read'
  const request = railRequestOf(rails, call)
  return rails.some((rail) => rail.carriesProof(request)) ? 'proof' : 'quote'
}

interface ArrivedMessage {
  readonly message: unknown
  readonly server: () => Server
  readonly carrier: MessageCarrier
}

const forwarded = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

/** Serves one message. Streams from the server are refused, because an answer ends with its result. */
async function answerMessage({ address }: McpDeps, { message, server, carrier }: ArrivedMessage): Promise<Answer> {
  const handler = createMcpHandler(server, { maxSubscriptions: 0, keepAliveMs: 0 })
  const headers = forwarded.flatMap((name) => {
    const value = carrier.header(name)
    return value === undefined ? [] : [[name, value] satisfies [string, string]]
  })
  const request = new Request(new URL(mcpPath, address.url()), { method: 'POST', headers })
  const response = await handler.fetch(request, { parsedBody: message })
  const type = response.headers.get('content-type')
  return {
    status: response.status,
    headers: { 'cache-control': 'no-store', ...(type === null ? {} : { 'content-type': type }) },
    body: await response.text(),
  }
}

interface ArrivedCall {
  readonly call: ToolCall | undefined
  readonly carrier: MessageCarrier
}

const listLifetimeMs = 60_000

function createServer(deps: OpenMcp, tools: Tools, { call, carrier }: ArrivedCall): Server {
  const shared = { ttlMs: listLifetimeMs, cacheScope: 'public' } as const
  const server = new Server(
    { name: 'tollbook', title: deps.seller.name, version: deps.version },
    {
      capabilities: { tools: {} },
      instructions: instructionsFor(deps.address.url()),
      cacheHints: { 'tools/list': shared, 'server/discover': shared },
    },
  )
  server.setRequestHandler('tools/list', () => ({ tools: [...tools.listed] }))
  server.setRequestHandler('tools/call', () => callTool(deps, tools, { call, carrier }))
  return server
}

function instructionsFor(url: string): string {
  return `Tools with a price need a payment in \`_meta\`; an unpaid call returns the offer and costs nothing. After an error without an offer repeat the same call with the same payment, and never pay again. Full schemas: ${url}/openapi.json`
}

async function callTool(deps: OpenMcp, { paid, free }: Tools, { call, carrier }: ArrivedCall): Promise<CallToolResult> {
  if (call === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'arguments and _meta must be objects of well-formed texts')
  const endpoint = paid.get(call.name)
  if (endpoint !== undefined) return callPaidTool(deps, endpoint, { call, carrier })
  const tool = free.get(call.name)
  if (tool === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${call.name.slice(0, 64)}`)
  return tool.serve(call, carrier)
}

function rpcError(status: number, code: number, message: string): Answer {
  return jsonAnswer(status, JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }))
}

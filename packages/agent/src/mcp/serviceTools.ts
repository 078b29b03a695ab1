import { type CallToolResult, fromJsonSchema } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { utf8Text } from '@tollbook/core/bytes'
import type { WalletClient } from '../client/walletClient.ts'
import { hostOrigin, type Policy } from '../policy/policy.ts'
import { type JsonRequest, orderOf } from '../walletWire.ts'
import { readServiceTools, type ServiceTool } from './openApiTools.ts'
import { buy, type PaidDeps } from './paidTools.ts'
import { jsonResult } from './toolResult.ts'

export interface HostTools {
  readonly origin: string
  readonly tools: readonly ServiceTool[]
}

const documentBytesMax = 4 * 1024 * 1024

/** Reads the typed tools of the hosts. A host without an OpenAPI document has none. */
export async function readHostTools(wallet: WalletClient, { hosts }: Policy): Promise<readonly HostTools[]> {
  const listed = Object.entries(hosts).filter(([, { tools }]) => tools)
  return Promise.all(
    listed.map(async ([host]) => {
      const origin = hostOrigin(host)
      return { origin, tools: readServiceTools(host, await readDocument(wallet, `${origin}/openapi.json`)) }
    }),
  )
}

// Timeout of one document, because the MCP host waits for the tools.
const documentTimeoutMs = 5_000

async function readDocument(wallet: WalletClient, url: string): Promise<unknown> {
  // Use the intent `quote`, so that nothing is paid even if the service asks a price for its document.
  const order = orderOf('quote', { method: 'GET', url })
  try {
    const answer = await wallet.request(order, AbortSignal.timeout(documentTimeoutMs))
    if (answer.kind !== 'answer' || answer.status !== 200 || answer.bytes.length > documentBytesMax) return undefined
    return JSON.parse(utf8Text(answer.bytes))
  } catch {
    // Ignore a missing or unreadable document: the tool `pay_and_fetch` works without it.
    return undefined
  }
}

export function registerServiceTools(deps: PaidDeps, hosts: readonly HostTools[]): void {
  for (const { origin, tools } of hosts)
    for (const tool of tools)
      deps.server.registerTool(
        tool.name,
        { description: tool.description, inputSchema: fromJsonSchema(tool.inputSchema) },
        async (given, context) => {
          const request = requestOf(origin, tool, given)
          return request === undefined ? refusedSegment : buy(deps, request, context)
        },
      )
}

const refusedSegment: CallToolResult = jsonResult({ refused: 'a part of the path must not be empty, . or ..' }, true)
const members = z.record(z.string(), z.unknown())

/** Undefined if a value of the path is missing or would lead to another path. */
export function requestOf(origin: string, tool: ServiceTool, given: unknown): JsonRequest | undefined {
  const values = members.parse(given ?? {})
  const segments = tool.pathNames.map((name) => textOf(values[name]))
  if (segments.some((segment) => ['', '.', '..'].includes(segment))) return undefined
  const url = new URL(origin)
  url.pathname = tool.path.replaceAll(/\{([\w.-]+)\}/g, (_, name: string) => encodeURIComponent(textOf(values[name])))
  for (const name of tool.queryNames) if (values[name] !== undefined) url.searchParams.set(name, textOf(values[name]))
  const own = new Set([...tool.pathNames, ...tool.queryNames])
  const body = Object.fromEntries(Object.entries(values).filter(([name]) => !own.has(name)))
  const hasBody = tool.method !== 'GET' && (tool.method !== 'DELETE' || Object.keys(body).length > 0)
  return { url: url.href, method: tool.method, ...(hasBody ? { body: JSON.stringify(body) } : {}) }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined ? '' : JSON.stringify(value)
}

import '@tollbook/core/quietBindings'
import { toolNameOf } from '@tollbook/core/toolRequest'
import {
  currentClient,
  earlierClient,
  mppToolClient,
  payX402,
  type ToolClient,
  x402Forms,
} from '../support/mcpClient.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openStockPurchases, type StockClient } from './stockPurchases.ts'

/*
 * Stock clients of MCP buy every product of local mode as a tool, from two instances: three clients pay by x402 with
 * the payment as an object and in base64, and the client of MPP pays by itself.
 */

const { rounds } = proofCommand('tools', 'Stock clients of MCP buy every product of local mode as a tool.')
  .option('--rounds <n>', 'purchases of each product by each client', wholeNumber, 1)
  .parse()
  .opts<{ readonly rounds: number }>()

await using purchases = await openStockPurchases({ rounds, drop: 0 })
const { wallet, rpcUrl, tokenMint: asset } = purchases
const payer = { wallet, rpcUrl, asset }

type Connect = (origin: string) => Promise<ToolClient>

/** A client that pays by itself, or with a payment in one of the forms of x402. */
function toolClient(name: string, connect: Connect, form?: keyof typeof x402Forms): StockClient {
  const clients = new Map<string, Promise<ToolClient>>()
  const buy = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input)
    const client = await (clients.get(url.origin) ?? connect(url.origin))
    clients.set(url.origin, Promise.resolve(client))
    const { body } = init ?? {}
    const order: unknown = typeof body === 'string' ? JSON.parse(body) : fromQuery(url.searchParams)
    const call = { name: toolNameOf(url.pathname), arguments: { ...Object(order) } }
    const first = await client.callTool(call)
    const isOffered = form !== undefined && 'accepts' in first.structuredContent
    const result = isOffered
      ? await client.callTool({ ...call, _meta: { 'x402/payment': x402Forms[form](await payX402(first, payer)) } })
      : first
    const isPaid = Object.keys(result._meta).some((key) => key.startsWith('tollbook/receipt'))
    const isClosed = result.structuredContent['code'] === 'ENDPOINT_UNAVAILABLE'
    const status = isPaid ? 200 : isClosed ? 503 : 500
    return new Response(JSON.stringify(result), { status, headers: isPaid ? { [receiptHeader]: 'present' } : {} })
  }
  return { name, fetch: buy, receiptHeader, mount: '', repeats: false }
}

const receiptHeader = 'x-tool-receipt'

/** Arguments as a model writes them: numbers as numbers. */
function fromQuery(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const values = [...query].map(
    ([name, value]) => [name, /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value] as const,
  )
  return Object.fromEntries(values)
}

const earlier: Connect = (origin) => earlierClient(origin)
const legacy: Connect = (origin) => currentClient(origin, 'legacy')
const current: Connect = (origin) => currentClient(origin, 'auto')

await purchases.prove([
  toolClient('SDK 1.32, x402 as an object', earlier, 'object'),
  toolClient('client 2.4 in 2025-11-25, x402 as an object', legacy, 'object'),
  toolClient('client 2.4 in 2026-07-28, x402 as an object', current, 'object'),
  toolClient('client 2.4 in 2026-07-28, x402 in base64', current, 'base64'),
  toolClient('McpClient.wrap of mppx 0.11', (origin) => mppToolClient(origin, payer, () => true)),
])

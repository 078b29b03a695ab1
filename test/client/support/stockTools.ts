import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js'
import { Mppx } from '@solana/mpp/server'
import type { Keypair } from '@solana/web3.js'
import type { PaymentPayload } from '@x402/core/types'
import { Transport } from 'mppx/server'
import { listenOnLoopback } from '../../support/loopbackServer.ts'
import { stockMppMethod, stockX402 } from './stockServers.ts'
import type { TokenChain } from './tokenChain.ts'

/* MCP servers of others with one paid tool, by the stock SDK in sessions. */

type Sell = (extra: RequestHandlerExtra<ServerRequest, ServerNotification>) => Promise<CallToolResult>
const goods: CallToolResult = { content: [{ type: 'text', text: 'bought' }] }

export interface StockTools {
  readonly url: string
  /** Ends all sessions, as a restart does. */
  forget(): void
}

async function openTools(sell: Sell): Promise<StockTools> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const open = async () => {
    const server = new McpServer({ name: 'stock', version: '1' })
    server.registerTool('buy', { description: 'Costs something.', inputSchema: {} }, (_given, extra) => sell(extra))
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await server.connect(transport)
    return transport
  }
  const listening = createServer((request, response) => {
    void (async () => {
      const id = request.headers['mcp-session-id']
      if (typeof id !== 'string') return (await open()).handleRequest(request, response)
      const transport = sessions.get(id)
      if (transport === undefined) return void response.writeHead(404).end()
      return transport.handleRequest(request, response)
    })()
  })
  return { url: `${await listenOnLoopback(listening)}/`, forget: () => sessions.clear() }
}

/** The MCP transport of mppx, which throws its challenge as an error of JSON-RPC. */
export async function openStockMppTools(token: TokenChain, feePayer: Keypair, amount: string): Promise<StockTools> {
  const mppx = Mppx.create({
    methods: [await stockMppMethod(token, feePayer)],
    secretKey: 'a secret of the test with enough length',
    realm: 'stock',
    transport: Transport.mcpSdk(),
  })
  const charge = mppx.charge({ amount, currency: token.mint.toBase58() })
  return openTools(async (extra) => {
    const sale = await charge(extra)
    if (sale.status === 402) throw sale.challenge
    return sale.withReceipt(goods)
  })
}

/** Places of an offer of x402. A server with its offer in `_meta` reads base64. */
export const x402Places = {
  'structuredContent and text': (offer: Record<string, unknown>, text: string) => ({
    structuredContent: offer,
    content: [{ type: 'text' as const, text }],
  }),
  text: (_offer: Record<string, unknown>, text: string) => ({ content: [{ type: 'text' as const, text }] }),
  // As the servers of Cloudflare.
  _meta: (offer: Record<string, unknown>) => ({ content: [], _meta: { 'x402/error': offer } }),
}

/** The resource server of @x402/core behind a tool: no package for npm has its binding to MCP. */
export async function openStockX402Tools(
  token: TokenChain,
  feePayer: Keypair,
  { amount, place }: { readonly amount: string; readonly place: keyof typeof x402Places },
): Promise<StockTools> {
  const { server, accepts } = await stockX402(token, feePayer, amount)
  await server.initialize()
  const requirements = await server.buildPaymentRequirements(accepts)
  const offer = async (error?: string): Promise<CallToolResult> => {
    const required = await server.createPaymentRequiredResponse(requirements, { url: 'mcp://tool/buy' }, error)
    const text = JSON.stringify(required)
    return { isError: true, ...x402Places[place](JSON.parse(text), text) }
  }
  return openTools(async ({ _meta }) => {
    const sent = _meta?.['x402/payment']
    if (sent === undefined || (typeof sent === 'string') !== (place === '_meta')) return offer()
    const payment = (
      typeof sent === 'string' ? JSON.parse(Buffer.from(sent, 'base64').toString()) : sent
    ) as PaymentPayload
    const [requirement] = requirements
    if (requirement === undefined) throw new Error('it has a price')
    const verified = await server.verifyPayment(payment, requirement)
    if (!verified.isValid) return offer(verified.invalidReason)
    return { ...goods, _meta: { 'x402/payment-response': await server.settlePayment(payment, requirement) } }
  })
}

import { charge } from '@solana/mpp/client'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import type { Keypair } from '@solana/web3.js'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { McpClient } from 'mppx/mcp/client'
import { afterFile } from './afterFile.ts'
import { type CalledTool, toolResult } from './toolResult.ts'
import { stockClient } from './x402Service.ts'

export interface Call {
  readonly name: string
  readonly arguments: Record<string, unknown>
  readonly _meta?: Record<string, unknown>
}

/** A client of MCP, of whichever package and version. */
export interface ToolClient {
  listTools(): Promise<unknown>
  callTool(call: Call): Promise<CalledTool>
}

const identity = { name: 'test', version: '1' }
const endpointOf = (baseUrl: string) => new URL('/mcp', baseUrl)

/** The client of the SDK before its second version, which ends at 2025-11-25. */
export async function earlierClient(baseUrl: string): Promise<ToolClient> {
  const client = await openEarlierClient(baseUrl)
  return {
    listTools: () => client.listTools(),
    callTool: async (call) => toolResult.parse(await client.callTool(call)),
  }
}

async function openEarlierClient(baseUrl: string): Promise<EarlierClient> {
  const client = new EarlierClient(identity)
  await client.connect(new EarlierTransport(endpointOf(baseUrl)))
  afterFile(() => client.close())
  return client
}

/** The client of the second version: 2025-11-25 as `legacy`, or 2026-07-28. */
export async function currentClient(baseUrl: string, mode: 'legacy' | 'auto'): Promise<ToolClient> {
  const client = new Client(identity, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(endpointOf(baseUrl)))
  afterFile(() => client.close())
  return {
    listTools: () => client.listTools(),
    callTool: async (call) => toolResult.parse(await client.callTool(call)),
  }
}

/** A payment in the two forms that clients of x402 put into `_meta`. */
export const x402Forms = {
  object: (payment: unknown): unknown => payment,
  base64: (payment: unknown): unknown => Buffer.from(JSON.stringify(payment)).toString('base64'),
}

export interface Wallet {
  readonly wallet: Keypair
  readonly rpcUrl: string
  readonly asset: string
}

/** Signs the x402 offer of an unpaid result with the stock client. */
export async function payX402(unpaid: CalledTool, { wallet, rpcUrl, asset }: Wallet) {
  const client = await stockClient(wallet, rpcUrl, asset)
  const header = Buffer.from(JSON.stringify(unpaid.structuredContent)).toString('base64')
  return client.createPaymentPayload(decodePaymentRequiredHeader(header))
}

/** The stock client of MPP for MCP, which pays by itself. */
export async function mppToolClient(
  baseUrl: string,
  { wallet, rpcUrl }: Wallet,
  onPaymentRequired: () => boolean,
): Promise<ToolClient> {
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey)
  const client = await openEarlierClient(baseUrl)
  McpClient.wrap(client, { methods: [charge({ signer, rpcUrl })], onPaymentRequired })
  return {
    listTools: () => client.listTools(),
    callTool: async (call) => toolResult.parse(await client.callTool(call)),
  }
}

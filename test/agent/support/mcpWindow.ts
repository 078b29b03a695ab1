import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { serveMcp } from '@tollbook/agent/mcp/serveMcp'
import type { HostTools } from '@tollbook/agent/mcp/serviceTools'
import type { WalletClient } from '@tollbook/agent/client/walletClient'
import { afterFile } from '../../support/afterFile.ts'

export interface ToolAnswer {
  readonly isError: boolean
  /** First the text of the wallet, then that of the service. */
  readonly texts: readonly string[]
}

export interface Window {
  readonly client: Client
  call(name: string, given?: Record<string, unknown>): Promise<ToolAnswer>
}

export interface WindowOptions {
  /** The person's answer. Undefined: the host cannot ask. */
  readonly onAsked?: (message: string) => boolean | Promise<boolean>
  readonly isModern?: boolean
  readonly hostTools?: readonly HostTools[]
}

const content = z.array(z.object({ type: z.literal('text'), text: z.string() }))

/** One window of a host: a client of MCP and the server that the host would start. */
export async function openWindow(
  wallet: WalletClient,
  { onAsked, isModern = false, hostTools = [] }: WindowOptions = {},
): Promise<Window> {
  const [hostSide, transport] = InMemoryTransport.createLinkedPair()
  const server = serveMcp({ version: '0.0.0', wallet, hostTools, report: () => undefined, transport })
  const client = new Client(
    { name: 'test host', version: '1' },
    {
      ...(onAsked === undefined ? {} : { capabilities: { elicitation: { form: {} } } }),
      ...(isModern ? { versionNegotiation: { mode: 'auto' } } : {}),
    },
  )
  if (onAsked !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) =>
      (await onAsked(params.message)) ? { action: 'accept', content: { pay: true } } : { action: 'decline' },
    )
  await client.connect(hostSide)
  afterFile(async () => {
    await client.close()
    await server.close()
  })
  return {
    client,
    async call(name, given = {}) {
      const result = await client.callTool({ name, arguments: given })
      return { isError: result.isError === true, texts: content.parse(result.content).map(({ text }) => text) }
    },
  }
}

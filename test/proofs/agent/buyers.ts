import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'

/** A front end as its user sees it: it buys one answer, and its process can be killed meanwhile. */
export interface Buyer {
  readonly name: string
  /** Throws if the front end is gone. */
  buy(url: string): Promise<Bought>
  kill(): void
  restart(): Promise<void>
  close(): Promise<void>
}

export type Bought =
  | { readonly kind: 'answered'; readonly body: string }
  | { readonly kind: 'refused'; readonly code: string }

const mainFile = fileURLToPath(new URL('../../../packages/agent/src/main.ts', import.meta.url))
const callTimeoutMs = 120_000
const content = z.object({ isError: z.boolean().optional(), content: z.array(z.object({ text: z.string() })) })
const refused = z.object({ refused: z.string() })

/** One window of a host of MCP. */
export async function openWindowBuyer(name: string, folder: string): Promise<Buyer> {
  const start = async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [mainFile, 'mcp', '--folder', folder],
      stderr: 'ignore',
    })
    const client = new Client({ name, version: '1' })
    await client.connect(transport)
    return { client, transport }
  }
  let window = await start()
  return {
    name,
    async buy(url) {
      const call = { name: 'pay_and_fetch', arguments: { url } }
      const { isError, content: parts } = content.parse(await window.client.callTool(call, { timeout: callTimeoutMs }))
      const [own, body] = parts.map(({ text }) => text)
      if (isError === true)
        return { kind: 'refused', code: refused.safeParse(JSON.parse(own ?? '')).data?.refused ?? `${own}` }
      return { kind: 'answered', body: body ?? '' }
    },
    kill: () => killPid(window.transport.pid),
    async restart() {
      await window.client.close().catch(() => undefined)
      window = await start()
    },
    close: () => window.client.close(),
  }
}

/** A program behind the proxy. */
export async function openProxyBuyer(folder: string, key: () => Promise<string>): Promise<Buyer> {
  const start = async () => {
    const child = spawn(process.execPath, [mainFile, 'proxy', '--folder', folder, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const lines = createInterface({ input: child.stdout })
    for await (const line of lines) return { child, baseUrl: line.replace('proxy on ', '') }
    throw new Error('the proxy does not start')
  }
  let proxy: { readonly child: ChildProcess; readonly baseUrl: string } = await start()
  return {
    name: 'proxy',
    async buy(url) {
      const { host, pathname, search } = new URL(url)
      const response = await fetch(`${proxy.baseUrl}/${host}${pathname}${search}`, {
        headers: { authorization: `Bearer ${await key()}`, 'content-type': 'application/json' },
      })
      const body = await response.text()
      if (response.ok) return { kind: 'answered', body }
      return {
        kind: 'refused',
        code: z.object({ error: z.object({ code: z.string() }) }).parse(JSON.parse(body)).error.code,
      }
    },
    kill: () => killPid(proxy.child.pid),
    async restart() {
      if (proxy.child.exitCode === null && proxy.child.signalCode === null) await once(proxy.child, 'exit')
      proxy = await start()
    },
    async close() {
      proxy.child.kill('SIGTERM')
      await once(proxy.child, 'exit')
    },
  }
}

export function killPid(pid: number | undefined | null): void {
  if (typeof pid !== 'number') return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

// A front end that is being restarted gives a program nothing but errors of its connection.
const pauseMs = 50
const repeatsMax = 2_000

/** Repeats a purchase as an agent does, until it has an answer or a refusal that a repetition cannot change. */
export async function buyUntilAnswered(buyer: Buyer, url: string): Promise<Bought> {
  for (let repeat = 1; repeat <= repeatsMax; repeat++) {
    const bought = await buyer.buy(url).catch(() => undefined)
    if (bought?.kind === 'answered' || (bought !== undefined && !passing.has(bought.code))) return bought
    await systemClock.sleep(pauseMs)
  }
  throw new Error(`${buyer.name} had no answer for ${url} in ${repeatsMax} tries`)
}

// A debit that a killed wallet left is refused if its tab is empty by then, and charged nothing.
const passing = new Set([
  'UNAVAILABLE',
  'WALLET_STOPPED',
  'PAYMENT_NOT_SENT',
  'PAYMENT_REFUSED',
  'PAYMENT_UNSPENT',
  'PAYMENT_UNRESOLVED',
])

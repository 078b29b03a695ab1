import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

export interface BareServer {
  readonly baseUrl: string
  readonly stop: () => void
}

/** Koa and its router with a JSON answer from memory, in a separate process: the limit of what this framework can do. */
export async function startBare(): Promise<BareServer> {
  const entry = fileURLToPath(new URL('bareProcess.ts', import.meta.url))
  const child = spawn(process.execPath, [entry], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line')
  const { port } = z.object({ port: z.int() }).parse(JSON.parse(String(line)))
  return { baseUrl: `http://127.0.0.1:${port}`, stop: () => void child.stdin.end() }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import type { PeerSettings } from './peerSettings.ts'

export interface SpawnedPeer {
  readonly baseUrl: string
  readonly pid: number
  stop(): void
}

export async function spawnPeer(settings: PeerSettings, program = 'peerProcess.ts'): Promise<SpawnedPeer> {
  const entry = fileURLToPath(new URL(`../${program}`, import.meta.url))
  const child = spawn(process.execPath, [entry, JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line')
  const { port } = z.object({ port: z.int() }).parse(JSON.parse(String(line)))
  const pid = assertPresent(child.pid, 'a process that spoke to us has a pid')
  return { baseUrl: `http://127.0.0.1:${port}`, pid, stop: () => void child.stdin.end() }
}

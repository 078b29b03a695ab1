import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { CrashStep } from './crashStep.ts'
import { compileCacheEnv } from '../support/compileCacheEnv.ts'

export interface SpawnedServer {
  readonly baseUrl: string
  readonly pid: number
  /** Returns when the server knows at which step it is to die. */
  arm(step: CrashStep): Promise<void>
  /** Handlers that start from now on wait for `letGo`. */
  hold(): Promise<void>
  letGo(): Promise<void>
  /** Resident memory after a garbage collection; needs `--expose-gc`. */
  residentBytes(): Promise<number>
  /** Settles when the process has gone, with how. */
  readonly gone: Promise<string>
  stop(): Promise<void>
}

export interface SpawnOptions {
  readonly env: Readonly<Record<string, string>>
  readonly runsFile: string
  readonly nodeOptions?: readonly string[]
  /** `ignore` for a server that is expected to fail. */
  readonly stderr?: 'inherit' | 'ignore'
  /** Entry point of another release; by default that of this one. */
  readonly entry?: string
}

const ownEntry = fileURLToPath(new URL('serverProcess.ts', import.meta.url))

export async function spawnServer(options: SpawnOptions): Promise<SpawnedServer> {
  const { env, runsFile, nodeOptions = [], entry = ownEntry, stderr = 'inherit' } = options
  const child = spawn(process.execPath, [...nodeOptions, entry, runsFile], {
    env: { ...compileCacheEnv(), ...env },
    stdio: ['pipe', 'pipe', stderr],
  })
  const gone = once(child, 'exit').then(([code, signal]: unknown[]) => String(signal ?? code))
  // A server that has killed itself does not read its input; `gone` reports that.
  child.stdin.on('error', () => undefined)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async (): Promise<unknown> => {
    const line = await lines.next()
    assert(line.done !== true, 'a server of the proof is ready before it ends')
    return JSON.parse(line.value)
  }
  const tell = async (command: string): Promise<void> => {
    child.stdin.write(`${command}\n`)
    const { done } = z.object({ done: z.string() }).parse(await nextLine())
    assert(done === command, `the server did ${command}`)
  }
  const { port } = z.object({ port: z.int() }).parse(await nextLine())
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    pid: assertPresent(child.pid, 'a process that spoke to us has a pid'),
    gone,
    async arm(step) {
      child.stdin.write(`${step}\n`)
      const { armed } = z.object({ armed: z.string() }).parse(await nextLine())
      assert(armed === step, `the server knows the step ${step}`)
    },
    hold: () => tell('hold'),
    letGo: () => tell('let go'),
    async residentBytes() {
      child.stdin.write('memory\n')
      return z.object({ residentBytes: z.int() }).parse(await nextLine()).residentBytes
    },
    async stop() {
      child.stdin.end()
      await gone
    },
  }
}

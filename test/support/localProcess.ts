import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { afterFile } from './afterFile.ts'
import { compileCacheEnv } from './compileCacheEnv.ts'

/** `local.json`, the contract that tools rely on. */
const localJson = z.object({
  baseUrl: z.string(),
  rpcUrl: z.string(),
  wsUrl: z.string(),
  databaseUrl: z.string(),
  adminDatabaseUrl: z.string(),
  tokenMint: z.string(),
  paymentWallet: z.string(),
  demoWallet: z.object({ address: z.string(), keypairPath: z.string() }),
  mintAuthorityKeypairPath: z.string(),
  receiptKey: z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() }),
  sampleUpstreams: z.object({ mode: z.enum(['auto', 'always']), pageUrl: z.url() }).nullable(),
  financeToken: z.string(),
  auditorToken: z.string(),
})

export interface LocalProcess {
  readonly child: ChildProcess
  /** Lines that it wrote before it listened. */
  readonly printed: readonly string[]
  readonly local: z.infer<typeof localJson>
}

export const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** The environment of a newcomer: nothing but a home. */
export function newcomerEnv(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    ...compileCacheEnv(),
    TOLLBOOK_HOME: home,
    PORT: '0',
    LOG_LEVEL: 'warn',
    // But no browser, which a second of each start would go to.
    RENDER_CONCURRENCY: '0',
  }
}

// A start does not wait for providers. demo.process.test.ts starts without these settings.
export const withoutProviders = { PROVIDER_PROBES: '0', SAMPLE_UPSTREAMS: 'never' }

/**
 * `npm start` in a separate home, as a process that can be killed; stopped after the file if it still runs. `onSpawned`
 * is called at once, before the process has started.
 */
export async function startLocalProcess(
  home: string,
  flags: readonly string[] = [],
  onSpawned?: (child: ChildProcess) => void,
): Promise<LocalProcess> {
  const child = spawn(process.execPath, [mainFile, ...flags], {
    env: { ...newcomerEnv(home), ...withoutProviders },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  afterFile(async () => {
    if (child.exitCode === null && child.signalCode === null) await stopLocalProcess(child)
  })
  onSpawned?.(child)
  const lines = createInterface({ input: assertPresent(child.stdout, 'its output is piped') })
  const printed: string[] = []
  for await (const line of lines) {
    printed.push(line)
    if (line.startsWith('listening on http://'))
      return { child, printed, local: await readLocal(join(home, 'local.json')) }
  }
  throw new Error('the process ended before it listened; its words are above')
}

export async function readLocal(path: string): Promise<LocalProcess['local']> {
  return localJson.parse(JSON.parse(await readFile(path, 'utf8')))
}

/** SIGTERM; the exit code. */
export async function stopLocalProcess(child: ChildProcess): Promise<number | null> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
  return child.exitCode
}

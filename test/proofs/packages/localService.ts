import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { assertPresent } from '@tollbook/core/assert'

/** The service in local mode, which the packed packages are tried on. */
export interface LocalService {
  readonly localJsonPath: string
  stop(): Promise<void>
}

export async function startLocalService(): Promise<LocalService> {
  const home = await mkdtemp(join(tmpdir(), 'tollbook-home-'))
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TOLLBOOK_HOME: home, PORT: '0' }
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: resolve('.'),
    env: { ...env, LOG_LEVEL: 'warn', RENDER_CONCURRENCY: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: assertPresent(child.stdout, 'its output is piped') })
  for await (const line of lines) if (line.startsWith('listening on http://')) break
  const localJsonPath = join(home, 'local.json')
  await readFile(localJsonPath)
  return {
    localJsonPath,
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
      await rm(home, { recursive: true, force: true })
    },
  }
}

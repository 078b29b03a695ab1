import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const entry = fileURLToPath(new URL('../../../src/cli/tollbook.js', import.meta.url))

export interface Ran {
  readonly exitCode: number | null
  readonly output: string
}

export interface Running {
  readonly ended: Promise<Ran>
  /** SIGTERM, and the end of the process. */
  stop(): Promise<Ran>
}

/** Starts a command as an operator calls it. */
export function startTollbook(words: readonly string[], env: Readonly<Record<string, string>>): Running {
  const child = spawn(process.execPath, [entry, ...words], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void (output += chunk.toString()))
  const ended = once(child, 'close').then(() => ({ exitCode: child.exitCode, output }))
  return {
    ended,
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

export function runTollbook(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
  return startTollbook(words, env).ended
}

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Target } from './attack.ts'

export interface Child {
  readonly pid: number | undefined
  /** Ends the process by its stdin. Returns its lines. */
  stop(): Promise<readonly string[]>
}

/** All attacks, or one of them, in a separate process. */
export function startAttacker(target: Target & { readonly only?: string }): Child {
  return startChild('attackerProcess.ts', JSON.stringify(target))
}

/** A script of this folder in a separate process. */
export function startChild(script: string, argument: string): Child {
  const entry = fileURLToPath(new URL(script, import.meta.url))
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(process.execPath, [entry, argument], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const exited = once(child, 'exit')
  return {
    pid: child.pid,
    async stop() {
      child.stdin.end()
      await exited
      return Buffer.concat(chunks).toString('utf8').split('\n').filter(Boolean)
    },
  }
}

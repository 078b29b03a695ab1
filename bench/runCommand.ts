import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'

export interface Ran {
  /** Duration of the whole process, from its start to its end. */
  readonly ms: number
  readonly peakMb: number
  readonly output: string
}

const program = fileURLToPath(new URL('../src/cli/tollbook.js', import.meta.url))
// Output file of peakMemory.ts.
const peakMemoryFd = 3
const peakMemory = fileURLToPath(new URL('peakMemory.ts', import.meta.url))

/** `tollbook` as it is called. It tells its peak itself when it ends; its output is kept, or goes to this file. */
export async function runCommand(words: readonly string[], outputFd?: number): Promise<Ran> {
  const startedAtMs = systemClock.monotonicMs()
  const child = spawn(process.execPath, ['--import', peakMemory, program, ...words], {
    stdio: ['ignore', outputFd ?? 'pipe', 'inherit', 'pipe'],
  })
  const peakPipe = child.stdio[peakMemoryFd]
  assert(peakPipe instanceof Readable, 'the process tells its peak through a pipe')
  const collected = child.stdout === null ? '' : text(child.stdout)
  const [peakKb, output, [code]] = await Promise.all([text(peakPipe), collected, once(child, 'exit')])
  assert(code === 0, `tollbook ${words[0] ?? ''} ends with 0`)
  return { ms: systemClock.monotonicMs() - startedAtMs, peakMb: Number(peakKb) / 1024, output }
}

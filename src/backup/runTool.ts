import { spawn } from 'node:child_process'

export interface ToolCall {
  readonly program: string
  readonly arguments: readonly string[]
  /** Added to a clean environment: a program of Postgres reads many variables, and ours hold secrets. */
  readonly environment?: Readonly<Record<string, string>>
  readonly interrupted?: AbortSignal
  /** Each piece of its messages, for progress. */
  readonly onMessage?: (text: string) => void
}

export interface ToolResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null
  /** The end of what it wrote. */
  readonly output: string
}

// Enough for the message of a failure.
const outputCharactersMax = 4_000
const cleanEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** Runs a program to its end, and asks it to end when the command is interrupted. Rejects when it cannot be started. */
export function runTool({ program, interrupted, onMessage, ...call }: ToolCall): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...call.arguments], {
      env: { ...cleanEnvironment, ...call.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const take = (chunk: Buffer): void => {
      const text = chunk.toString()
      output = `${output}${text}`.slice(-outputCharactersMax)
      onMessage?.(text)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    // SIGINT: pg_receivewal finishes its file, pg_basebackup removes what it wrote.
    const end = (): void => void child.kill('SIGINT')
    interrupted?.addEventListener('abort', end, { once: true })
    if (interrupted?.aborted === true) end()
    child.once('error', reject)
    child.once('close', (exitCode) => {
      interrupted?.removeEventListener('abort', end)
      resolve({ exitCode, output })
    })
  })
}

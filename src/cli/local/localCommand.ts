import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Fault } from '@tollbook/core/fault'
import type { Log } from '../../machine/log.ts'
import type { Home } from './home.ts'
import type { ProvisionedChain } from './provisionChain.ts'

export interface LocalPart {
  readonly home: Home
  readonly chain: ProvisionedChain['chain']
  readonly databaseUrl: string
  readonly log: Log
  readonly onUnexpectedExit: (error: Error) => void
}

export interface LocalCommand extends Pick<LocalPart, 'log' | 'onUnexpectedExit'> {
  readonly command: string
  readonly options?: readonly string[]
  readonly purpose: string
  readonly env: Readonly<Record<string, string>>
}

export interface RunningCommand {
  stop(): Promise<void>
}

const entryFile = fileURLToPath(new URL('../tollbook.js', import.meta.url))

/** Starts a separate process, as in production. Resolves when the command prints its first line: it is then ready. */
export async function spawnLocalCommand(options: LocalCommand): Promise<RunningCommand> {
  const { command, options: given = [], purpose, env, log, onUnexpectedExit } = options
  // The command stops when its stdin ends, so it also stops if local mode is killed.
  const child = spawn(process.execPath, [entryFile, command, ...given, '--until-stdin-ends'], {
    // Use a separate process group, so that Ctrl-C reaches only local mode. Local mode then stops this process after it
    // has finished its own requests.
    detached: true,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // An ended command breaks the pipe, and an error event without a listener would end local mode.
  child.stdin.on('error', () => undefined)
  const gone = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const ready = once(lines, 'line').then(() => true)
  const isReady = await Promise.race([ready, gone.then(() => false)])
  if (!isReady) throw new Fault(`${purpose} did not start`, { retryable: false })
  let isStopping = false
  void gone.then(() => {
    if (isStopping) return
    log.error({ event: 'local_command_exited', command })
    onUnexpectedExit(new Fault(`${purpose} ended`, { retryable: false }))
  })
  return {
    async stop() {
      isStopping = true
      child.stdin.end()
      await gone
    },
  }
}

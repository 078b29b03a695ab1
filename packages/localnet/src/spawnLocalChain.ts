import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { GivenAccount } from './givenAccount.ts'
import type { Log } from './log.ts'
import type { NodeBehaviour } from './nodeBehaviour.ts'

export interface SpawnLocalChainOptions {
  readonly port?: number
  readonly slotMs?: number
  readonly stateDirectory?: string
  /** Behaviour of each RPC node, as in `startLocalChain`. */
  readonly nodes?: readonly NodeBehaviour[]
  readonly accounts?: readonly GivenAccount[]
  readonly log: Log
  readonly onUnexpectedExit?: (fault: Fault) => void
}

export interface SpawnedLocalChain {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly genesisHash: string
  /** One URL per node. The JSON-RPC method `localnet_setNode` changes the behaviour of a node. */
  readonly rpcUrls: readonly string[]
  readonly pid: number
  /** Resolves when the process has ended. With a `stateDirectory`, its state is on disk. */
  stop(): Promise<void>
}

/**
 * Uses a separate process, so that a busy chain and a busy server do not block each other. The chain ends with this
 * process, because it detects that the message channel is closed.
 */
export async function spawnLocalChain(options: SpawnLocalChainOptions): Promise<SpawnedLocalChain> {
  const { log, onUnexpectedExit, ...chainOptions } = options
  const child = fork(entryFile, {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Use a separate process group, so that Ctrl-C in the terminal reaches only this process. This process stops the
    // chain after its own requests.
    detached: true,
    // Do not pass the other environment variables to the child, because they contain secrets.
    env: compileCacheEnv(),
  })
  const lastWords = passLogOn(child, log)
  const exited = whenGone(child)
  // Ignore a failure: it means that the process has ended, and `exited` reports the reason.
  child.send(chainOptions, () => undefined)
  const ready = await waitUntilReady({ child, exited, lastWords })
  let stopping = false
  void exited.then((how) => {
    if (stopping) return
    log.error({ how }, 'local_chain_exited')
    onUnexpectedExit?.(exitFault(how, lastWords))
  })
  const stop = async (): Promise<void> => {
    stopping = true
    await stopChild(child, exited)
  }
  return { ...ready, pid: assertPresent(child.pid, 'a process that spoke to us has a pid'), stop }
}

/** The child adds a subfolder for its Node version to the compile cache, so remove it here. */
function compileCacheEnv(): NodeJS.ProcessEnv {
  const directory = getCompileCacheDir()
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) }
}

const entryFile = fileURLToPath(new URL('chainProcess.ts', import.meta.url))

/** Logs the lines of the process. The returned array always has the newest lines. */
function passLogOn({ stderr }: ChildProcess, log: Log): string[] {
  const lastWords: string[] = []
  const input = assertPresent(stderr, 'the process has a pipe for its log')
  createInterface({ input }).on('line', (line) => {
    log.info({ line }, 'local_chain_says')
    lastWords.push(line)
    if (lastWords.length > lastWordsMax) lastWords.shift()
  })
  return lastWords
}

/** Never rejects. Waits for the pipes to close, to have the last lines. */
async function whenGone(child: ChildProcess): Promise<string> {
  try {
    const [code, signal]: unknown[] = await once(child, 'close')
    return typeof signal === 'string' ? `was ended by ${signal}` : `exited with code ${String(code)}`
  } catch (error) {
    return `could not be started: ${String(error)}`
  }
}

interface Waiting {
  readonly child: ChildProcess
  readonly exited: Promise<string>
  readonly lastWords: readonly string[]
}

/**
 * Returns the addresses from the child's first message. If the child ends or sends none within 60 s, kills it and
 * throws a `Fault`.
 */
async function waitUntilReady({ child, exited, lastWords }: Waiting): Promise<z.output<typeof readyMessage>> {
  const done = new AbortController()
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(readyTimeoutMs)])
  const spoken = once(child, 'message', { signal }).then(
    ([message]: unknown[]) => readyMessage.parse(message),
    () => (signal.aborted ? `was not ready after ${readyTimeoutMs} ms` : exited),
  )
  try {
    const first = await Promise.race([spoken, exited])
    if (typeof first !== 'string') return first
    throw exitFault(first, lastWords)
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    done.abort()
  }
}

/** Kills a process that has not ended after 10 s. Acknowledged data of a stored chain is already on disk. */
async function stopChild(child: ChildProcess, exited: Promise<string>): Promise<void> {
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  await exited
  clearTimeout(late)
}

function exitFault(how: string, lastWords: readonly string[]): Fault {
  return new Fault(`the local chain ${how}${lastWords.length === 0 ? '' : `: ${lastWords.join(' | ')}`}`, {
    retryable: false,
  })
}

const readyMessage = z.object({
  rpcUrl: z.string(),
  wsUrl: z.string(),
  genesisHash: z.string(),
  rpcUrls: z.array(z.string()),
})
const lastWordsMax = 5
/** Maximum duration of a start, which takes some seconds with many stored transactions. */
const readyTimeoutMs = 60_000
const stopTimeoutMs = 10_000

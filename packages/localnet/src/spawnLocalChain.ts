import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { type GivenAccount, writeAccount } from './givenAccount.ts'
import type { Log } from './log.ts'
import { type NodeBehaviour, writeNodeBehaviour } from './nodeBehaviour.ts'

export interface SpawnLocalChainOptions {
  readonly port?: number
  readonly slotMs?: number
  readonly stateDirectory?: string
  /** Same as in `startLocalChain`. */
  readonly nodes?: readonly NodeBehaviour[]
  readonly accounts?: readonly GivenAccount[]
  readonly log: Log
  readonly clock?: Clock
  /** Called if the process ends without a request to stop. */
  readonly onUnexpectedExit?: (fault: Fault) => void
}

export interface SpawnedLocalChain {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly genesisHash: string
  /** One URL per node. The JSON-RPC method `localnet_setNode` changes the behaviour of a node. */
  readonly rpcUrls: readonly string[]
  readonly pid: number
  /** Resolves when the process has ended and its state is complete on disk. */
  stop(): Promise<void>
}

/**
 * Runs the local chain in a separate process, so that a busy chain and a busy server do not block each other. It ends
 * whenever this process ends, because it detects the closed pipe at its stdin.
 */
export async function spawnLocalChain(options: SpawnLocalChainOptions): Promise<SpawnedLocalChain> {
  const child = spawn(process.execPath, [entryFile, ...wordsFor(options)], {
    // Use a separate process group: Ctrl-C in the terminal then reaches only us, and we stop the chain after our own
    // requests.
    detached: true,
    // Do not pass on the rest of our environment, which contains secrets.
    env: compileCacheEnv(),
  })
  const lastWords = passLogOn(child, options.log)
  const exited = whenGone(child)
  const clock = options.clock ?? systemClock
  const ready = await waitUntilReady({ child, exited, lastWords, clock })
  let stopping = false
  void exited.then((how) => {
    if (stopping) return
    options.log.error({ how }, 'local_chain_exited')
    options.onUnexpectedExit?.(exitFault(how, lastWords))
  })
  const stop = async (): Promise<void> => {
    stopping = true
    await stopChild({ child, exited, clock })
  }
  return { ...ready, pid: assertPresent(child.pid, 'a process that spoke to us has a pid'), stop }
}

/** Passes on our compile cache, if there is one. Node keeps the modules in a subfolder for its version. */
function compileCacheEnv(): NodeJS.ProcessEnv {
  const directory = getCompileCacheDir()
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) }
}

const entryFile = fileURLToPath(new URL('chainProcess.ts', import.meta.url))

function wordsFor({ port, slotMs, stateDirectory, nodes = [], accounts = [] }: SpawnLocalChainOptions): string[] {
  const words = { '--port': port, '--slot-ms': slotMs, '--state': stateDirectory }
  const options = Object.entries(words).flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]))
  const given = accounts.flatMap((account) => ['--account', writeAccount(account)])
  return [...options, ...nodes.flatMap((node) => ['--node', writeNodeBehaviour(node)]), ...given]
}

/**
 * Forwards the stderr of the process, JSON log lines and sentences, to our log. Returns the newest lines for a fault's
 * message.
 */
function passLogOn(child: ChildProcessWithoutNullStreams, log: Log): string[] {
  const lastWords: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.info({ line }, 'local_chain_says')
    lastWords.push(line)
    if (lastWords.length > lastWordsMax) lastWords.shift()
  })
  // Ignore a broken pipe: the process has ended, and `exit` reports that better.
  child.stdin.on('error', () => undefined)
  return lastWords
}

/** Never rejects. Also waits for the pipes to close, so that the last lines are available. */
async function whenGone(child: ChildProcessWithoutNullStreams): Promise<string> {
  try {
    const [code, signal]: unknown[] = await once(child, 'close')
    return typeof signal === 'string' ? `was ended by ${signal}` : `exited with code ${String(code)}`
  } catch (error) {
    return `could not be started: ${String(error)}`
  }
}

interface Waiting {
  readonly child: ChildProcessWithoutNullStreams
  readonly exited: Promise<string>
  readonly lastWords: readonly string[]
  readonly clock: Clock
}

/** Returns the first line on stdout, or throws the reason for its absence. No timer or listener remains in any case. */
async function waitUntilReady({ child, exited, lastWords, clock }: Waiting): Promise<z.output<typeof readyLine>> {
  const done = new AbortController()
  const spoken = once(createInterface({ input: child.stdout }), 'line', { signal: done.signal })
  const late = clock.sleep(readyTimeoutMs, done.signal).then(() => `was not ready after ${readyTimeoutMs} ms`)
  try {
    const first = await Promise.race([spoken, late, exited])
    if (typeof first === 'string') throw exitFault(first, lastWords)
    return readyLine.parse(JSON.parse(String(first[0])))
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    for (const waiting of [spoken, late]) waiting.catch(() => undefined)
    done.abort()
  }
}

/** Sends SIGTERM first, then SIGKILL. Even a kill loses no acknowledged data, because it is on disk. */
async function stopChild({ child, exited, clock }: Omit<Waiting, 'lastWords'>): Promise<void> {
  child.kill('SIGTERM')
  const gone = new AbortController()
  const late = clock.sleep(stopTimeoutMs, gone.signal).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  )
  await exited
  gone.abort()
  await late
}

function exitFault(how: string, lastWords: readonly string[]): Fault {
  return new Fault(`the local chain ${how}${lastWords.length === 0 ? '' : `: ${lastWords.join(' | ')}`}`, {
    retryable: false,
  })
}

const readyLine = z.object({
  rpcUrl: z.string(),
  wsUrl: z.string(),
  genesisHash: z.string(),
  rpcUrls: z.array(z.string()),
})
const lastWordsMax = 5
/** A start takes 0.3 s. Reading back 100,000 transactions takes a few seconds more. */
const readyTimeoutMs = 60_000
const stopTimeoutMs = 10_000

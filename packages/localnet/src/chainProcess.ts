import '@tollbook/core/quietBindings'
import { parseArgs } from 'node:util'
import { describeError } from '@tollbook/core/fault'
import { type GivenAccount, readAccount } from './givenAccount.ts'
import { createLineLog } from './log.ts'
import { type LocalChain, startLocalChain } from './localChain.ts'
import { type NodeBehaviour, readNodeBehaviour } from './nodeBehaviour.ts'

/*
 * The local chain as a separate process: `node chainProcess.ts --port 8899 --slot-ms 400 --state DIR [--keep] [--node
 * lag=12,freeze ...]`. It prints one JSON line with its address to stdout, and messages for people to stderr.
 */

interface Arguments {
  readonly port: number
  readonly slotMs: number
  readonly stateDirectory: string | undefined
  /** Keeps running after the parent process has ended. */
  readonly keep: boolean
  readonly nodes: readonly NodeBehaviour[]
  readonly accounts: readonly GivenAccount[]
}

try {
  await main(readArguments(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`the local chain did not start: ${describeError(error)}\n`)
  process.exitCode = 1
}

async function main({ port, slotMs, stateDirectory, keep, nodes, accounts }: Arguments): Promise<void> {
  const log = createLineLog('local-chain', process.stderr)
  const state = stateDirectory === undefined ? {} : { stateDirectory }
  const chain = await startLocalChain({
    port,
    slotMs,
    log,
    accounts,
    ...state,
    ...(nodes.length === 0 ? {} : { nodes }),
  })
  stopOnRequest(chain, keep)
  process.stderr.write(`local Solana chain answers at ${chain.rpcUrl} (WebSocket ${chain.wsUrl})\n`)
  const { rpcUrl, wsUrl, genesisHash } = chain
  const rpcUrls = chain.nodes.map((node) => node.rpcUrl)
  process.stdout.write(`${JSON.stringify({ rpcUrl, wsUrl, genesisHash, rpcUrls })}\n`)
}

/** The end of stdin signals that the parent process has ended, even by `kill -9`, which runs no handler. */
function stopOnRequest(chain: LocalChain, keep: boolean): void {
  const stop = (): void => void chain.close().finally(() => process.exit())
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // Stop on a write error, because the reader of our output may exit first.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', stop)
  if (keep || process.stdin.isTTY) return
  process.stdin.once('end', stop)
  process.stdin.once('error', stop)
  process.stdin.resume()
}

function readArguments(words: string[]): Arguments {
  const { values } = parseArgs({
    args: words,
    options: {
      port: { type: 'string', default: '0' },
      'slot-ms': { type: 'string', default: '400' },
      state: { type: 'string' },
      keep: { type: 'boolean', default: false },
      node: { type: 'string', multiple: true, default: [] },
      account: { type: 'string', multiple: true, default: [] },
    },
  })
  return {
    port: readNumber('--port', values.port, 65_535),
    slotMs: readNumber('--slot-ms', values['slot-ms'], 60_000),
    stateDirectory: values.state,
    keep: values.keep,
    nodes: values.node.map(readNodeBehaviour),
    accounts: values.account.map(readAccount),
  }
}

function readNumber(name: string, text: string, max: number): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (value <= max) return value
  throw new Error(`${name} takes a number from 0 to ${max}, not ${JSON.stringify(text)}`)
}

import { once } from 'node:events'
import { Command, InvalidArgumentError } from 'commander'
import { type LocalChain, startLocalChain } from './localChain.ts'
import { createLineLog, type Log } from './log.ts'
import { type NodeBehaviour, nodeBehaviourHelp, readNodeBehaviour } from './nodeBehaviour.ts'

export interface LocalnetDefaults {
  readonly name: string
  /**
   * Called only when the command runs, so that `--help` needs no configuration. `keepsState` is true if the command
   * uses `stateDirectory`.
   */
  readonly settings: (keepsState: boolean) => LocalnetSettings | Promise<LocalnetSettings>
}

interface LocalnetSettings {
  readonly port: number
  readonly stateDirectory: string
  readonly log?: Log
}

interface LocalnetOptions {
  readonly host: string
  readonly port?: number
  readonly slotMs: number
  readonly state?: string
  readonly fresh: boolean
  readonly node?: readonly NodeBehaviour[]
}

export function localnetCommand({ name, settings }: LocalnetDefaults): Command {
  return new Command(name)
    .description('run a local Solana chain for building clients: JSON-RPC and WebSocket over the real runtime')
    .option('--host <address>', 'listening address; anyone who reaches it has full control of the chain', '127.0.0.1')
    .option(
      '--port <port>',
      'JSON-RPC port, 0 for any free one; the WebSocket port is the next (default: 8899)',
      wholeNumberTo(portMax),
    )
    .option('--slot-ms <ms>', 'duration of a slot', wholeNumberTo(slotMsMax), 400)
    .option('--state <folder>', 'folder for the state of the chain')
    .option('--fresh', 'keep no state: the chain ends with this process', false)
    .option('--node <options>', 'an RPC node and its behaviour; repeat it for several nodes', addNode)
    .addHelpText('after', nodeBehaviourHelp)
    .addHelpText('after', '\nThis is not a validator: it has no consensus, no gossip and no votes.')
    .action(async (options: LocalnetOptions) => {
      const keepsState = !options.fresh && options.state === undefined
      const { port, stateDirectory, log = createLineLog(name, process.stderr) } = await settings(keepsState)
      const { host, slotMs } = options
      const nodes = options.node ?? [{}]
      const state = options.fresh ? {} : { stateDirectory: options.state ?? stateDirectory }
      await serve(await startLocalChain({ host, port: options.port ?? port, slotMs, nodes, log, ...state }))
    })
}

async function serve(chain: LocalChain): Promise<void> {
  for (const { rpcUrl, wsUrl } of chain.nodes) process.stdout.write(`listening on ${rpcUrl} (WebSocket ${wsUrl})\n`)
  process.stdout.write(`genesis ${chain.genesisHash}\n`)
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  await chain.close()
}

function addNode(text: string, nodes: readonly NodeBehaviour[] = []): readonly NodeBehaviour[] {
  try {
    return [...nodes, readNodeBehaviour(text)]
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : '')
  }
}

// Highest permitted port: one below 65,535, because the WebSocket uses the next port.
const portMax = 65_534
const slotMsMax = 999_999

function wholeNumberTo(max: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,6}$/.test(text) || Number(text) > max)
      throw new InvalidArgumentError(`must be a whole number from 0 to ${max}.`)
    return Number(text)
  }
}

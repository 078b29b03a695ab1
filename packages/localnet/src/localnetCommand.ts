import { once } from 'node:events'
import { Command, InvalidArgumentError } from 'commander'
import { type LocalChain, startLocalChain } from './localChain.ts'
import { createLineLog, type Log } from './log.ts'

export interface LocalnetDefaults {
  readonly name: string
  /** Asked when the command runs, so that `--help` needs no configuration. */
  readonly settings: () => { readonly port: number; readonly stateDirectory: string; readonly log?: Log }
}

interface LocalnetOptions {
  readonly host: string
  readonly port?: number
  readonly slotMs: number
  readonly state?: string
  readonly fresh: boolean
}

/** Runs the local chain until SIGTERM or Ctrl-C. */
export function localnetCommand({ name, settings }: LocalnetDefaults): Command {
  return new Command(name)
    .description('run a local Solana chain for building clients: JSON-RPC and WebSocket over the real runtime')
    .option('--host <address>', 'listening address; anyone who reaches it has full control of the chain', '127.0.0.1')
    .option(
      '--port <port>',
      'JSON-RPC port, 0 for any free one; the WebSocket port is the next (default: 8899)',
      wholeNumber,
    )
    .option('--slot-ms <ms>', 'duration of a slot', wholeNumber, 400)
    .option('--state <folder>', 'folder for the state of the chain')
    .option('--fresh', 'keep no state: the chain ends with this process', false)
    .addHelpText('after', '\nThis is not a validator: it has no consensus, no gossip and no votes.')
    .action(async (options: LocalnetOptions) => {
      const { port, stateDirectory, log = createLineLog(name, process.stderr) } = settings()
      const { host, slotMs } = options
      const state = options.fresh ? {} : { stateDirectory: options.state ?? stateDirectory }
      await serve(await startLocalChain({ host, port: options.port ?? port, slotMs, log, ...state }))
    })
}

async function serve(chain: LocalChain): Promise<void> {
  process.stdout.write(`listening on ${chain.rpcUrl} (WebSocket ${chain.wsUrl}), genesis ${chain.genesisHash}\n`)
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  await chain.close()
}

function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number.')
  return Number(text)
}

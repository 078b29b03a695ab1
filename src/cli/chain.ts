import { Command, InvalidArgumentError } from 'commander'
import { join } from 'node:path'
import { readConfig } from '../config.ts'
import { startLocalChain } from '@tollbook/localnet/localChain'
import { createLog } from '../primitives/log.ts'
import { untilStopped } from './untilStopped.ts'

interface ChainOptions {
  readonly host: string
  readonly port?: number
  readonly slotMs: number
  readonly state?: string
  readonly fresh: boolean
}

export function chainCommand(): Command {
  return new Command('chain')
    .description('run a local Solana chain alone, for building clients: JSON-RPC and WebSocket over the real runtime')
    .option('--host <address>', 'where it listens; whoever reaches it may do everything with it', '127.0.0.1')
    .option('--port <port>', 'port for both; 0 is any free one (default: LOCAL_CHAIN_PORT, else 8899)', wholeNumber)
    .option('--slot-ms <ms>', 'how long a slot lasts', wholeNumber, 400)
    .option('--state <folder>', 'where it keeps itself (default: chain-alone in TOLLBOOK_HOME)')
    .option('--fresh', 'keep nothing: the chain ends with this process', false)
    .addHelpText('after', '\nIt is not a validator: no consensus, no gossip, no votes. See docs/local-chain.md.')
    .action(runChain)
}

async function runChain(options: ChainOptions): Promise<void> {
  const { logLevel, local } = readConfig()
  const { home, chainPort } = local
  const log = createLog({ level: logLevel, name: 'tollbook chain' })
  const state = options.fresh ? {} : { stateDirectory: options.state ?? join(home, 'chain-alone') }
  const port = options.port ?? (chainPort === 0 ? standardPort : chainPort)
  const { host, slotMs } = options
  const chain = await startLocalChain({ host, port, slotMs, log, ...state })
  process.stdout.write(`listening on ${chain.rpcUrl} (WebSocket ${chain.wsUrl}), genesis ${chain.genesisHash}\n`)
  await untilStopped()
  await chain.close()
}

// Where every Solana tool looks for a local node.
const standardPort = 8_899

function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number.')
  return Number(text)
}

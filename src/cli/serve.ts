import { Command, Option } from 'commander'
import { createService, requireFreePorts } from '../compose.ts'
import {
  type Config,
  isServiceConfig,
  mistypedVariables,
  readConfig,
  sampleModes,
  type StartMode,
  useServiceThreads,
} from '../config.ts'
import type { LocalMode } from './local/localMode.ts'
import { loadLocalMode } from './openLocalService.ts'
import { describeError } from '@tollbook/core/fault'
import { createLog, type Log } from '../machine/log.ts'
import { migrate } from '../store/migrate.ts'
import { closeWhenStopped } from './closeWhenStopped.ts'
import { listeningUrl } from './listeningUrl.ts'

export function sampleUpstreamsOption(): Option {
  const help =
    'local mode only: sample prices, weather, news and chat, marked as samples. auto (default): used while no provider answers; always: no provider is queried; never: no samples'
  return new Option('--sample-upstreams [mode]', help).choices(sampleModes).preset('always')
}

/** Only local mode has a `financeUrl`. */
type Running = Omit<LocalMode, 'localJsonPath' | 'financeUrl'> & Partial<Pick<LocalMode, 'financeUrl'>>

interface ServeFlags {
  readonly sampleUpstreams?: string
  readonly local?: boolean
  readonly products?: string
}

/**
 * `otherwise` is the mode without `--local`. `tollbook serve` never falls back to local mode, because with a mistyped
 * DATABASE_URL the service would then sell its answers for worthless test tokens.
 */
export function serveCommand(otherwise: Exclude<StartMode, 'local'>): Command {
  return new Command('serve')
    .description('start the service; with --local in local mode, with an embedded Postgres and Solana chain')
    .option('--local', 'local mode: for demonstration and development, with test tokens')
    .option('--products <file>', 'sell the products of this file, as PRODUCTS_FILE does')
    .addOption(sampleUpstreamsOption())
    .addHelpText('after', '\nConfigured by environment: docs/operations.md has the table.')
    .action(async ({ sampleUpstreams, local = false, products: productsFile }: ServeFlags) => {
      useServiceThreads()
      const config = readConfig(undefined, { sampleUpstreams, productsFile, start: local ? 'local' : otherwise })
      const code = await serve(config)
      // Exit now, when everything is closed. Without a name server, an abandoned name lookup can keep the process open
      // for 30 s.
      process.exit(code)
    })
}

async function serve(config: Config): Promise<number> {
  const log = createLog({ level: config.logLevel, name: 'tollbook' })
  for (const { name, meant } of mistypedVariables()) log.warn({ event: 'variable_not_read', name, meant })
  let code = 0
  const stopped = new AbortController()
  // Add the listener before the start, because a signal without a listener ends the process. If a signal comes during
  // the start, the start may already have read the file, so the service then reads the file again.
  const started = Promise.withResolvers<Running>()
  if (config.catalog.productsFile !== undefined)
    process.on('SIGHUP', () => void started.promise.then(({ reload }) => reload()))
  const running = await start(config, log, (error) => {
    log.fatal({ event: 'part_lost', error: describeError(error) })
    code = 1
    stopped.abort()
  })
  started.resolve(running)
  // Print this line before the ready line, so that a program that waits for the ready line has already read it.
  if (running.financeUrl !== undefined) process.stdout.write(`finance page ${running.financeUrl}\n`)
  const sampled = running.sampled()
  const samples = sampled.length === 0 ? '' : ` (sample data: ${sampled.join(', ')})`
  process.stdout.write(`listening on ${running.baseUrl}${samples}\n`)

  await closeWhenStopped({ lost: stopped.signal, log, close: running.close })
  return code
}

/** Starts local mode unless the operator has configured a database, a chain and a key. */
async function start(config: Config, log: Log, onPartLost: (error: Error) => void): Promise<Running> {
  if (!isServiceConfig(config)) {
    const { startLocalMode } = await loadLocalMode()
    return startLocalMode(config, { log, migrate, onPartLost })
  }
  await requireFreePorts(config)
  const service = await createService(config, { log })
  const { port, sampled, reload, close } = service
  return { baseUrl: listeningUrl(config.server.host, port), sampled, reload, close }
}

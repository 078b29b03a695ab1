import { createService, type ServiceConfig } from '../compose.ts'
import { type Config, readConfig } from '../config.ts'
import { startLocalMode } from '../local/localMode.ts'
import { describeError } from '../primitives/fault.ts'
import { createLog, type Log } from '../primitives/log.ts'
import { migrate } from '../store/migrate.ts'
import { untilStopped } from './untilStopped.ts'

interface Running {
  readonly baseUrl: string
  close(): Promise<void>
}

/** `npm start`: serves until it is told to stop. Resolves with the process's exit code. */
export async function serve(): Promise<number> {
  const config = readConfig()
  const log = createLog({ level: config.logLevel, name: 'tollbook' })
  let code = 0
  const stopped = new AbortController()
  const running = await start(config, log, (error) => {
    log.fatal({ event: 'part_lost', error: describeError(error) })
    code = 1
    stopped.abort()
  })
  process.stdout.write(`listening on ${running.baseUrl}\n`)

  await untilStopped(stopped.signal)
  log.info({ event: 'stopping' })
  await running.close()
  log.info({ event: 'stopped' })
  return code
}

/** The operator's database and chain, or those of local mode for whatever is not configured. */
async function start(config: Config, log: Log, onPartLost: (error: Error) => void): Promise<Running> {
  if (!isOperated(config)) return startLocalMode(config, { log, migrate, onPartLost })
  const service = await createService(config, { log })
  return { baseUrl: `http://${config.host}:${service.port}`, close: service.close }
}

function isOperated(config: Config): config is ServiceConfig {
  return config.databaseUrl !== undefined && config.chain !== undefined && config.receiptSigningKey !== undefined
}

import { startLocalMode } from '../../src/cli/local/localMode.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { migrate } from '../../src/store/migrate.ts'
import { afterFile } from './afterFile.ts'
import { type LocalProcess, newcomerEnv, readLocal, withoutProviders } from './localProcess.ts'

export interface OpenedLocalMode {
  readonly local: LocalProcess['local']
  close(): Promise<void>
}

export function localConfig(home: string, flags: readonly string[] = []): Config {
  const env = { ...newcomerEnv(home), ...withoutProviders }
  return readConfig(env, flags.length === 0 ? {} : { sampleUpstreams: 'always' })
}

/**
 * The function behind `npm start`, closed after the file. A process loads 2,000 modules first, so only a claim about a
 * process starts one (localProcess.ts). Errors of parts that end by themselves are added to `lost`.
 */
export async function openLocalMode(config: Config, lost: Error[] = []): Promise<OpenedLocalMode> {
  const onPartLost = (error: Error) => void lost.push(error)
  const { localJsonPath, close } = await startLocalMode(config, { log: silentLog, migrate, onPartLost })
  let closing: Promise<void> | undefined
  const closeOnce = () => (closing ??= close())
  afterFile(closeOnce)
  return { local: await readLocal(localJsonPath), close: closeOnce }
}

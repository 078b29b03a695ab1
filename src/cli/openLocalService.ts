import { join } from 'node:path'
import { z } from 'zod'
import { fetchFile } from '@tollbook/client/fetchFile'
import type { Config } from '../config.ts'
import type * as LocalMode from './local/localMode.ts'
import { utf8Text } from '@tollbook/core/bytes'
import { errorCode, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { migrate } from '../store/migrate.ts'
import { type LocalJson, readLocalJson } from './localJson.ts'

export interface OpenServiceOptions {
  readonly log: Log
  readonly onProgress: (step: string) => void
}

/** Uses the service that runs in this home, or starts one. `close` stops the service only if this call started it. */
export async function openLocalService(config: Config, { log, onProgress }: OpenServiceOptions) {
  const localJsonPath = join(config.local.home, 'local.json')
  const running = await readLocalJson(localJsonPath)
  if (running !== undefined && (await answers(running))) {
    // A running service keeps its providers, so this command cannot give it samples.
    if (config.providers.sampleUpstreams === 'always' && running.sampleUpstreams?.mode !== 'always') {
      const why = `the service that runs in ${config.local.home} asks the real providers`
      throw new Fault(`${why}; stop it, or leave out --sample-upstreams`, { retryable: false })
    }
    return { local: running, started: false, close: () => Promise.resolve() }
  }
  const lost = (error: Error) => log.fatal({ event: 'part_lost', error: error.message })
  const { startLocalMode } = await loadLocalMode()
  const localMode = await startLocalMode(config, { log, migrate, onPartLost: lost, onProgress })
  const local = await readLocalJson(localJsonPath)
  if (local === undefined) throw new Fault(`${localJsonPath} was not written`, { retryable: false })
  return { local, started: true, close: () => localMode.close() }
}

/**
 * True if the service of this home answers. `local.json` does not prove that it runs: a stopped service leaves the file
 * behind, and a service of another home may use its port.
 */
async function answers({ baseUrl, receiptKey }: LocalJson): Promise<boolean> {
  // Homes of earlier releases have no key in the file.
  const { x = '' } = publicKey.safeParse(receiptKey).data ?? {}
  // Treat any failure as "not running": the caller then starts a service.
  return fetchFile(new URL('/.well-known/jwks.json', baseUrl).href).then(
    ({ bytes }) => utf8Text(bytes).includes(x),
    () => false,
  )
}

const publicKey = z.object({ x: z.string() })

const advice =
  'set DATABASE_URL, SOLANA_RPC_URLS and RECEIPT_SIGNING_KEY, or install @tollbook/localnet and @tollbook/sandbox (in the repository: `npm ci`): local mode needs an embedded Postgres and a local chain, which a production installation leaves out'

/** Loads local mode only when it is started, because a production installation lacks its packages. */
export async function loadLocalMode(): Promise<typeof LocalMode> {
  try {
    return await import('./local/localMode.ts')
  } catch (cause) {
    if (errorCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Fault(advice, { cause, retryable: false })
  }
}

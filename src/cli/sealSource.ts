import { defaultFetch } from '@tollbook/client/defaultFetch'
import type { Fetch } from '@tollbook/client/solanaRpc'
import type { CommandDeps } from './commandDeps.ts'
import { readLocal } from './localJson.ts'
import { readJsonFile } from '@tollbook/client/command/fileOption'
import { readUrl } from '@tollbook/client/command/urlOption'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

interface SourceOptions {
  readonly baseUrl?: string
  readonly key?: string
}

/**
 * Reads the address and the keys of a service. Without options, uses the service of local mode. `localRpcUrl` is
 * undefined for any other service.
 */
export async function readSealSource(deps: CommandDeps, options: SourceOptions) {
  const local = await readLocal(deps)
  const baseUrl = requireUrl('--base-url', options.baseUrl ?? local?.baseUrl)
  // Use the keys in local.json only for the service that wrote the file, because another service has other keys.
  const own = local !== undefined && URL.parse(local.baseUrl)?.origin === new URL(baseUrl).origin ? local : undefined
  const keys = options.key === undefined ? own?.receiptKey : await readJsonFile('--key', options.key)
  if (keys === undefined) throw new UsageProblem('--key', 'is missing: the public key of the service')
  return { baseUrl, keys, localRpcUrl: own?.rpcUrl }
}

/** Returns the URL. Throws a `UsageProblem` with the name of the option if the URL is missing or invalid. */
export function requireUrl(option: string, url: string | undefined): string {
  if (url === undefined) throw new UsageProblem(option, 'is missing (its default comes from local mode)')
  return readUrl(option, url)
}

/**
 * Creates a `fetch` whose requests also end when the command must stop. A witness may take longer to answer than a stop
 * may take.
 */
export function fetchUntil(stopping: AbortSignal): Fetch {
  return (input, init) => {
    const signals = [stopping, init?.signal].filter((signal) => signal instanceof AbortSignal)
    return defaultFetch(input, { ...init, signal: AbortSignal.any(signals) })
  }
}

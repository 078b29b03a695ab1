import { Fault } from '@tollbook/core/fault'
import type { FinanceSettings } from '../../config/financeSettings.ts'
import type { ServerSettings } from '../../config/serverSettings.ts'
import { isListening } from '../../transport/acceptors.ts'

export interface ListenerSettings {
  readonly server: Pick<ServerSettings, 'host' | 'port' | 'health'>
  readonly finance: Pick<FinanceSettings, 'listener'> | undefined
}

/**
 * Throws when another process listens on a port of the configuration. The listeners open last, so a start looks first: before a
 * database, a chain and migrations, which a service that cannot listen does not need.
 */
export async function requireFreePorts({ server, finance }: ListenerSettings): Promise<void> {
  await requireFree('PORT', server)
  await requireFree('HEALTH_PORT', server.health)
  await requireFree('FINANCE_PORT', finance?.listener)
}

async function requireFree(
  variable: string,
  address: { readonly host: string; readonly port: number } | undefined,
): Promise<void> {
  if (address === undefined || address.port === 0 || !(await isListening(address))) return
  const { host, port } = address
  throw new Fault(
    `port ${port} of ${host} is in use: stop the process that listens there, or set ${variable} to another port, or to 0 for any free one`,
    { retryable: false },
  )
}

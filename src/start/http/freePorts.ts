import { Fault } from '@tollbook/core/fault'
import type { FinanceConfig } from '../../config/financeConfig.ts'
import type { ServerConfig } from '../../config/serverConfig.ts'
import { findListenProblem, isListening } from '../../transport/acceptors.ts'

export interface ListenerConfig {
  readonly server: Pick<ServerConfig, 'host' | 'port' | 'health'>
  readonly finance: Pick<FinanceConfig, 'listener'> | undefined
}

/**
 * Throws if a listener cannot use its address. The listeners open last, so the start checks their ports first. A
 * service that cannot listen then does not open the database and the chain, and runs no migrations.
 */
export async function requireFreePorts({ server, finance }: ListenerConfig): Promise<void> {
  await requireFree('', server)
  await requireFree('HEALTH_', server.health)
  await requireFree('FINANCE_', finance?.listener)
}

async function requireFree(
  prefix: '' | 'HEALTH_' | 'FINANCE_',
  address: { readonly host: string; readonly port: number } | undefined,
): Promise<void> {
  if (address === undefined) return
  const { host, port } = address
  const hostProblem = await findListenProblem({ host, port: 0 })
  if (hostProblem !== undefined)
    throw new Fault(`${prefix}HOST must be an address of this machine (got ${host}: ${hostProblem})`, {
      retryable: false,
    })
  // Port 0 means any free port, so it is never in use.
  if (port === 0) return
  const ways = `set ${prefix}PORT to another port, or to 0 for any free one`
  if (await isListening(address))
    throw new Fault(`port ${port} of ${host} is in use: stop the process that listens there, or ${ways}`, {
      retryable: false,
    })
  // Also covers a port without a right to it, and one that a process uses on another address of this machine.
  const problem = await findListenProblem(address)
  if (problem !== undefined)
    throw new Fault(`port ${port} of ${host} cannot be opened (${problem}): ${ways}`, { retryable: false })
}

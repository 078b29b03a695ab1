import { once } from 'node:events'
import type { Server } from 'node:http'
import { systemClock } from '@tollbook/core/clock'
import { connectWallet } from '../client/walletClient.ts'
import { readPolicyFile } from '../policy/policyFile.ts'
import { openWalletFolder, readOrMakeProxyKey, type WalletFolder } from '../walletFolder.ts'
import { createProxy } from './proxy.ts'

export interface ServeProxyOptions {
  readonly folder: WalletFolder
  readonly port: number
  readonly report: (line: string) => void
  readonly write: (text: string) => void
}

/** Listens on this machine only. */
export async function serveProxy({ folder, port, report, write }: ServeProxyOptions): Promise<Server> {
  await openWalletFolder(folder)
  const { policy } = await readPolicyFile(folder.policy)
  const key = await readOrMakeProxyKey(folder)
  const server = createProxy({ wallet: connectWallet(folder, systemClock), key, report })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  write(`proxy on http://127.0.0.1:${bound}\n`)
  for (const host of Object.keys(policy.hosts)) write(`base URL of ${host}: http://127.0.0.1:${bound}/${host}\n`)
  write(`API key: the text in ${folder.proxyKey}\n`)
  return server
}

import type { Clock } from '@tollbook/core/clock'
import type { Bank } from './bank.ts'
import { ChainNode } from './chainNode.ts'
import type { Log } from './log.ts'
import type { NodeBehaviour } from './nodeBehaviour.ts'
import { closeServers, listenOnPair } from './portPair.ts'
import { RequestWatch } from './requestWatch.ts'
import type { RpcMethods } from './rpcMethod.ts'
import { accountMethods } from './rpcMethods/accountMethods.ts'
import { clusterMethods } from './rpcMethods/clusterMethods.ts'
import { sendMethods } from './rpcMethods/sendMethods.ts'
import { simulateMethods } from './rpcMethods/simulateMethods.ts'
import { tokenMethods } from './rpcMethods/tokenMethods.ts'
import { transactionMethods } from './rpcMethods/transactionMethods.ts'
import { type RpcServiceDeps, answerText } from './rpcService.ts'
import { createSubscriptionServer } from './subscriptionServer.ts'

export interface NodeServerOptions {
  readonly bank: Bank
  readonly clock: Clock
  readonly log: Log
  readonly host: string
  readonly port: number
  readonly behaviour: NodeBehaviour
  readonly control: RpcMethods
  readonly mayReturn: boolean
}

export interface NodeServer {
  readonly node: ChainNode
  readonly watch: RequestWatch
  readonly rpcUrl: string
  readonly wsUrl: string
  close(): Promise<void>
}

export async function startNodeServer(options: NodeServerOptions): Promise<NodeServer> {
  const { bank, clock, log, host, port, control, mayReturn } = options
  const node = new ChainNode({ main: bank, clock })
  node.behave(options.behaviour)
  const watch = new RequestWatch()
  const outage: RpcServiceDeps['outage'] = (method) => node.outage(method)
  const methods = new Map(Object.entries({ ...chainMethods(node), ...control }))
  const service: RpcServiceDeps = { methods, watch, outage, log }
  const sockets = createSubscriptionServer({ bank, watch, log, mayReturn })
  const pair = await listenOnPair({ host, port, log, answer: (text) => answerText(service, text) })
  for (const server of pair.servers) sockets.serve(server)
  const close = async (): Promise<void> => {
    sockets.close()
    await closeServers(pair.servers)
  }
  return { node, watch, ...addresses(host, pair.port), close }
}

function chainMethods(node: ChainNode): RpcMethods {
  return {
    ...clusterMethods(node),
    ...accountMethods(node),
    ...tokenMethods(node),
    ...sendMethods(node),
    ...simulateMethods(node),
    ...transactionMethods(node),
  }
}

/** Both URLs have the same port, so that clients need only one address. */
function addresses(host: string, port: number): { readonly rpcUrl: string; readonly wsUrl: string } {
  // Enclose an IPv6 address in brackets, as URLs require.
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return { rpcUrl: `http://${authority}`, wsUrl: `ws://${authority}` }
}

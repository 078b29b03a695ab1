import { z } from 'zod'
import { type NodeBehaviour, nodeBehaviour } from '../nodeBehaviour.ts'
import { invalidParams } from '../rpcError.ts'
import { type RpcMethods, rpcMethod } from '../rpcMethod.ts'

export interface ControlledNode {
  readonly rpcUrl: string
  behaviour(): NodeBehaviour
  behave(behaviour: NodeBehaviour): void
  requestCounts(): ReadonlyMap<string, number>
}

/** These methods are not part of Solana's RPC. Every node offers them, even while its other methods fail. */
export function controlMethods(nodes: () => readonly ControlledNode[]): RpcMethods {
  const nodeAt = (index: number): ControlledNode => {
    const node = nodes()[index]
    if (node === undefined)
      throw invalidParams(`Invalid params: there are ${nodes().length} nodes, and no node ${index}`)
    return node
  }
  return {
    localnet_nodes: rpcMethod(z.tuple([]).or(z.undefined()), () =>
      nodes().map(({ rpcUrl, behaviour }) => ({ rpcUrl, behaviour: z.json().parse(behaviour()) })),
    ),
    localnet_setNode: rpcMethod(z.tuple([index, nodeBehaviour]), ([at, behaviour]) => {
      nodeAt(at).behave(behaviour)
      return null
    }),
    localnet_requestCounts: rpcMethod(z.tuple([index]), ([at]) => Object.fromEntries(nodeAt(at).requestCounts())),
  }
}

const index = z.int().nonnegative()

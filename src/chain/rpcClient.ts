import type { z } from 'zod'
import { Bug } from '@tollbook/core/assert'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import type { ChainNode } from './chainNode.ts'
import { type RpcClient, RpcRefusal } from './nodeClient.ts'
import type { NodeRegistry } from './nodeRegistry.ts'

export interface RotationDeps {
  readonly nodes: NodeRegistry
  readonly log: Log
}

/**
 * Tries one node after another until a node answers usably. Nodes in rotation come first, and the node that answered is
 * preferred from then on.
 */
export function createRpcClient(deps: RotationDeps): RpcClient {
  return {
    async call(method, params, result) {
      let lastError: unknown
      for (const node of deps.nodes.candidates()) {
        try {
          const value = await callNode(deps, node, { method, params, result })
          deps.nodes.prefer(node)
          return value
        } catch (error) {
          lastError = error
        }
      }
      // Pass on a refusal, because some callers can interpret its code. Any other error leaves the result unknown.
      if (lastError instanceof RpcRefusal) throw lastError
      throw new Fault(`no Solana node answered ${method} usably`, { cause: lastError, retryable: true })
    },
  }
}

/** A result that does not parse counts as no answer. */
export interface Question<T> {
  readonly method: string
  readonly params: readonly unknown[]
  readonly result: z.ZodType<T>
}

/** Calls a node after a check that it is on our network. Logs a failure and throws it again. */
export async function callNode<T>({ nodes, log }: RotationDeps, node: ChainNode, question: Question<T>): Promise<T> {
  const { method, params, result } = question
  try {
    await nodes.admit(node)
    return await node.rpc.call(method, params, result)
  } catch (error) {
    log.warn({ event: 'rpc_failed', method, node: node.name, error: describeError(error) })
    throw error
  }
}

/** Converts a rejection or a missing answer to a retryable `Fault`, because neither proves anything about the chain. */
export async function refusalIsFault<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof Fault || error instanceof Bug) throw error
    const what = error instanceof RpcRefusal ? `refused (${error.code}): ${error.message}` : 'did not answer usably'
    throw new Fault(`the node ${what}`, { cause: error, retryable: true })
  }
}

import { z } from 'zod'
import type { NodeBehaviour } from '@tollbook/localnet/localChain'

/** JSON-RPC to a node of the local chain: to change a node, and to learn the truth from an honest one. */
export interface ChainControl {
  setNode(index: number, behaviour: NodeBehaviour): Promise<void>
  /** Sends to that node only. */
  sendTo(rpcUrl: string, bytes: Uint8Array): Promise<void>
  /** Undefined if it is not on chain; else whether it failed there. */
  landed(signature: string): Promise<{ readonly hasFailed: boolean } | undefined>
  /** Whether the chain still accepts a transaction that names the blockhash. */
  canLand(blockhash: string): Promise<boolean>
}

const reply = z.object({ result: z.unknown().optional(), error: z.unknown().optional() })
const statuses = z.object({ value: z.tuple([z.object({ err: z.unknown() }).nullable()]) })
const validity = z.object({ value: z.boolean() })

export function controlChain(witnessUrl: string): ChainControl {
  const callAt = async (rpcUrl: string, method: string, params: readonly unknown[]): Promise<unknown> => {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = reply.parse(await response.json())
    if (error !== undefined) throw new Error(`${method} failed: ${JSON.stringify(error)}`)
    return result
  }
  const call = (method: string, params: readonly unknown[]): Promise<unknown> => callAt(witnessUrl, method, params)
  return {
    async sendTo(rpcUrl, bytes) {
      const encoded = Buffer.from(bytes).toString('base64')
      await callAt(rpcUrl, 'sendTransaction', [encoded, { encoding: 'base64', skipPreflight: true }])
    },
    async setNode(index, behaviour) {
      await call('localnet_setNode', [index, behaviour])
    },
    async landed(signature) {
      const options = { searchTransactionHistory: true }
      const [status] = statuses.parse(await call('getSignatureStatuses', [[signature], options])).value
      return status === null ? undefined : { hasFailed: status.err !== null && status.err !== undefined }
    },
    async canLand(blockhash) {
      return validity.parse(await call('isBlockhashValid', [blockhash, { commitment: 'processed' }])).value
    },
  }
}

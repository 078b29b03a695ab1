import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { PayerChain } from './payerChain.ts'
import { NodeRefusal } from './solanaRpc.ts'

export interface LandDeps {
  readonly chain: Pick<PayerChain, 'send' | 'findStatus' | 'finalizedTip'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface LandOrder {
  readonly signature: string
  readonly transaction: Uint8Array
  readonly lastValidBlockHeight: number
  /** True if the transaction may have been sent before. A rejection by the node then proves nothing. */
  readonly sentBefore: boolean
}

export type Landing =
  | { readonly outcome: 'confirmed' }
  /** The transaction landed and failed. It moved only the network fee. */
  | { readonly outcome: 'failed' }
  /** The transaction has not landed, and its blockhash has expired. */
  | { readonly outcome: 'expired' }
  /** The node rejected the transaction in preflight and did not send it. */
  | { readonly outcome: 'rejected'; readonly why: string }

// 120 seconds in total, because a blockhash lasts about a minute and its expiry must then become final.
const pollMs = 500
const pollsMax = 240
// Send again every 2 seconds, because nodes drop transactions under load.
const resendEvery = 4
const expiryEvery = 8

/**
 * Sends the transaction until it has landed or can no longer land, unless the node rejects the first sending. Throws a
 * fault if neither is certain after about two minutes.
 */
export async function landTransaction(deps: LandDeps, order: LandOrder): Promise<Landing> {
  if (!order.sentBefore) {
    const refusal = await sendFirst(deps, order)
    if (refusal !== undefined) return { outcome: 'rejected', why: refusal }
  }
  for (let poll = order.sentBefore ? 0 : 1; poll < pollsMax; poll++) {
    const status = await unlessFault(deps.chain.findStatus(order.signature))
    if (status === 'confirmed' || status === 'failed') return { outcome: status }
    if (status === 'not_found') {
      const isExpired = poll % expiryEvery === 0 && (await fateOf(deps.chain, order)) === 'never'
      if (isExpired) return { outcome: 'expired' }
      // Ignore the result of sending again, because the status decides whether the transaction has landed.
      if (poll % resendEvery === 0) await unlessFault(deps.chain.send(order.transaction, { preflight: false }))
    }
    await deps.clock.sleep(pollMs, deps.signal)
  }
  throw new Fault(`not confirmed within ${(pollMs * pollsMax) / 1000} s`, { retryable: true })
}

async function sendFirst({ chain }: LandDeps, { transaction }: LandOrder): Promise<string | undefined> {
  try {
    await chain.send(transaction, { preflight: true })
    return undefined
  } catch (error) {
    if (error instanceof NodeRefusal && !error.retryable) return error.message
    // After any other fault the transaction may have been sent, so poll its status.
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** `open`: the blockhash has not expired in a final block yet, or the node gave no clear answer. */
export type Fate = 'landed' | 'never' | 'open'

/**
 * Finds out whether a transaction has landed or never can. A failed transaction moved no tokens and counts as `never`.
 * The height is read before the status, because no later block can include an expired transaction.
 */
export async function fateOf(
  chain: Pick<PayerChain, 'findStatus' | 'finalizedTip'>,
  { signature, lastValidBlockHeight }: Pick<LandOrder, 'signature' | 'lastValidBlockHeight'>,
): Promise<Fate> {
  const tip = await unlessFault(chain.finalizedTip())
  if (tip === undefined || tip.height <= lastValidBlockHeight) return 'open'
  const status = await unlessFault(chain.findStatus(signature, tip.slot))
  if (status === 'not_found' || status === 'failed') return 'never'
  return status === 'confirmed' ? 'landed' : 'open'
}

/**
 * Resolves to undefined on a fault, because a missing answer of a node proves nothing, and the next request may
 * succeed.
 */
async function unlessFault<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

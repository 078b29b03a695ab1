import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import type { PayerChain } from './payerChain.ts'
import { NodeRefusal } from './solanaRpc.ts'

export interface LandDeps {
  readonly chain: Pick<PayerChain, 'send' | 'findStatus' | 'finalizedTip'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface LandOrder {
  readonly signature: Signature
  readonly transaction: Uint8Array
  readonly lastValidBlockHeight: number
  /** The transaction may have been sent before, so a node's rejection decides nothing. */
  readonly sentBefore: boolean
}

export type Landing =
  | { readonly outcome: 'confirmed' }
  /** It landed, failed, and moved only the fee. */
  | { readonly outcome: 'failed' }
  /** It has not landed and can no longer land. */
  | { readonly outcome: 'expired' }
  /** The node rejected it in preflight and did not send it. */
  | { readonly outcome: 'rejected'; readonly why: string }

// A blockhash lives for about a minute. Its expiry counts once it is final, 13 seconds later.
const pollMs = 500
const pollsMax = 240
// Nodes drop transactions under load. The same bytes are the same payment, however often they are sent.
const resendEvery = 4
const expiryEvery = 8

/** Sends a transaction and waits until it is confirmed or can no longer land. Throws a fault while neither is known. */
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
      // Ignore the result of sending again: the status decides.
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
    // Any other fault leaves open whether it was sent, so only the chain can tell.
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** `open` until the blockhash has expired at finality, and while the node does not answer. */
export type Fate = 'landed' | 'never' | 'open'

/**
 * A failed transaction moved nothing and counts as `never`. Read the height before the status: after expiry no block
 * can take the transaction any more.
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

/** Undefined for a fault: a missing answer of a node proves nothing, and the next lookup may succeed. */
async function unlessFault<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

import type { PayableRequest } from './payableRequest.ts'
import type { PaymentStore, PaymentTurn } from './paymentStore.ts'
import { rejectionOf } from './timeLimit.ts'

/** A turn lasts while at least one call or open payment of this payer uses it. */
export interface SharedTurn {
  readonly order: string
  readonly begun: Promise<PaymentTurn>
  readonly stop: AbortController
  hasBegun: boolean
  users: number
}

const freeTurn: PaymentTurn = { answered: [], end: () => Promise.resolve() }

/**
 * Calls of one payer for the same order share a turn. A call with an idempotency key does not share a turn, but waits
 * like another process.
 */
export function createSharedTurns(store: PaymentStore | undefined) {
  const shared = new Map<string, SharedTurn>()
  const current = new Map<string, SharedTurn>()
  const begin = (order: string): SharedTurn => {
    const stop = new AbortController()
    const begun = store?.takeTurn?.(order, stop.signal) ?? Promise.resolve(freeTurn)
    const turn: SharedTurn = { order, begun, stop, hasBegun: false, users: 0 }
    begun.then(
      () => {
        turn.hasBegun = true
        if (turn.users > 0) current.set(order, turn)
      },
      // Ignore the rejection here, because each caller gets it from `begun`.
      () => undefined,
    )
    return turn
  }
  const leave = async (turn: SharedTurn): Promise<void> => {
    turn.users--
    if (turn.users > 0) return
    if (shared.get(turn.order) === turn) shared.delete(turn.order)
    if (current.get(turn.order) === turn) current.delete(turn.order)
    turn.stop.abort()
    const begun = await turn.begun.catch(() => undefined)
    await begun?.end()
  }
  return {
    /**
     * Joins or begins the turn of the order. Returns the turn, and the payments of other payers that were answered
     * while this call waited.
     */
    async join(order: string, { idempotencyKey, signal }: PayableRequest) {
      signal.throwIfAborted()
      const isShared = idempotencyKey === undefined
      const turn = (isShared ? shared.get(order) : undefined) ?? begin(order)
      if (isShared) shared.set(order, turn)
      turn.users++
      const waits = !turn.hasBegun
      const over = new AbortController()
      try {
        const { answered } = await Promise.race([turn.begun, rejectionOf(signal, over.signal)])
        return { turn, answered: waits ? answered : [] }
      } catch (error) {
        await leave(turn)
        throw error
      } finally {
        over.abort()
      }
    },
    /** Extends the current turn of an order for an open payment, until `leave`. Undefined if the order has no turn. */
    hold(order: string): SharedTurn | undefined {
      const turn = current.get(order)
      if (turn !== undefined) turn.users++
      return turn
    },
    leave,
  }
}

import { LRUCache } from 'lru-cache'
import type { Address } from '@tollbook/core/address'
import type { SimulatedEffects } from '../../payment/proof.ts'
import type { TransactionRecord } from '../../payment/transactionRecord.ts'

export type KnownPayers = ReturnType<typeof createKnownPayers>

type PaidRecord = Pick<TransactionRecord, 'signature' | 'slot' | 'balances'>

interface KnownPayer {
  earned: number
  /**
   * The newest payments that have earned a sending, in the order of their slots. A payment that is presented many times
   * at once is verified each time, but earns only one sending.
   */
  counted: readonly Pick<PaidRecord, 'signature' | 'slot'>[]
  slot: number
  /** Balances of the token accounts that only this wallet owns, after the newest known payment. */
  heldBaseUnits: ReadonlyMap<Address, bigint>
}

const earnedMax = 16
// Maximum of remembered payments. An older payment than these earns nothing, because it may have earned before.
const countedMax = 16
// Minimum ratio of the balance to the amount that the transaction spends. Twice `earnedMax`, because other sendings of
// the wallet may be in progress.
const timesHeldMin = 32n
const payersMax = 10_000
const knownForMs = 600_000

/**
 * Tracks wallets that have just paid. The service sends a plain transaction of such a wallet without a separate
 * rehearsal, because the receiving node rehearses it. Each payment earns one such sending. A wallet therefore cannot
 * cause more recorded transactions that never land than it has made payments.
 */
export function createKnownPayers(mint: Address, now: () => number) {
  const payers = new LRUCache<Address, KnownPayer>({ max: payersMax, ttl: knownForMs, ttlResolution: 0, perf: { now } })
  return {
    /** Lets the wallet earn at most one sending per payment. The payment must be on chain and meet its price. */
    paid(wallet: Address, { signature, slot, balances }: PaidRecord): void {
      const known = payers.get(wallet)
      const counted = known?.counted ?? []
      const mayHaveEarned = counted.length === countedMax && slot <= (counted[0]?.slot ?? 0)
      if (mayHaveEarned || counted.some((each) => each.signature === signature)) return
      const isNewest = known === undefined || slot >= known.slot
      const own = balances.filter((balance) => {
        return balance.mint === mint && balance.ownersSeen.length === 1 && balance.ownersSeen[0] === wallet
      })
      payers.set(wallet, {
        earned: Math.min(earnedMax, (known?.earned ?? 0) + 1),
        counted: [...counted, { signature, slot }].toSorted((one, other) => one.slot - other.slot).slice(-countedMax),
        slot: isNewest ? slot : known.slot,
        heldBaseUnits: isNewest
          ? new Map(own.map(({ tokenAccount, afterBaseUnits }) => [tokenAccount, afterBaseUnits]))
          : known.heldBaseUnits,
      })
    },
    has: (wallet: Address) => (payers.get(wallet)?.earned ?? 0) > 0,
    /** True if the wallet holds enough for all transactions that it may send. One earned sending is then used up. */
    take(wallet: Address, { movements }: Pick<SimulatedEffects, 'movements'>): boolean {
      const known = payers.get(wallet)
      if (known === undefined || known.earned === 0) return false
      const spentBaseUnits = movements.reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
      const isCovered = movements.every((movement) => {
        const heldBaseUnits = movement.kind === 'mintTo' ? undefined : known.heldBaseUnits.get(movement.source)
        const isOwn = movement.mint === mint && movement.authority === wallet
        return isOwn && heldBaseUnits !== undefined && heldBaseUnits >= spentBaseUnits * timesHeldMin
      })
      if (!isCovered) return false
      known.earned--
      return true
    },
  }
}

import { LRUCache } from 'lru-cache'
import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { SimulatedEffects } from '../../payment/proof.ts'
import type { TransactionRecord } from '../../payment/transactionRecord.ts'

/**
 * Wallets that have just paid. A plain transaction of such a wallet is sent without a separate rehearsal: the node that takes it
 * rehearses it. Each payment earns one, so that an intent on record which never lands has been paid for.
 */
export interface KnownPayers {
  /** A payment of the wallet is on chain and has met its price. */
  paid(wallet: Address, record: Pick<TransactionRecord, 'signature' | 'slot' | 'balances'>): void
  /** Whether the wallet has earned a sending. */
  has(wallet: Address): boolean
  /** Whether the wallet has certainly enough for all that it may send. Uses up one payment if so. */
  take(wallet: Address, effects: SimulatedEffects): boolean
}

interface KnownPayer {
  earned: number
  /** Newest payments that have earned a sending. One that is presented many times at once is verified as often. */
  counted: readonly Signature[]
  /** Slot of the newest payment seen. */
  slot: number
  /** Token accounts of the wallet alone, with what they held after that payment. */
  heldBaseUnits: ReadonlyMap<Address, bigint>
}

const earnedMax = 16
// As many signatures are remembered as sendings can be earned, so that no set of payments earns more sendings than it has payments.
const countedMax = earnedMax
// More than the payments that may be in progress at a time.
const timesHeldMin = 32n
const payersMax = 10_000
const knownForMs = 600_000

export function createKnownPayers(mint: Address, now: () => number): KnownPayers {
  const payers = new LRUCache<Address, KnownPayer>({ max: payersMax, ttl: knownForMs, ttlResolution: 0, perf: { now } })
  return {
    paid(wallet, { signature, slot, balances }) {
      const known = payers.get(wallet)
      if (known?.counted.includes(signature) === true) return
      const isNewest = known === undefined || slot >= known.slot
      const own = balances.filter((balance) => {
        return balance.mint === mint && balance.ownersSeen.length === 1 && balance.ownersSeen[0] === wallet
      })
      payers.set(wallet, {
        earned: Math.min(earnedMax, (known?.earned ?? 0) + 1),
        counted: [...(known?.counted ?? []), signature].slice(-countedMax),
        slot: isNewest ? slot : known.slot,
        heldBaseUnits: isNewest
          ? new Map(own.map(({ tokenAccount, afterBaseUnits }) => [tokenAccount, afterBaseUnits]))
          : known.heldBaseUnits,
      })
    },
    has: (wallet) => (payers.get(wallet)?.earned ?? 0) > 0,
    take(wallet, { movements }) {
      const known = payers.get(wallet)
      if (known === undefined || known.earned === 0) return false
      const spent = movements.reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
      const isCovered = movements.every((movement) => {
        const held = movement.kind === 'mintTo' ? undefined : known.heldBaseUnits.get(movement.source)
        const isOwn = movement.mint === mint && movement.authority === wallet
        return isOwn && held !== undefined && held >= spent * timesHeldMin
      })
      if (!isCovered) return false
      known.earned--
      return true
    },
  }
}

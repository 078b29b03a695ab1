import type { Address } from '@tollbook/core/address'
import type { TransactionRecord } from '../payment/transactionRecord.ts'

/** Amount of a round, and the accounts from which it may burn. */
export interface BurnToMatch {
  readonly mint: Address
  readonly baseUnits: bigint
  /**
   * Token accounts of the payment wallets on record. A round that was sent before a change of the wallet burned from
   * the former wallet.
   */
  readonly paymentAccounts: readonly Address[]
}

/**
 * Returns why this transaction is not a burn of exactly this amount from one payment wallet. Undefined if the
 * transaction matches.
 */
export function findMismatch(record: TransactionRecord, burn: BurnToMatch): string | undefined {
  const found = burn.paymentAccounts.map((account) => burnOf(record, account, burn.mint))
  const touched = found.filter(({ burned, left }) => burned !== 0n || left !== 0n)
  const [only = { burned: 0n, left: 0n }] = touched
  if (touched.length === 1 && only.burned === burn.baseUnits && only.left === burn.baseUnits) return undefined
  if (touched.length > 1) return 'it changes more than one payment wallet'
  return `it burned ${only.burned} base units, ${only.left} left the payment wallet, and the round is ${burn.baseUnits}`
}

function burnOf({ movements, balances }: TransactionRecord, account: Address, mint: Address) {
  const burned = movements
    .filter((movement) => movement.kind === 'burn' && movement.mint === mint && movement.source === account)
    .reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
  const left = balances
    .filter((balance) => balance.tokenAccount === account && balance.mint === mint)
    .reduce((sum, { beforeBaseUnits, afterBaseUnits }) => sum + beforeBaseUnits - afterBaseUnits, 0n)
  return { burned, left }
}

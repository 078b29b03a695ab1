import type { Address } from '@tollbook/core/address'
import type { TransactionRecord } from '../payment/transactionRecord.ts'

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
 * Undefined if the transaction burns exactly this amount from one payment wallet, and changes the balances of the
 * payment wallets in this mint in no other way.
 */
export function findMismatch(record: TransactionRecord, burn: BurnToMatch): string | undefined {
  const found = burn.paymentAccounts.map((account) => burnOf(record, account, burn.mint))
  const [only = { burnedBaseUnits: 0n, leftBaseUnits: 0n }, ...others] = found.filter(
    (each) => each.burnedBaseUnits !== 0n || each.leftBaseUnits !== 0n,
  )
  if (others.length > 0) return 'it changes more than one payment wallet'
  const { burnedBaseUnits, leftBaseUnits } = only
  if (burnedBaseUnits === burn.baseUnits && leftBaseUnits === burn.baseUnits) return undefined
  return `it burned ${burnedBaseUnits} base units, ${leftBaseUnits} left the payment wallet, and the round is ${burn.baseUnits}`
}

function burnOf({ movements, balances }: TransactionRecord, account: Address, mint: Address) {
  const burnedBaseUnits = movements
    .filter((movement) => movement.kind === 'burn' && movement.mint === mint && movement.source === account)
    .reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
  const leftBaseUnits = balances
    .filter((balance) => balance.tokenAccount === account && balance.mint === mint)
    .reduce((sum, { beforeBaseUnits, afterBaseUnits }) => sum + beforeBaseUnits - afterBaseUnits, 0n)
  return { burnedBaseUnits, leftBaseUnits }
}

import type { PaymentTerms } from '../payment/settlement.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'

/** Why this transaction is not a burn of exactly this amount out of the payment wallet. Undefined when it is. */
export function findMismatch(
  { movements, balances }: TransactionRecord,
  baseUnits: bigint,
  { mint, paymentTokenAccount }: PaymentTerms,
): string | undefined {
  const burned = movements
    .filter((movement) => movement.kind === 'burn' && movement.mint === mint && movement.source === paymentTokenAccount)
    .reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
  const own = balances.filter((balance) => balance.tokenAccount === paymentTokenAccount && balance.mint === mint)
  const left = own.reduce((sum, { beforeBaseUnits, afterBaseUnits }) => sum + beforeBaseUnits - afterBaseUnits, 0n)
  if (burned === baseUnits && left === baseUnits) return undefined
  return `it burned ${burned} base units, ${left} left the payment wallet, and the round is ${baseUnits}`
}

import type { Address } from '@tollbook/core/address'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'

type Wallets = readonly Pick<PaymentTerms, 'mint' | 'paymentTokenAccount'>[]

/** Change of the balances of our token accounts. Negative when tokens left. */
export function arrivedBaseUnits({ balances }: Pick<TransactionRecord, 'balances'>, wallets: Wallets): bigint {
  return balances
    .filter(({ tokenAccount, mint }) =>
      wallets.some((own) => own.paymentTokenAccount === tokenAccount && own.mint === mint),
    )
    .reduce((sum, { beforeBaseUnits, afterBaseUnits }) => sum + afterBaseUnits - beforeBaseUnits, 0n)
}

/** Burned of our mint by anyone in the transaction. */
export function burnedBaseUnits({ movements }: Pick<TransactionRecord, 'movements'>, wallets: Wallets): bigint {
  return movements
    .filter(({ kind, mint }) => kind === 'burn' && wallets.some((own) => own.mint === mint))
    .reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
}

/** The authority of most of what was sent to us; else the first signer. */
export function payerOf({ movements, signers }: TransactionRecord, wallets: Wallets): Address | undefined {
  const sent = movements
    .filter((movement) => movement.kind === 'transfer')
    .filter(({ destination }) => wallets.some(({ paymentTokenAccount }) => paymentTokenAccount === destination))
    .toSorted((one, other) => (one.amountBaseUnits > other.amountBaseUnits ? -1 : 1))
  return sent[0]?.authority ?? signers[0]
}

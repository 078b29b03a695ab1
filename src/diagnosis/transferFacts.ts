import type { Address } from '@tollbook/core/address'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'

type Wallets = readonly Pick<PaymentTerms, 'mint' | 'paymentTokenAccount'>[]

/** Returns the change of the balances of the service's token accounts. Negative if tokens left. */
export function arrivedBaseUnits({ balances }: Pick<TransactionRecord, 'balances'>, wallets: Wallets): bigint {
  return balances
    .filter(({ tokenAccount, mint }) =>
      wallets.some((own) => own.paymentTokenAccount === tokenAccount && own.mint === mint),
    )
    .reduce((sum, { beforeBaseUnits, afterBaseUnits }) => sum + afterBaseUnits - beforeBaseUnits, 0n)
}

/** Returns the amount of the mint that anyone burned in the transaction. */
export function burnedBaseUnits({ movements }: Pick<TransactionRecord, 'movements'>, wallets: Wallets): bigint {
  return movements
    .filter(({ kind, mint }) => kind === 'burn' && wallets.some((own) => own.mint === mint))
    .reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
}

/** Returns the authority of the largest transfer to a payment wallet. Without one, the first signer. */
export function payerOf({ movements, signers }: TransactionRecord, wallets: Wallets): Address | undefined {
  const sent = movements
    .filter((movement) => movement.kind === 'transfer')
    .filter(({ destination }) => wallets.some(({ paymentTokenAccount }) => paymentTokenAccount === destination))
    .toSorted((one, other) => (one.amountBaseUnits > other.amountBaseUnits ? -1 : 1))
  return sent[0]?.authority ?? signers[0]
}

/** Returns the terms of one mint: of the payment's price, or else of the mint that arrived. No sum has two mints. */
export function termsOfOneMint(
  all: readonly PaymentTerms[],
  record: Pick<TransactionRecord, 'balances'> | undefined,
  paidMint?: Address,
): readonly PaymentTerms[] {
  const arrived = record === undefined ? undefined : all.find((terms) => arrivedBaseUnits(record, [terms]) !== 0n)
  const mint = paidMint ?? arrived?.mint ?? all[0]?.mint
  return all.filter((terms) => terms.mint === mint)
}

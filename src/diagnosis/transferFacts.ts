import type { Address } from '@tollbook/core/address'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'

type Wallets = readonly Pick<PaymentTerms, 'mint' | 'paymentTokenAccount'>[]

/** Returns the total change of the service's token accounts in base units. Negative if tokens left the accounts. */
export function arrivedBaseUnits({ balances }: Pick<TransactionRecord, 'balances'>, wallets: Wallets): bigint {
  return balances
    .filter(({ tokenAccount, mint }) =>
      wallets.some((own) => own.paymentTokenAccount === tokenAccount && own.mint === mint),
    )
    .reduce((sum, { beforeBaseUnits, afterBaseUnits }) => sum + afterBaseUnits - beforeBaseUnits, 0n)
}

/** Returns the tokens burned by any account, summed over the mints of `wallets`. Callers pass wallets of one mint. */
export function burnedBaseUnits({ movements }: Pick<TransactionRecord, 'movements'>, wallets: Wallets): bigint {
  return movements
    .filter(({ kind, mint }) => kind === 'burn' && wallets.some((own) => own.mint === mint))
    .reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
}

/** The service owes unmatched tokens to this wallet: the authority of the largest transfer, or else the first signer. */
export function payerOf({ movements, signers }: TransactionRecord, wallets: Wallets): Address | undefined {
  const sent = movements
    .filter((movement) => movement.kind === 'transfer')
    .filter(({ destination }) => wallets.some(({ paymentTokenAccount }) => paymentTokenAccount === destination))
    .toSorted((one, other) => (one.amountBaseUnits > other.amountBaseUnits ? -1 : 1))
  return sent[0]?.authority ?? signers[0]
}

/**
 * Returns the terms of one mint: the mint of the payment's price, or else the mint that arrived. Amounts of two mints
 * must not be added.
 */
export function termsOfOneMint(
  all: readonly PaymentTerms[],
  record: Pick<TransactionRecord, 'balances'> | undefined,
  paidMint?: Address,
): readonly PaymentTerms[] {
  const arrived = record === undefined ? undefined : all.find((terms) => arrivedBaseUnits(record, [terms]) !== 0n)
  const mint = paidMint ?? arrived?.mint ?? all[0]?.mint
  return all.filter((terms) => terms.mint === mint)
}

import type { Address } from '@tollbook/core/address'
import { senderOf } from '../payment/finality.ts'
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

/** Returns the wallet that sent the tokens, as the search for transfers records it. Callers pass wallets of one mint. */
export function senderTo(record: TransactionRecord, wallets: Wallets): Address | undefined {
  const accounts = wallets.map(({ paymentTokenAccount }) => paymentTokenAccount)
  return wallets[0] && senderOf(record, wallets[0].mint, accounts)
}

/**
 * Returns the terms of one mint: the mint of the payment's price, or else the mint that arrived, or else the first
 * mint. Amounts of two mints must not be added.
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

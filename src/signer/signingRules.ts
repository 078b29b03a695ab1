/** A day begins at midnight UTC. */
export interface LamportLimits {
  readonly perDayLamports: bigint
  readonly perWalletAndDayLamports: bigint
  readonly perPaymentLamports: bigint
}

/** Rules by which the signer refuses a valid transaction. The text is the reason in the refusal of the payment. */
export const signingRules = {
  perPayment: 'its network fee is higher than is paid for one payment',
  perDay: 'the budget of this day is used up',
  perWalletAndDay: 'the budget of this wallet for this day is used up',
  unsettled: 'another payment of this wallet is not settled yet, and the wallet has never paid before',
  promised: 'the wallet does not hold enough tokens for this payment and those that are on their way',
  failures: 'payments of this wallet failed on chain in the last 24 hours',
  failuresOfAll: 'too many payments of other wallets failed on chain in the last 24 hours',
} as const satisfies Record<string, string>

export type SigningRule = keyof typeof signingRules

export function isSigningRule(text: string): text is SigningRule {
  return Object.hasOwn(signingRules, text)
}

/*
 * Settings of the wallets that receive payments: one for the service token, one for each dollar, and one for deposits
 * on tabs. A payment counts only in the wallet of its mint. Tokens that arrive in another of these wallets are owed
 * back.
 */

export const tabWalletName = 'tab-wallet'
const tokenWalletName = 'payment-wallet'
const dollarPrefix = `${tokenWalletName}/`

export type PaymentWalletName = typeof tokenWalletName | `${typeof dollarPrefix}${string}`

/** Names by which `versions` reads all wallets on record. */
export const everyWallet: readonly string[] = [tokenWalletName, dollarPrefix, tabWalletName]

/** Setting of the wallet that receives payments in a dollar, or without a mint in the service token. */
export function paymentWalletName(dollar?: string): PaymentWalletName {
  return dollar === undefined ? tokenWalletName : `${dollarPrefix}${dollar}`
}

/** Mint of the dollar whose wallet this setting is. Undefined for any other setting. */
export function dollarOfWalletSetting(name: string): string | undefined {
  return name.startsWith(dollarPrefix) ? name.slice(dollarPrefix.length) : undefined
}

export function isWalletSetting(name: string): boolean {
  return name === tokenWalletName || name === tabWalletName || dollarOfWalletSetting(name) !== undefined
}

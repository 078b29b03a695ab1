/*
 * Settings of the wallets that receive payments: one for the service token, one for each dollar token, and one for
 * deposits on tabs. A payment counts only in the wallet of its mint. Tokens that arrive in another of these wallets are
 * owed back.
 */

export const tabWalletName = 'tab-wallet'
const tokenWalletName = 'payment-wallet'
const dollarPrefix = `${tokenWalletName}/`

export type PaymentWalletName = typeof tokenWalletName | `${typeof dollarPrefix}${string}`

/** Names and name prefixes of all wallet settings. */
export const everyWallet: readonly string[] = [tokenWalletName, dollarPrefix, tabWalletName]

/**
 * Returns the name of the setting for the wallet of a dollar token. Without an argument: the wallet of the service
 * token.
 */
export function paymentWalletName(dollar?: string): PaymentWalletName {
  return dollar === undefined ? tokenWalletName : `${dollarPrefix}${dollar}`
}

/** Returns the mint of the dollar token to whose wallet this setting belongs. Undefined for any other setting. */
export function dollarOfWalletSetting(name: string): string | undefined {
  return name.startsWith(dollarPrefix) ? name.slice(dollarPrefix.length) : undefined
}

export function isWalletSetting(name: string): boolean {
  return name === tokenWalletName || name === tabWalletName || dollarOfWalletSetting(name) !== undefined
}

/* A payment counts only in the wallet of its mint. Tokens that arrive in another of these wallets are owed back. */

export const tabWalletName = 'tab-wallet'
const tokenWalletName = 'payment-wallet'
const dollarPrefix = `${tokenWalletName}/`

export type PaymentWalletName = typeof tokenWalletName | `${typeof dollarPrefix}${string}`

export const everyWallet: readonly string[] = [tokenWalletName, dollarPrefix, tabWalletName]

/** Without an argument: the wallet of the service token. */
export function paymentWalletName(dollar?: string): PaymentWalletName {
  return dollar === undefined ? tokenWalletName : `${dollarPrefix}${dollar}`
}

export function dollarOfWalletSetting(name: string): string | undefined {
  return name.startsWith(dollarPrefix) ? name.slice(dollarPrefix.length) : undefined
}

export function isWalletSetting(name: string): boolean {
  return name === tokenWalletName || name === tabWalletName || dollarOfWalletSetting(name) !== undefined
}

import { InvalidOption } from './errorCode.ts'
import type { PayerWallet } from './payerWallet.ts'

/** The parts of the Wallet Standard that a payment needs: https://github.com/wallet-standard/wallet-standard */
export interface WalletStandardWallet {
  readonly name: string
  readonly features: Readonly<Record<string, unknown>>
}

export interface WalletStandardAccount {
  readonly address: string
}

export interface StandardWalletOptions {
  readonly wallet: WalletStandardWallet
  /** An account of `wallet.accounts`, after `standard:connect`. */
  readonly account: WalletStandardAccount
  /** Network that the wallet signs for, for example `solana:mainnet`. */
  readonly chain?: string
}

/**
 * Creates a payer's wallet from an account of a browser wallet. Throws `TypeError` if the wallet cannot sign
 * transactions of version 0.
 *
 * @example
 *   import { standardWallet, type StandardWalletOptions } from '@tollbook/client'
 *
 *   // `wallet` and `account` come from the Wallet Standard, after `standard:connect`.
 *   export const payerOf = ({ wallet, account }: StandardWalletOptions) =>
 *     standardWallet({ wallet, account, chain: 'solana:mainnet' })
 */
export function standardWallet({ wallet, account, chain }: StandardWalletOptions): PayerWallet {
  const feature = wallet.features[signTransactionFeature]
  if (!isSignTransaction(feature))
    throw new InvalidOption(`the wallet ${wallet.name} has no ${signTransactionFeature} for transactions of version 0`)
  const request = chain === undefined ? { account } : { account, chain }
  return {
    address: account.address,
    signTransaction: async (transaction) => {
      const [signed] = await feature.signTransaction({ ...request, transaction })
      if (signed === undefined) throw new InvalidOption(`the wallet ${wallet.name} returned no transaction`)
      return signed.signedTransaction
    },
  }
}

const signTransactionFeature = 'solana:signTransaction'

interface SignTransaction {
  readonly supportedTransactionVersions: readonly unknown[]
  signTransaction(input: {
    readonly account: WalletStandardAccount
    readonly transaction: Uint8Array
    readonly chain?: string
  }): Promise<readonly { readonly signedTransaction: Uint8Array }[]>
}

function isSignTransaction(feature: unknown): feature is SignTransaction {
  return (
    typeof feature === 'object' &&
    feature !== null &&
    'signTransaction' in feature &&
    typeof feature.signTransaction === 'function' &&
    'supportedTransactionVersions' in feature &&
    Array.isArray(feature.supportedTransactionVersions) &&
    feature.supportedTransactionVersions.includes(0)
  )
}

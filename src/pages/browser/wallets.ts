/* Wallets for the payment page: those of the Wallet Standard, and the test wallet of local mode. */

import { encodeBase58 } from '@tollbook/core/base58'
import type { PayerWallet } from '@tollbook/client/payerWallet'
import { standardWallet, type WalletStandardAccount, type WalletStandardWallet } from '@tollbook/client/standardWallet'

export interface Wallet {
  readonly name: string
  readonly icon?: string
  readonly connect: () => Promise<PayerWallet>
}

interface Account extends WalletStandardAccount {
  readonly features: readonly string[]
}

interface Connect {
  connect(): Promise<{ readonly accounts: readonly Account[] }>
}

interface RegisteredWallet extends WalletStandardWallet {
  readonly icon: string
}

const signFeature = 'solana:signTransaction'

/**
 * Finds wallets of the Wallet Standard. Those that loaded before the page wait for `app-ready`, and later wallets send
 * `register-wallet`.
 */
export function listenForWallets(chain: string, onWallet: (wallet: Wallet) => void): void {
  const register = (...wallets: readonly RegisteredWallet[]) => {
    for (const wallet of wallets) {
      const connect = wallet.features['standard:connect']
      if (isConnect(connect) && canSign(wallet)) onWallet(payerOf(wallet, connect, chain))
    }
    return () => undefined
  }
  const api = { register }
  addEventListener('wallet-standard:register-wallet', (event) => {
    if (event instanceof CustomEvent) event.detail(api)
  })
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }))
}

function isConnect(feature: unknown): feature is Connect {
  return typeof feature === 'object' && feature !== null && 'connect' in feature
}

function canSign(wallet: RegisteredWallet): boolean {
  try {
    standardWallet({ wallet, account: { address: '' } })
    return true
  } catch {
    // The wallet does not sign transactions of version 0.
    return false
  }
}

function payerOf(wallet: RegisteredWallet, feature: Connect, chain: string): Wallet {
  const { name, icon } = wallet
  return {
    name,
    icon,
    async connect() {
      const { accounts } = await feature.connect()
      const account = accounts.find(({ features }) => features.includes(signFeature)) ?? accounts[0]
      if (account === undefined) throw new Error(`${name} shared no account`)
      return standardWallet({ wallet, account, chain })
    },
  }
}

/** Creates the test wallet, which exists until the page is closed. `fund` sends tokens to it. */
export function createTestWallet(fund: (address: string) => Promise<void>): Wallet {
  let funded: Promise<PayerWallet> | undefined
  const connect = () =>
    (funded ??= makeWallet(fund).catch((error: unknown) => {
      // The next click funds another wallet.
      funded = undefined
      throw error
    }))
  return { name: 'the test wallet', connect }
}

async function makeWallet(fund: (address: string) => Promise<void>): Promise<PayerWallet> {
  // No script may read the private key, not even this one.
  const { privateKey, publicKey } = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify'])
  const address = encodeBase58(new Uint8Array(await crypto.subtle.exportKey('raw', publicKey)))
  await fund(address)
  return {
    address,
    // A transaction with one signer: a count of 1 byte, a signature of 64 bytes, and the message to sign.
    async signTransaction(transaction) {
      const signed = transaction.slice()
      const message = Uint8Array.from(transaction.subarray(65))
      signed.set(new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, message)), 1)
      return signed
    },
  }
}

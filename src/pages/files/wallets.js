/* Wallets of the Wallet Standard, and the test wallet of local mode. Each is { name, icon, connect }; `connect` resolves to { address, sign }. */

import { base58 } from './encoding.js'

const signFeature = 'solana:signTransaction'
const connectFeature = 'standard:connect'

/** Calls back with each wallet of this browser that can sign a transaction of Solana, now and later. */
export function listenForWallets(chain, onWallet) {
  const register = (...wallets) => {
    for (const wallet of wallets) if (canPay(wallet)) onWallet(asPayer(wallet, chain))
    return () => undefined
  }
  const api = { register }
  addEventListener('wallet-standard:register-wallet', ({ detail }) => detail(api))
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }))
}

function canPay({ features }) {
  const versions = features[signFeature]?.supportedTransactionVersions ?? []
  return connectFeature in features && [...versions].includes(0)
}

function asPayer(wallet, chain) {
  return {
    name: wallet.name,
    icon: wallet.icon,
    async connect() {
      const { accounts } = await wallet.features[connectFeature].connect()
      const account = accounts.find(({ features }) => features.includes(signFeature)) ?? accounts[0]
      if (account === undefined) throw new Error(`${wallet.name} shared no account`)
      return {
        address: account.address,
        async sign(transaction) {
          const [signed] = await wallet.features[signFeature].signTransaction({ account, chain, transaction })
          return signed.signedTransaction
        },
      }
    },
  }
}

/** A wallet that lives as long as the page. `fund` gives it tokens. */
export function createTestWallet(fund) {
  let funded
  return { name: 'the test wallet', connect: () => (funded ??= makeWallet(fund)) }
}

async function makeWallet(fund) {
  const { privateKey, publicKey } = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify'])
  const address = base58(new Uint8Array(await crypto.subtle.exportKey('raw', publicKey)))
  await fund(address)
  return {
    address,
    // One signer: a count, the place of its signature, and the message that it signs.
    async sign(transaction) {
      const signed = transaction.slice()
      signed.set(new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, transaction.slice(65))), 1)
      return signed
    },
  }
}

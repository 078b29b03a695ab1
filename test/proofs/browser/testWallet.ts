import type { Page } from 'puppeteer'
import { toBase64Url } from '@tollbook/core/bytes'

export interface WalletKey {
  readonly address: string
  /** The 32 bytes of the private key, then the 32 bytes of the public key, as Solana stores them. */
  readonly secretKey: Uint8Array
}

/** Gives a page a wallet of the Wallet Standard that signs what it is asked. */
export async function registerTestWallet(page: Page, { address, secretKey }: WalletKey): Promise<void> {
  const jwk = {
    kty: 'OKP',
    crv: 'Ed25519',
    d: toBase64Url(secretKey.slice(0, 32)),
    x: toBase64Url(secretKey.slice(32)),
  }
  await page.evaluateOnNewDocument(`
    const address = ${JSON.stringify(address)}
    const key = crypto.subtle.importKey('jwk', ${JSON.stringify(jwk)}, 'Ed25519', false, ['sign'])
    const signTransaction = async ({ transaction }) => {
      const signedTransaction = transaction.slice()
      signedTransaction.set(new Uint8Array(await crypto.subtle.sign('Ed25519', await key, transaction.slice(65))), 1)
      return [{ signedTransaction }]
    }
    const account = { address, features: ['solana:signTransaction'] }
    const wallet = {
      version: '1.0.0', name: 'Test Wallet', icon: 'data:image/svg+xml;base64,PHN2Zy8+', chains: [], accounts: [account],
      features: {
        'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
        'solana:signTransaction': { version: '1.0.0', supportedTransactionVersions: ['legacy', 0], signTransaction },
      },
    }
    addEventListener('wallet-standard:app-ready', ({ detail }) => detail.register(wallet))
  `)
}

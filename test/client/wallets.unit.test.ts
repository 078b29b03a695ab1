import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { keypairWallet } from '@tollbook/client/payerWallet'
import { standardWallet } from '@tollbook/client/standardWallet'
import { sha256 } from '@tollbook/core/digest'
import { openScene, rejectionOf } from './support/payerScene.ts'
import { readPresentedProof } from './support/presentedProof.ts'

const crypto = '/api/data/crypto?symbol=BTC'
const keypair = Keypair.fromSeed(sha256('payer'))
const account = { address: keypair.publicKey.toBase58(), publicKey: keypair.publicKey.toBytes(), chains: [] }

/** A browser wallet as the Wallet Standard describes it, which signs with @solana/web3.js. */
function browserWallet(supportedTransactionVersions: readonly unknown[] = ['legacy', 0]) {
  const chains: unknown[] = []
  const signTransaction = async (input: { readonly transaction: Uint8Array; readonly chain?: string }) => {
    chains.push(input.chain)
    const transaction = VersionedTransaction.deserialize(input.transaction)
    transaction.sign([keypair])
    return [{ signedTransaction: transaction.serialize() }]
  }
  const feature = { version: '1.0.0', supportedTransactionVersions, signTransaction }
  return { chains, wallet: { name: 'Test', features: { 'solana:signTransaction': feature } } }
}

test('a wallet of the Wallet Standard pays', async () => {
  const { wallet, chains } = browserWallet()
  const { payingFetch, service, url } = await openScene({
    wallet: standardWallet({ wallet, account, chain: 'solana:localnet' }),
  })
  expect((await payingFetch(url(crypto))).status).toBe(200)
  const { transaction } = readPresentedProof(String(service.presented[0]?.headers['x-payment-proof']))
  expect(transaction?.message.staticAccountKeys[0]?.toBase58()).toBe(account.address)
  expect(chains).toEqual(['solana:localnet'])
})

test('a wallet that signs only legacy transactions, or none, is refused before anything is asked for', () => {
  const { wallet } = browserWallet(['legacy'])
  expect(() => standardWallet({ wallet, account })).toThrow('solana:signTransaction for transactions of version 0')
  expect(() => standardWallet({ wallet: { name: 'None', features: {} }, account })).toThrow('wallet None')
})

test('a signer of web3.js transactions needs one line', async () => {
  const adapter = {
    publicKey: keypair.publicKey,
    signTransaction: async (transaction: VersionedTransaction) => {
      transaction.sign([keypair])
      return transaction
    },
  }
  const { payingFetch, url } = await openScene({
    wallet: {
      address: adapter.publicKey.toBase58(),
      signTransaction: async (bytes) =>
        (await adapter.signTransaction(VersionedTransaction.deserialize(bytes))).serialize(),
    },
  })
  expect((await payingFetch(url(crypto))).status).toBe(200)
})

test('a wallet that returns a signature of another key has paid nothing', async () => {
  const { payingFetch, service, url } = await openScene({
    wallet: {
      address: account.address,
      signTransaction: async (bytes) => {
        const signed = bytes.slice()
        signed.set(Keypair.generate().secretKey, 1)
        return signed
      },
    },
  })
  expect(String(await rejectionOf(payingFetch(url(crypto))))).toContain('signed with another key')
  expect(service.presented).toHaveLength(0)
})

test('a secret key is read only if its halves belong together, and never appears in the message', () => {
  const { secretKey } = keypair
  for (const at of [0, 31, 32, 63]) {
    const wrong = secretKey.slice()
    wrong.set([(wrong[at] ?? 0) ^ 1], at)
    expect(() => keypairWallet(wrong)).toThrow('a secret key has 64 bytes, and the last 32 are its public key')
    expect(() => Keypair.fromSecretKey(wrong)).toThrow()
  }
  expect(() => keypairWallet(secretKey.slice(0, 32))).toThrow('64 bytes')
  expect(keypairWallet({ secretKey }).address).toBe(account.address)
})

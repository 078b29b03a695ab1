import { Keypair, type PublicKey } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { createFeePayerSigner, signingTerms } from '../../src/signer/feePayerSigner.ts'
import { addressOf, signerKey } from '../support/feePayerKey.ts'
import { openMemoryJournal } from './memoryJournal.ts'
import { partsOf, signPayment, sponsoredWallets } from './sponsoredPayment.ts'

const wallets = sponsoredWallets()
const { feePayer, payer, mint, paymentWallet } = wallets
const { limit, price, transfer } = partsOf(wallets)
const newKey = () => Keypair.generate().publicKey
const [dollar, dollarWallet, otherDollar, former] = [newKey(), newKey(), newKey(), newKey()]
const address = (key: PublicKey) => addressOf(key.toBase58())

const terms = signingTerms({
  mint: address(mint),
  paymentWallet: address(paymentWallet),
  currencies: [
    { symbol: 'XUSD', mint: address(dollar), wallet: address(dollarWallet) },
    { symbol: 'YUSD', mint: address(otherDollar) },
  ],
  others: [address(former)],
})

async function outcomeOf(change: Parameters<typeof transfer>[0], by = payer, own = terms): Promise<string> {
  const limits = { perDayLamports: 10n ** 9n, perWalletAndDayLamports: 10n ** 9n, perPaymentLamports: 20_000n }
  const { journal } = openMemoryJournal()
  const signer = createFeePayerSigner({ key: signerKey(feePayer), journal, limits, terms: own })
  const payment = transfer({ ...change, authority: by.publicKey })
  const bytes = signPayment({ ...wallets, payer: by }, [limit(), price(), payment])
  const outcome = await signer.sign(bytes, { heldBaseUnits: 10n ** 12n, asOf: '2026-11-26T00:00:00.000000Z' })
  return 'problem' in outcome ? outcome.problem : 'signature' in outcome ? 'signed' : outcome.rule
}

test('a mint is signed to its own wallet, and to a wallet that is being replaced', async () => {
  expect(await outcomeOf({ mint, to: paymentWallet })).toBe('signed')
  expect(await outcomeOf({ mint: dollar, to: dollarWallet })).toBe('signed')
  expect(await outcomeOf({ mint: otherDollar, to: paymentWallet })).toBe('signed')
  expect(await outcomeOf({ mint: dollar, to: former })).toBe('signed')
})

test('a mint is not signed to the wallet of another mint', async () => {
  expect(await outcomeOf({ mint: dollar, to: paymentWallet })).toBe('recipient')
  expect(await outcomeOf({ mint, to: dollarWallet })).toBe('recipient')
  expect(await outcomeOf({ mint: otherDollar, to: dollarWallet })).toBe('recipient')
})

test('no wallet of the service pays the service', async () => {
  const own = Keypair.generate()
  const receivers = new Map([...terms.receivers, [address(otherDollar), [address(own.publicKey)]]])
  expect(await outcomeOf({ mint }, own, { ...terms, receivers })).toBe('authority')
  expect(await outcomeOf({ mint }, own)).toBe('signed')
})

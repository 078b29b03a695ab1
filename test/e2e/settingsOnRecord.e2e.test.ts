import { Keypair } from '@solana/web3.js'
import { beforeAll, expect, test } from 'vitest'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { openTestService, type TestService } from '../support/testService.ts'

let service: TestService

beforeAll(async () => {
  service = await openTestService()
})

const otherKey = makeReceiptKey()
const otherWallet = Keypair.generate().publicKey.toBase58()

const silentChanges: readonly (readonly [string, string, RegExp])[] = [
  [
    'RECEIPT_SIGNING_KEY',
    JSON.stringify(otherKey),
    new RegExp(
      `receipt-key.*recorded.*since 20.*configured.*${otherKey.x}.*npx tollbook key rotate ${otherKey.x}`,
      's',
    ),
  ],
  [
    'PAYMENT_WALLET',
    otherWallet,
    new RegExp(`payment-wallet.*recorded.*since 20.*configured.*npx tollbook wallet change ${otherWallet}`, 's'),
  ],
  [
    'SPLIT',
    'burn:30,provider:60,holders:10',
    /split.*recorded.*since 20.*configured.*npx tollbook split change burn:30,provider:60,holders:10/s,
  ],
  ['LEDGER_ORIGIN', 'example.com/other', /origin.*recorded.*since 20.*configured.*example\.com\/other/s],
]

test.each(silentChanges)(
  'a start with another %s than the ledger has on record is refused',
  async (name, value, says) => {
    const refused = openTestService({ besides: service, env: { [name]: value } })
    await expect(refused).rejects.toThrow(says)
  },
)

test('a start with the values on record is not refused', async () => {
  const again = await openTestService({ besides: service })
  await again.close()
})

import { join } from 'node:path'
import { getAccount, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { beforeAll, describe, expect, test } from 'vitest'
import { giveFunds } from '../../src/cli/local/giveFunds.ts'
import { proofForms } from '@tollbook/client/encodeProof'
import { openPaymentFolder } from '@tollbook/client/node'
import { PaymentRefused, PaymentUnresolved } from '@tollbook/client/paymentError'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { keypairWallet } from '@tollbook/client/payerWallet'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import { verifyReceipt } from '@tollbook/client/verifyReceipt'
import { randomToken } from '@tollbook/core/id'
import { saleBody } from '@tollbook/core/wire'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { impatientClock } from './support/impatientClock.ts'
import { rejectionOf } from './support/payerScene.ts'
import { openTokenChain, type TokenChain, type TokenKind } from './support/tokenChain.ts'

const qrcode = { method: 'POST', body: '{"data":"hello"}' }

const kinds: [string, TokenKind][] = [
  ['SPL Token', { program: TOKEN_PROGRAM_ID }],
  ['Token-2022 with a transfer fee', { program: TOKEN_2022_PROGRAM_ID, feeBasisPoints: 250 }],
]

describe.each(kinds)('the real service, paid in %s', (_name, kind) => {
  let token: TokenChain
  let service: TestService

  beforeAll(async () => {
    token = await openTokenChain(kind)
    // As a service has it: the account that it is paid into exists.
    const options = { rpcUrl: token.chain.rpcUrl, mint: token.mint.toBase58(), mintAuthority: token.mintAuthority }
    await giveFunds(options, { address: token.paymentWallet.toBase58(), tokens: '0', sol: '0' })
    const env = {
      SOLANA_RPC_URLS: token.chain.rpcUrl,
      TOKEN_MINT: token.mint.toBase58(),
      PAYMENT_WALLET: token.paymentWallet.toBase58(),
    }
    service = await openTestService({ env })
  })

  function pay(options: Partial<PayingFetchOptions> = {}): PayingFetch {
    return createPayingFetch({
      wallet: keypairWallet(token.payer),
      rpcUrl: token.chain.rpcUrl,
      expectedMint: token.mint.toBase58(),
      spendingLimit: { perRequest: { usd: '0.01', baseUnits: 6_000_000n } },
      clock: impatientClock,
      ...options,
    })
  }

  async function receivedBaseUnits(): Promise<bigint> {
    const account = await getAccount(token.connection, token.paymentTokenAccount, 'confirmed', token.program)
    return account.amount
  }

  const url = () => `${service.baseUrl}/api/tools/qrcode`

  test.each(proofForms)('sells for a payment in %s form, with a receipt that verifies offline', async (form) => {
    const response = await pay({ form })(url(), qrcode)
    expect(response.status).toBe(200)
    const { data, receipt } = saleBody.parse(await response.json())
    expect(data).toMatchObject({ originalData: 'hello' })
    const keys = await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json()
    const expected = { wallet: token.payer.publicKey.toBase58(), endpoint: '/api/tools/qrcode' }
    expect(await verifyReceipt({ receipt, keys, expected })).toEqual({ valid: true, receipt })
  })

  test('returns the stored answer again if the answer got lost, and is paid once', async () => {
    const before = await receivedBaseUnits()
    let lost = 0
    const lossy: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!new Headers(init?.headers).has('x-payment-proof') || lost === 2) return response
      await response.text()
      lost++
      throw new TypeError('connection lost')
    }
    const response = await pay({ fetch: lossy })(url(), qrcode)
    expect(response.headers.get('idempotent-replay')).toBe('true')
    expect(saleBody.parse(await response.json()).data).toMatchObject({ originalData: 'hello' })
    const received = (await receivedBaseUnits()) - before
    expect(received >= 3_500_000n && received < 7_000_000n).toBe(true)
  })

  test('delivers to a later process what an earlier one had paid for', async () => {
    const dead: typeof fetch = (input, init) =>
      new Headers(init?.headers).has('x-payment-proof') ? Promise.reject(new TypeError('no route')) : fetch(input, init)
    const error = await rejectionOf(pay({ fetch: dead, retry: { attemptsMax: 1 } })(url(), qrcode))
    if (!(error instanceof PaymentUnresolved)) throw error
    const response = await pay().resume(error.payment)
    expect(saleBody.parse(await response.json()).receipt.signature).toBe(error.payment.signature)
    const again = await pay().resume(error.payment)
    expect(again.headers.get('idempotent-replay')).toBe('true')
    const other = pay().resume(error.payment, {
      instead: { input: url(), init: { ...qrcode, body: '{"data":"more"}' } },
    })
    const refusal = await rejectionOf(other)
    expect(refusal).toBeInstanceOf(PaymentRefused)
    expect(refusal).toMatchObject({ reason: 'already_used' })
  })

  test('sells to many requests of one payer at once, each for its own payment', async () => {
    const fetchAll = pay({ spendingLimit: { perRequest: { usd: '0.006' }, total: { usd: '0.041' } } })
    const sales = await Promise.all(
      Array.from({ length: 8 }, async () => saleBody.parse(await (await fetchAll(url(), qrcode)).json())),
    )
    expect(new Set(sales.map(({ receipt }) => receipt.signature)).size).toBe(8)
    expect(await rejectionOf(fetchAll(url(), qrcode))).toMatchObject({ name: 'SpendingLimitExceeded' })
  })

  test('answers all calls of three windows over one folder, which pay once for their request', async () => {
    const folder = join(await makeScratchDirectory(), 'payments')
    const key = randomToken()
    const calls = [1, 2, 3].flatMap(() => {
      const window = pay({ store: openPaymentFolder(folder) })
      return [1, 2, 3, 4].map(async () => {
        const response = await window(url(), { ...qrcode, headers: { 'idempotency-key': key } })
        return saleBody.parse(await response.json()).receipt.signature
      })
    })
    const signatures = await Promise.all(calls)
    expect([signatures.length, new Set(signatures).size]).toEqual([12, 1])
    const store = openPaymentFolder(folder)
    expect([(await store.spending()).length, await store.pending()]).toEqual([1, []])
  })
})

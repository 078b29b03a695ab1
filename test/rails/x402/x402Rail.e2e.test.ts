import { beforeAll, describe, expect, test } from 'vitest'
import { decodePaymentResponseHeader } from '@x402/fetch'
import { saleBody } from '@tollbook/core/wire'
import { openX402Service, stockFetch, type X402Service } from '../../support/x402Service.ts'

let x402: X402Service
let payingFetch: typeof fetch

beforeAll(async () => {
  x402 = await openX402Service()
  const { service, tokenMint } = x402
  payingFetch = await stockFetch(service.demoWallet, service.chain.rpcUrl, tokenMint)
})

const qr = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ data: 'hello' }),
}

describe('the stock client', () => {
  test('buys at the mount without any header of ours', async () => {
    const response = await payingFetch(`${x402.service.baseUrl}/x402/api/tools/qrcode`, qr)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const { receipt } = saleBody.parse(JSON.parse(text))
    expect(receipt).toMatchObject({ wallet: x402.service.payer.address, burned: '0', quoteId: null })
    const settled = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
    expect(settled).toMatchObject({ success: true, transaction: receipt.signature, payer: receipt.wallet })
  })
})

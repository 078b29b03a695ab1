import { Receipt } from 'mppx'
import { decodePaymentResponseHeader } from '@x402/fetch'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { verifyReceipt } from '@tollbook/client'
import { qrOrder } from '../support/ask.ts'
import { mppFetch } from '../support/mppClient.ts'
import { openX402Service, stockFetch, type X402Service } from '../support/x402Service.ts'
import { askOnTab, newSessionKey, readOpenedTab } from './tabClient.ts'

/* Deposits by stock clients of x402 and MPP, which know nothing about tabs. */

let x402: X402Service

beforeAll(async () => {
  x402 = await openX402Service({ sellsTabs: true })
})

const sold = z.object({ receipt: z.unknown() })

describe.each(['x402', 'mpp'] as const)('a stock client of %s', (rail) => {
  test('opens a tab, whose debits buy answers', async () => {
    const { service, tokenMint: asset } = x402
    const { rpcUrl } = service.chain
    const pay = await (rail === 'x402'
      ? stockFetch(service.demoWallet, { rpcUrl, asset })
      : mppFetch(service.demoWallet, { rpcUrl }))
    const key = newSessionKey()
    const response = await pay(`${service.baseUrl}${rail === 'x402' ? '/x402' : ''}/api/tabs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ depositUsd: 1, sessionKey: key.address }),
    })
    expect(response.status).toBe(200)
    if (rail === 'x402')
      expect(decodePaymentResponseHeader(response.headers.get('payment-response') ?? '').success).toBe(true)
    else expect(Receipt.fromResponse(response).status).toBe('success')
    const body: unknown = await response.json()
    const keys: unknown = await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json()
    const { receipt } = sold.parse(body)
    expect(await verifyReceipt({ receipt, keys })).toMatchObject({ valid: true })
    const tab = { ...readOpenedTab(body), key }
    const wallet = service.demoWallet.publicKey.toBase58()
    expect((await askOnTab(service, tab, { ...qrOrder, wallet }, { number: 1 })).status).toBe(200)
  })
})

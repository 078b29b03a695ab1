import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import type * as Client from '@tollbook/client'
import { bundleForBrowsers, runInBrowserContext } from '../support/browserBundle.ts'
import { startScriptedService } from './support/scriptedService.ts'

test('the main entry is one browser bundle without Node, and pays there', async () => {
  const bundle = await bundleForBrowsers('packages/client/src/client.ts')
  expect(bundle.imports).toEqual([])
  const client = runInBrowserContext(bundle) as typeof Client

  const service = await startScriptedService()
  const payingFetch = client.createPayingFetch({
    wallet: client.keypairWallet(Keypair.generate().secretKey),
    rpcUrl: service.rpcUrl,
    spendingLimit: { perRequest: { usd: '0.05' } },
  })
  const response = await payingFetch(`${service.baseUrl}/api/data/crypto?symbol=BTC`)
  expect(response.status).toBe(200)
  expect(service.presented).toHaveLength(1)
  const verdict = await client.verifyReceipt({ receipt: {}, keys: {} })
  expect(verdict.valid).toBe(false)
})

test('what reads files is in the entry for Node, and a bundle of it says so', async () => {
  const { imports } = await bundleForBrowsers('packages/client/src/node.ts')
  expect(imports.toSorted()).toEqual(['node:fs/promises', 'node:path'])
})

import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import type * as Client from '@tollbook/client'
import { createPayingFetch, keypairWallet } from '@tollbook/client'
import { bundleForBrowsers, runInBrowserContext } from '../support/browserBundle.ts'
import { startScriptedService } from './support/scriptedService.ts'
import { mint } from './support/testToken.ts'

test('the main entry is one browser bundle without Node, and pays there', async () => {
  const bundle = await bundleForBrowsers('packages/client/src/client.ts')
  expect(bundle.imports).toEqual([])
  const client = runInBrowserContext(bundle) as typeof Client

  const service = await startScriptedService()
  const payingFetch = client.createPayingFetch({
    wallet: client.keypairWallet(Keypair.generate().secretKey),
    rpcUrl: service.rpcUrl,
    expectedMint: mint.toBase58(),
    spendingLimit: { perRequest: { usd: '0.05' } },
  })
  const response = await payingFetch(`${service.baseUrl}/api/data/crypto?symbol=BTC`)
  expect(response.status).toBe(200)
  expect(service.presented).toHaveLength(1)
  const verdict = await client.verifyReceipt({ receipt: {}, keys: {} })
  expect(verdict.valid).toBe(false)
})

test('the fetch of a browser, which refuses to be a method of another object, pays too', async () => {
  const service = await startScriptedService()
  const payingFetch = createPayingFetch({
    wallet: keypairWallet(Keypair.generate().secretKey),
    rpcUrl: service.rpcUrl,
    expectedMint: mint.toBase58(),
    spendingLimit: { perRequest: { usd: '0.05' } },
    fetch: browserFetch,
  })
  expect((await payingFetch(`${service.baseUrl}/api/data/crypto?symbol=BTC`)).status).toBe(200)
})

/** A window's `fetch` throws when it is called on anything but its window. */
function browserFetch(this: unknown, ...request: Parameters<typeof fetch>): Promise<Response> {
  if (this !== undefined) return Promise.reject(new TypeError('Illegal invocation'))
  return fetch(...request)
}

test('what reads files is in the entry for Node, and a bundle of it says so', async () => {
  const { imports } = await bundleForBrowsers('packages/client/src/node.ts')
  expect(imports.toSorted()).toEqual(['node:fs/promises', 'node:os', 'node:path'])
})

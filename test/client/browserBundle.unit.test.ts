import { createContext, runInContext } from 'node:vm'
import { Keypair } from '@solana/web3.js'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import type * as Client from '@tollbook/client'
import { startScriptedService } from './support/scriptedService.ts'

/** Names of a browser that the client uses. A context of node:vm has those of the language and no name of Node. */
const browserGlobals = {
  AbortController,
  AbortSignal,
  atob,
  clearTimeout,
  crypto,
  CryptoKey,
  fetch,
  Headers,
  performance,
  Request,
  Response,
  setTimeout,
  structuredClone,
  TextDecoder,
  TextEncoder,
  Uint8Array,
  URL,
}

async function bundleForBrowsers(input: string) {
  const bundle = await rolldown({
    input,
    platform: 'browser',
    logLevel: 'silent',
    resolve: { extensions: ['.ts', '.js'] },
  })
  const { output } = await bundle.generate({ format: 'iife', name: 'client', codeSplitting: false })
  await bundle.close()
  const [{ code, imports }] = output
  return { code, imports }
}

test('the main entry is one browser bundle without Node, and pays there', async () => {
  const { code, imports } = await bundleForBrowsers('packages/client/src/client.ts')
  expect(imports).toEqual([])
  const context = createContext({ ...browserGlobals })
  runInContext(`${code}\nglobalThis.client = client`, context)
  const client: typeof Client = context['client']

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
  expect((await bundleForBrowsers('packages/client/src/node.ts')).imports).toEqual(['node:fs/promises'])
})

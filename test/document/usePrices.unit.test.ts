import { expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { llmsText } from '../../src/document/discovery.ts'
import { createOpenApi } from '../../src/document/openApi.ts'
import { createPriceCatalog } from '../../src/document/priceCatalog.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import { defaultSeller } from '../../src/product/seller.ts'
import { transportErrors } from '../../src/transport/transportError.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import { openTestEndpoint } from '../support/testProduct.ts'

const endpointAt = (path: string) =>
  openTestEndpoint({ path, parameters: z.strictObject({}), deliver: () => Promise.reject(new Error('not bought')) })
const prices = (input: bigint, output: bigint) => ({
  metered: { inputPerMillionMicroUsd: input, outputPerMillionMicroUsd: output, minimumMicroUsd: 400n },
})
const chat: Endpoint = {
  ...endpointAt('/toy/chat'),
  ...prices(2_500_000n, 10_000_000n),
  usedUnit: 'tokens',
  variants: [{ name: 'large', priceMicroUsd: 90_000n, ...prices(5_000_000n, 20_000_000n) }],
}
const file: Endpoint = { ...endpointAt('/toy/file'), ...prices(0n, 30_000n), usedUnit: 'bytes' }
const rows: Endpoint = {
  ...endpointAt('/toy/rows'),
  ...prices(0n, 2_000_000_000n),
  usedUnit: 'rows',
  passedHeaders: ['accept-language'],
  returnedHeaders: ['etag'],
}
const tabs: Endpoint = { ...endpointAt('/toy/tabs'), isDeposit: true }

function documentsOf(endpoints: readonly Endpoint[]) {
  const facts = { endpoints, searches: [], rails: [], split: defaultSplit, seller: defaultSeller, dollars: [] }
  const terms = {
    mint: sampleMint,
    decimals: 6,
    network: 'solana:x',
    paymentWallet: sampleAddress(),
    paymentTokenAccount: sampleAddress(),
    tokenProgram: sampleAddress(),
  }
  const now = { clock: systemClock, currentPrice: () => undefined, whyClosed: () => undefined }
  const token = { symbol: 'TOLL' }
  const document = { version: '1', freePaths: [], transportStatuses: transportErrors, mint: sampleMint, ...now }
  return {
    catalog: createPriceCatalog({ ...facts, ...now, terms, token })().products,
    openApi: z
      .looseObject({ paths: z.record(z.string(), z.unknown()) })
      .parse(createOpenApi({ ...facts, ...document })({ baseUrl: 'http://x', linkBase: '' })),
    llms: llmsText({ ...facts, token, terms }, ''),
  }
}

const tokens = { perMillionInputTokensUSD: 2.5, perMillionOutputTokensUSD: 10, minimumUSD: 0.0004, holdUSD: 0.02 }
const large = { perMillionInputTokensUSD: 5, perMillionOutputTokensUSD: 20, minimumUSD: 0.0004, holdUSD: 0.09 }
const sold = documentsOf([chat, file, rows, tabs])

test('the catalog has the price by use with its unit, its minimum and its hold', () => {
  expect(sold.catalog).toMatchObject([
    { byUse: tokens, models: [{ model: 'large', byUse: large }] },
    { byUse: { perMillionBytesUSD: 0.03, minimumUSD: 0.0004, holdUSD: 0.02 } },
    { byUse: { perRowUSD: 0.002, minimumUSD: 0.0004, holdUSD: 0.02 } },
    { path: '/toy/tabs' },
  ])
  expect(sold.catalog.at(-1)).not.toHaveProperty('byUse')
})

test('the operations and the page for models have it too', () => {
  expect(sold.openApi.paths['/toy/chat']).toMatchObject({
    get: {
      'x-price-by-use': { ...tokens, models: { large } },
      description: expect.stringContaining(
        'on a tab at most that, by use: $2.5 per million input tokens, $10 per million output tokens, at least $0.0004; $5',
      ),
    },
  })
  expect(sold.llms).toContain('on a tab at most that, by use: $0.03 per million bytes, at least $0.0004.')
  expect(sold.llms).toContain('by use: $0.002 per row, at least $0.0004.')
})

test('without tabs no document has a price by use, because nothing else pays it', () => {
  const { catalog, openApi, llms } = documentsOf([chat, file, rows])
  for (const product of catalog) expect(product).not.toHaveProperty('byUse')
  expect(JSON.stringify([openApi, llms])).not.toMatch(/x-price-by-use|by use:/)
})

test('an operation names the headers that are passed on and returned', () => {
  expect(sold.openApi.paths['/toy/rows']).toMatchObject({
    get: {
      parameters: expect.arrayContaining([expect.objectContaining({ name: 'accept-language', in: 'header' })]),
      responses: { '200': { headers: { etag: { $ref: '#/components/headers/Returned' } } } },
    },
  })
})

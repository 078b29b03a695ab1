import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import type { OpenProduct } from '../../src/product/productDefinition.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { type BuiltinProduct, openCatalog, type Parts } from '../../src/products/catalog.ts'
import { pdf } from '../../src/products/page/pdf.ts'
import { pictureSize } from '../../src/products/page/pictureSize.ts'
import { readableSize } from '../../src/products/page/readableSize.ts'
import { screenshot } from '../../src/products/page/screenshot.ts'
import { type PdfOrder, type Rendered, RenderFailure } from '../../src/rendering/renderer.ts'
import { products } from '../support/builtinProducts.ts'
import { openProviderFixture } from '../support/providerFixture.ts'

/* The products of captures over a renderer that draws what a test says. */

const job = { signal: new AbortController().signal, requestId: 'r', payer: 'wallet', payment: 'payment' }

/** A PNG of 800 by 600 pixels, as far as its size is read. */
function pngOf(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(24)
  for (const [at, value] of [0x89504e47, 0x0d0a1a0a, 13, 0x49484452, width, height].entries())
    bytes.writeUInt32BE(value, at * 4)
  return bytes
}

const whole: Rendered = {
  bytes: pngOf(800, 600),
  httpStatus: 200,
  finalUrl: 'https://example.com/',
  missing: [],
  missingGlyphs: 0,
  clipped: false,
  refusedRequests: 0,
}

function open(draw: () => Promise<Rendered>) {
  const storedTypes: string[] = []
  const drawn: PdfOrder[] = []
  const deps = {
    clock: systemClock,
    renderer: {
      allowHosts: [],
      whyUnavailable: () => 'no browser',
      whyNoQuote: (payer?: string) => `a long queue for ${payer}`,
      problem: () => undefined,
      screenshot: draw,
      pdf(order: PdfOrder) {
        drawn.push(order)
        return draw()
      },
      close: () => Promise.resolve(),
    },
    artifacts: {
      whyUnavailable: () => 'no storage',
      keep: (type: string) => {
        storedTypes.push(type)
        return Promise.resolve({ name: 'name.png', expiresAt: '2026-11-21T12:00:00Z' })
      },
    },
    artifactUrl: (name: string) => `https://tollbook.example/artifacts/${name}`,
    allowHosts: [],
  }
  const orderOf = (definition: typeof pdf, order: object) => {
    const read = openEndpoint(definition, deps).read(order)
    assert(read.ok, 'the order is valid')
    return read
  }
  return {
    storedTypes,
    drawn,
    orderOf,
    capture: (order = {}) => orderOf(screenshot, { url: 'https://example.com', ...order }),
  }
}

describe('a capture', () => {
  test('says that it is complete, and where it is stored', async () => {
    const { capture, storedTypes } = open(() => Promise.resolve(whole))
    expect(await capture({ type: 'png' }).deliver(job)).toEqual({
      kind: 'delivered',
      data: { imageUrl: 'https://tollbook.example/artifacts/name.png', width: 800, height: 600, format: 'png' },
      meta: {
        source: 'tollbook',
        asOf: expect.any(String),
        cached: false,
        httpStatus: 200,
        finalUrl: 'https://example.com/',
        complete: true,
        expiresAt: '2026-11-21T12:00:00Z',
      },
    })
    expect(storedTypes).toEqual(['image/png'])
  })

  test('says what it lacks', async () => {
    const missing = [{ reason: 'still_loading', detail: 'x' }] as const
    const { capture } = open(() =>
      Promise.resolve({
        ...whole,
        httpStatus: undefined,
        finalUrl: undefined,
        missing,
        missingGlyphs: 2,
        clipped: true,
        refusedRequests: 3,
      }),
    )
    const outcome = await capture().deliver(job)
    expect(outcome).toMatchObject({
      meta: { complete: false, missing, missingGlyphs: 2, clipped: true, refusedRequests: 3 },
    })
    expect(outcome).not.toHaveProperty('meta.httpStatus')
  })

  test.each([
    ['forbidden', 'TARGET_FORBIDDEN'],
    ['unreachable', 'UPSTREAM_FAILED'],
    ['timeout', 'UPSTREAM_TIMEOUT'],
    ['too_large', 'UPSTREAM_FAILED'],
    ['broken', 'UPSTREAM_FAILED'],
  ] as const)('that fails as %s keeps its payment, unless it used it up', async (kind, code) => {
    for (const endsPayment of [false, true]) {
      const { capture, storedTypes } = open(() => Promise.reject(new RenderFailure(kind, 'why', { endsPayment })))
      const outcome = await capture().deliver(job)
      assert(outcome.kind === 'failed', 'it is not delivered')
      expect([outcome.code, outcome.endsPayment ?? false]).toEqual([code, endsPayment])
      expect(outcome.message).toMatch(endsPayment ? /^why; .*uses up/ : /^why; .*same proof/)
      expect(storedTypes).toEqual([])
    }
  })

  test('is not quoted behind a long queue, in which a caller who has paid waits', () => {
    const ordered = open(() => Promise.resolve(whole)).capture()
    expect([ordered.whyUnavailable('wallet'), ordered.whyUndeliverable('wallet')]).toEqual([
      'a long queue for wallet',
      'no browser',
    ])
  })
})

test('a PDF has the margins, the paper and the width of its order, and by default those of the page or A4', async () => {
  const { orderOf, drawn } = open(() => Promise.reject(new RenderFailure('broken', 'why')))
  const draw = async (order: object) => {
    await orderOf(pdf, { html: 'x', ...order }).deliver(job)
    return drawn.at(-1)
  }
  const margin = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }
  const width = (inches: number, marginInches: number) => expect.closeTo(96 * (inches - marginInches), 6)
  expect(await draw({})).toMatchObject({
    format: 'A4',
    preferCSSPageSize: true,
    margin,
    page: { html: 'x' },
    printableWidth: width(8.27, 2 / 2.54),
  })
  expect(await draw({ format: 'A5', landscape: true, margin: { left: '2in', right: '25.4mm' } })).toMatchObject({
    format: 'A5',
    preferCSSPageSize: false,
    margin: { ...margin, left: '2in', right: '25.4mm' },
    printableWidth: width(8.27, 3),
  })
  expect(await draw({ preferCSSPageSize: false, header: 'a {page}' })).toMatchObject({
    preferCSSPageSize: false,
    headerTemplate: expect.stringContaining('pageNumber'),
  })
})

test('the size of a picture is read from its file', () => {
  expect(pictureSize(pngOf(1, 65_536), 'png')).toEqual({ width: 1, height: 65_536 })
  // A segment of 4 bytes, then the frame header: length, precision, height, width.
  for (const frame of [0xc0, 0xc1, 0xc2]) {
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, frame, 0, 17, 8, 2, 88, 3, 32, 3])
    expect(pictureSize(jpeg, 'jpeg')).toEqual({ width: 800, height: 600 })
  }
  const webp = (kind: string, rest: readonly number[]) =>
    Buffer.concat([
      Buffer.from('RIFF????WEBP'),
      Buffer.from(kind),
      Buffer.alloc(4),
      Buffer.from(rest),
      Buffer.alloc(20),
    ])
  expect(pictureSize(webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, 0x20, 3, 0x58, 2]), 'webp')).toEqual({
    width: 800,
    height: 600,
  })
  expect(pictureSize(webp('VP8X', [0, 0, 0, 0, 0x1f, 3, 0, 0x57, 2, 1]), 'webp')).toEqual({
    width: 800,
    height: 66_136,
  })
  for (const format of ['png', 'jpeg', 'webp'] as const) expect(() => pictureSize(Buffer.alloc(64), format)).toThrow()
})

test.each([
  [1_023, '1023 B'],
  [1_024, '1.0 KB'],
  [1_023.94 * 1_024, '1023.9 KB'],
  [1_023.96 * 1_024, '1.0 MB'],
  [5 * 1_024 ** 4, '5120.0 GB'],
])('%d bytes are %s', (bytes, text) => {
  expect(readableSize(bytes)).toBe(text)
})

describe('the catalog', () => {
  const closed: string[] = []
  const data = openProviderFixture().deps
  const parts = (sampleUpstreams: boolean): Parts => ({ ...unused, data: { ...data, sampleUpstreams } })
  const refuse = () => Promise.reject(new Error('not needed'))
  const unused = { pages: refuse, news: refuse, chat: refuse }
  const [facts] = products
  assert(facts !== undefined, 'there are products')
  const productOf = (path: string, providers: BuiltinProduct['providers']): BuiltinProduct => ({
    ...facts,
    path,
    providers,
    open: (): OpenProduct => ({
      parameters: z.object({}),
      whyUnavailable: () => undefined,
      suppliedBy: () => 'providers',
      probes: [],
      read: () => ({ ok: false, issues: [] }),
      close: () => Promise.resolve(void closed.push(path)),
    }),
  })
  const sold = [productOf('/a', ['KRAKEN']), productOf('/b', [])]

  test('says that providers are samples, and of a product without providers that it needs none', async () => {
    const supplied = async (isSample: boolean) =>
      (await openCatalog(sold, parts(isSample))).endpoints.map((endpoint) => endpoint.suppliedBy())
    expect([await supplied(true), await supplied(false)]).toEqual([
      ['samples', 'providers'],
      ['providers', 'providers'],
    ])
  })

  test('closes every product that it opened', async () => {
    await (await openCatalog(sold, parts(false))).close()
    expect(closed).toEqual(['/a', '/b'])
  })
})

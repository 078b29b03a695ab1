import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import QRCode from 'qrcode'
import { afterAll, describe, expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { systemClock } from '@tollbook/core/clock'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { createQrPool } from '../../src/products/qrcode/qrPool.ts'
import { qrcode } from '../../src/products/qrcode/qrcode.ts'
import { modulesFor } from '../../src/products/qrcode/qrVersion.ts'

const endpoint = openEndpoint(qrcode, { clock: systemClock })
afterAll(() => endpoint.close())
const job = { signal: new AbortController().signal, requestId: 'request_1', payer: 'wallet', payment: 'payment' }

async function draw(input: object): Promise<{ qrCode: string; originalData: string; size: string }> {
  const read = endpoint.read(input)
  assert(read.ok, `the story's order is legal: ${JSON.stringify(read)}`)
  const outcome = await read.deliver(job)
  assert(outcome.kind === 'delivered', 'a legal order is drawn')
  return JSON.parse(JSON.stringify(outcome.data))
}

function decodePng(dataUri: string): { text: string | undefined; width: number; height: number } {
  const png = PNG.sync.read(Buffer.from(dataUri.replace('data:image/png;base64,', ''), 'base64'))
  return {
    text: jsQR.default(Uint8ClampedArray.from(png.data), png.width, png.height)?.data,
    width: png.width,
    height: png.height,
  }
}

describe('a PNG', () => {
  test.each([64, 65, 100, 255, 256, 257, 511, 1_000, 2_048])(
    'of %i pixels has exactly that size and reads back',
    async (size) => {
      const { qrCode, size: said } = await draw({ data: 'https://example.com/', size })
      expect(decodePng(qrCode)).toEqual({ text: 'https://example.com/', width: size, height: size })
      expect(said).toBe(`${size}x${size}`)
    },
  )

  test.each(['a', 'BEGIN:VCARD\nFN:Ünïcode 🚀\nEND:VCARD', '0123456789'.repeat(20), 'x'.repeat(2_048)])(
    'of data %# reads back',
    async (data) => {
      const { qrCode, originalData } = await draw({ data, size: 800 })
      expect(decodePng(qrCode).text).toBe(data)
      expect(originalData).toBe(data)
    },
  )
})

test('a small code is drawn at once, and only a larger one waits for a thread', async () => {
  const pool = createQrPool()
  const isGone = AbortSignal.abort()
  const small = { data: 'x'.repeat(62), size: 256, format: 'png' } as const
  expect(decodePng(await pool.draw(small, isGone)).text).toBe(small.data)
  await expect(pool.draw({ ...small, size: 257 }, isGone)).rejects.toThrow('aborted')
  await expect(pool.draw({ ...small, data: 'é'.repeat(32) }, isGone)).rejects.toThrow('aborted')
  await pool.close()
})

test('codes beyond the queue fail as an outage, after which the same proof buys again, and not as a bug', async () => {
  const pool = createQrPool()
  const order = { data: 'x', size: 300, format: 'png' } as const
  const drawn = await Promise.allSettled(Array.from({ length: 210 }, () => pool.draw(order, job.signal)))
  const causes = drawn.flatMap((one) => (one.status === 'rejected' ? [one.reason instanceof Fault] : []))
  expect([causes.length > 0, causes.includes(false)]).toEqual([true, false])
  await pool.close()
})

test.each([65, 100, 257])('a PNG of %i pixels has its code in the middle', async (size) => {
  const { qrCode } = await draw({ data: 'a', size })
  const png = PNG.sync.read(Buffer.from(qrCode.replace('data:image/png;base64,', ''), 'base64'))
  const dark: number[] = []
  for (let at = 0; at < size * size; at++) if (png.data[at * 4] === 0) dark.push(at)
  const columns = dark.map((at) => at % size)
  const rows = dark.map((at) => Math.floor(at / size))
  for (const places of [columns, rows]) {
    const [before, after] = [Math.min(...places), size - 1 - Math.max(...places)]
    expect(after - before === 0 || after - before === 1, `${before} and ${after}`).toBe(true)
  }
})

test('an SVG has the size that was ordered and nothing of the data as markup', async () => {
  const { qrCode } = await draw({ data: '"><script>alert(1)</script>', size: 300, format: 'svg' })
  const svg = Buffer.from(qrCode.replace('data:image/svg+xml;base64,', ''), 'base64').toString('utf8')
  expect(svg).toMatch(/^<svg [^>]*width="300" height="300"/)
  expect(svg).not.toContain('script')
})

describe('sizes', () => {
  test('the table of versions agrees with the library for every length', () => {
    for (let bytes = 1; bytes <= 2_048; bytes += 13) {
      const { modules } = QRCode.create([{ data: Buffer.alloc(bytes, 97), mode: 'byte' }], {
        errorCorrectionLevel: 'M',
      })
      expect(modulesFor(bytes)).toBe(modules.size + 8)
    }
  })

  test('a size in which the data could not be read is refused for free, and the field is named', () => {
    const read = endpoint.read({ data: 'x'.repeat(2_048), size: 128 })
    expect(read.ok || read.issues).toMatchObject([
      { path: ['size'], message: 'must be at least 177 for data of this length; a smaller code cannot be read' },
    ])
    expect(endpoint.read({ data: 'x'.repeat(2_048), size: 177 }).ok).toBe(true)
  })

  test('the limit of the data is in bytes and not in characters', () => {
    expect(endpoint.read({ data: '€'.repeat(682) }).ok).toBe(true)
    expect(endpoint.read({ data: '€'.repeat(683) }).ok).toBe(false)
  })
})

test.each([2_049, 2_331, 2_332, 60_000])('data of %i bytes is refused for `data`, with the limit', (length) => {
  const read = endpoint.read({ data: 'x'.repeat(length) })
  assert(!read.ok, 'data beyond the limit is refused')
  expect(read.issues).toEqual([
    expect.objectContaining({
      path: ['data'],
      message: 'must be text or a URL of 1 to 2048 bytes of UTF-8, at error correction level M',
    }),
  ])
})

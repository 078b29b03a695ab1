import { expect, test } from 'vitest'
import type { Page } from 'puppeteer'
import { readArtifactName, newArtifactName } from '../../src/rendering/artifacts/artifactName.ts'
import { heightMaxOf, picturePixelsMax } from '../../src/rendering/capture.ts'
import { fitPaper, viewportOfPdf } from '../../src/rendering/fitPaper.ts'
import type { PdfOrder } from '../../src/rendering/renderer.ts'

/* Sizes of pictures and documents, without a browser. */

test.each([
  [{ width: 1_000 }, 16_384],
  [{ width: 1_000, format: 'webp' }, 16_383],
  [{ width: 2_000 }, 12_000],
  [{ width: 1_000, deviceScale: 2 }, 6_000],
  [{ width: 300, deviceScale: 2, format: 'jpeg' }, 8_192],
] as const)('a picture of %o is at most %i pixels high', (order, height) => {
  expect(heightMaxOf(order)).toBe(height)
  const { width, deviceScale = 1 }: { readonly width: number; readonly deviceScale?: number } = order
  expect(width * deviceScale * height * deviceScale).toBeLessThanOrEqual(picturePixelsMax)
})

/** The paper for a page whose content is as wide as it says, and the widths in which it was laid out. */
async function fitted(order: Partial<PdfOrder>, { contentWidth = 0, hasOwnPaper = false } = {}) {
  const widths: number[] = []
  const page = { setViewport: async ({ width }: { width: number }) => void widths.push(width) } as unknown as Page
  const answers: unknown[] = [hasOwnPaper, contentWidth]
  const world = { run: async () => answers.shift() }
  const margin = { top: '0', right: '0', bottom: '0', left: '0' }
  return { ...(await fitPaper(page, world, { page: { html: '' }, format: 'A4', margin, ...order })), widths }
}

const tooWide = (wide: number, shown: number) => {
  return [
    { reason: 'too_wide', detail: `the content is ${wide} pixels wide, and the paper shows at most ${shown} of them` },
  ]
}

test.each([
  ['content that fits except for fractions of pixels', {}, { contentWidth: 704 }, 1, []],
  ['content that is too wide shrinks to the paper', {}, { contentWidth: 1_000 }, 0.7, []],
  ['content that would be too small to read is cut', {}, { contentWidth: 3_000 }, 0.3, tooWide(3_000, 2_333)],
  ['a scale of the order is kept', { scale: 0.5 }, { contentWidth: 1_400 }, 0.5, []],
  ['what a scale of the order cuts off is said', { scale: 1.4 }, { contentWidth: 700 }, 1.4, tooWide(700, 500)],
  ['a page with its own paper is not measured', {}, { contentWidth: 9_000, hasOwnPaper: true }, 1, []],
] as const)('%s', async (_, order, page, scale, missing) => {
  expect(await fitted({ printableWidth: 700, ...order }, page)).toMatchObject({ scale, missing })
})

test('the page is measured in the width of the paper, and is laid out for a window again', async () => {
  expect((await fitted({ printableWidth: 700 }, { contentWidth: 100 })).widths).toEqual([700, viewportOfPdf.width])
  expect((await fitted({ printableWidth: 700, scale: 0.5 }, { contentWidth: 100 })).widths[0]).toBe(1_400)
  expect(await fitted({ scale: 2 }, { contentWidth: 9_000 })).toEqual({ scale: 2, missing: [], widths: [] })
})

test.each(['image/png', 'image/jpeg', 'image/webp', 'application/pdf'] as const)(
  'the name of a file has its type and its end, rounded up to a second: %s',
  (contentType) => {
    const name = newArtifactName(contentType, 1_800_000_000_001)
    expect(readArtifactName(name)).toEqual({ contentType, expiresAtMs: 1_800_000_001_000 })
    for (const wrong of [name.toUpperCase(), `../${name}`, name.replace('.', '/'), `${name}.gif`])
      expect(readArtifactName(wrong)).toBeUndefined()
  },
)

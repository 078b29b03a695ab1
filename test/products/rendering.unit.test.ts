import { describe, expect, test } from 'vitest'
import { marginTemplate } from '../../src/products/page/marginText.ts'
import { pdf } from '../../src/products/page/pdf.ts'
import { screenshot } from '../../src/products/page/screenshot.ts'

const url = 'https://example.com/'
const problemsOf = ({ parameters }: typeof pdf, order: object): readonly string[] =>
  parameters.safeParse(order).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? []

const shared = {
  waitFor: '#late',
  until: 'load',
  delay: 500,
  hide: '.banner, #cookies',
  locale: 'de-CH',
  timezone: 'Europe/Zurich',
  colorScheme: 'dark',
  geolocation: { latitude: 47.4, longitude: 8.5 },
}

describe('a screenshot', () => {
  test('accepts every option, and adds nothing but the size to an order without any', () => {
    expect(
      problemsOf(screenshot, { url, type: 'webp', quality: 60, deviceScale: 2, fullPage: true, ...shared }),
    ).toEqual([])
    expect(screenshot.parameters.parse({ url })).toEqual({ url, width: 1_280, height: 720, fullPage: false })
  })

  test('takes from the device what the order does not name', () => {
    const order = { url, device: 'phone', width: 400 }
    const wanted = { url, width: 400, height: 844, deviceScale: 2, isMobile: true, fullPage: false }
    expect(screenshot.parameters.parse(order)).toEqual(wanted)
  })

  test.each([
    [{ quality: 80 }, 'quality: is for jpeg and webp; a png has no quality'],
    [{ element: 'h1', fullPage: true }, 'element: cannot be combined with fullPage; send one of them'],
    [
      { width: 3_840, height: 2_160, deviceScale: 2 },
      'deviceScale: must make a picture of at most 24 million pixels with this width and height',
    ],
    [{ width: 319 }, 'width: must be a whole number from 320 to 3840'],
    [{ width: 400.5 }, 'width: must be a whole number from 320 to 3840'],
    [{ delay: 5_001 }, 'delay: must be a whole number from 0 to 5000'],
    [{ locale: 'de_CH' }, 'locale: must be a BCP 47 language tag such as de-CH'],
    [{ locale: 'und-Latn' }, 'locale: must be a BCP 47 language tag such as de-CH'],
    [{ timezone: 'Mars/Olympus' }, 'timezone: must be an IANA time zone such as Europe/Zurich'],
    [{ timezone: '+02:00' }, 'timezone: must be an IANA time zone such as Europe/Zurich'],
    [{ hide: 'a{b}' }, 'hide: must be a CSS selector of 1 to 200 characters'],
    [{ geolocation: { latitude: 91, longitude: 0 } }, 'geolocation.latitude: must be a number from -90 to 90'],
    [{ type: 'gif' }, 'type: must be one of png, jpeg, webp'],
  ])('is refused with %j', (order, problem) => {
    expect(problemsOf(screenshot, { url, ...order })).toEqual([problem])
  })
})

describe('a document', () => {
  test('accepts every option', () => {
    const paper = { format: 'A5', landscape: true, scale: 0.5, printBackground: false, preferCSSPageSize: true }
    expect(
      problemsOf(pdf, { url, pageRanges: '1-3, 5', header: '{title}', footer: '{page}/{pages}', ...paper, ...shared }),
    ).toEqual([])
  })

  test('is made of exactly one of HTML, Markdown and an address', () => {
    expect(problemsOf(pdf, { markdown: '# Title', footer: '{page}' })).toEqual([])
    const problem = 'html: send exactly one of html, markdown and url'
    for (const order of [{ markdown: 'a', html: 'a' }, { markdown: 'a', url }, {}])
      expect(problemsOf(pdf, order)).toEqual([problem])
    expect(problemsOf(pdf, { markdown: '' })).toEqual(['markdown: must be Markdown of 1 byte to 512 KiB'])
  })

  test.each([
    [{ scale: 2.1 }, 'scale: must be a number from 0.1 to 2'],
    [
      { footer: '' },
      'footer: must be a line of 1 to 200 characters, in which {page}, {pages}, {title}, {url} and {date} are replaced',
    ],
    [{ landscape: 'yes' }, 'landscape: must be true or false'],
    [
      { format: 'A3', margin: { top: '127.1mm' } },
      'margin.top: must be a number with px, in, cm or mm, from 0 to 5 in',
    ],
    // Upright there is room for these margins.
    [
      { format: 'A5', landscape: true, margin: { top: '5in', bottom: '1in' } },
      'margin: must leave room for a page of this format',
    ],
  ])('is refused with %j', (order, problem) => {
    expect(problemsOf(pdf, { url, ...order })).toEqual([problem])
  })

  test.each(['1-', '0', '0-2', '3-1', '1, 5-4'])('is refused with the page ranges %s', (pageRanges) => {
    const problem = 'pageRanges: must be page numbers and ranges such as 1-3, 5'
    expect(problemsOf(pdf, { url, pageRanges })).toEqual([problem])
  })

  test('has plain text in its margins, which can load and run nothing', () => {
    const template = marginTemplate('<img src="http://10.0.0.1/"> {page} of {pages} {other}')
    expect(template).toContain('&lt;img src=&quot;http://10.0.0.1/&quot;&gt; <span class="pageNumber"></span> of')
    expect(template).toContain('<span class="totalPages"></span> {other}')
    const inherited = '{constructor} {toString} {__proto__}'
    expect(marginTemplate(inherited)).toContain(`>${inherited}<`)
  })
})

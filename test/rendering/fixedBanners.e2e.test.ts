import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { pageCount } from '../../src/products/page/pageCount.ts'
import { pictureSize } from '../../src/products/page/pictureSize.ts'
import { openEgress } from '../../src/rendering/openEgress.ts'
import { textOf } from './readPdf.ts'
import { openTestRenderer, startWeb } from './testRenderer.ts'

const content = `<style>body{margin:0}</style><div style="height:2000px">content</div>`
const header = '<header style="position:fixed;inset:0 0 auto;height:40px;background:teal">Header</header>'
const banner = '<aside style="position:fixed;inset:auto 0 0;height:150px;background:gold">Cookies</aside>'
const web = await startWeb((request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end(`<!doctype html>${header}${content}${request.url === '/banner' ? banner : ''}`)
})
const opened = await openTestRenderer({ egress: openEgress({ allowHosts: [`127.0.0.1:${web.port}`] }) })
const margin = { top: '0', right: '0', bottom: '0', left: '0' }
const customer = (payment: string) => ({ payer: 'wallet', payment, signal: new AbortController().signal })
const urlOf = (path: string) => `http://127.0.0.1:${web.port}${path}`

test.skipIf(opened === undefined)(
  'a banner at the bottom of the window covers no content of a whole page',
  async () => {
    const renderer = assertPresent(opened, 'a browser runs')
    const heights = ['/', '/banner'].map(async (path) => {
      const order = { url: urlOf(path), width: 640, height: 480, fullPage: true }
      return pictureSize((await renderer.screenshot(order, customer(path))).bytes, 'png').height
    })
    // In the flow of the page, where it is written, and no longer over the text.
    expect(await Promise.all(heights)).toEqual([2_000, 2_150])
  },
)

test.skipIf(opened === undefined)('banners are on one sheet of a document, and not over the text of each', async () => {
  const renderer = assertPresent(opened, 'a browser runs')
  const order = { page: { url: urlOf('/banner') }, format: 'A5', margin } as const
  const { bytes } = await renderer.pdf(order, customer('document'))
  expect(await pageCount(bytes)).toBeGreaterThan(2)
  expect((await textOf(bytes)).match(/Header|Cookies/g)).toEqual(['Header', 'Cookies'])
})

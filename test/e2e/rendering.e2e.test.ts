import { readdir, rename } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { saleBody } from '@tollbook/core/wire'
import { pageCount } from '../../src/products/page/pageCount.ts'
import { pictureSize } from '../../src/products/page/pictureSize.ts'
import { ask, askForQuote, buy, type Order } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService } from '../support/testService.ts'
import { readLedgerState } from '../support/readLedgerState.ts'
import { textOf } from '../rendering/readPdf.ts'
import { browsersOf, childrenOf, startWeb } from '../rendering/testRenderer.ts'

let isDown = false
let isSilent = false
let silentlyAsked = 0
const web = await startWeb((request, response) => {
  if (isDown) return request.socket.destroy()
  if (isSilent) return void silentlyAsked++
  if (request.url === '/away') return response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
  return response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>A page</h1>')
})
const artifactDirectory = await makeScratchDirectory()
const service = await openTestService({
  env: {
    RENDER_CONCURRENCY: '2',
    EGRESS_ALLOW_HOSTS: `127.0.0.1:${web.port}`,
    EGRESS_DENY_HOSTS: 'front.example.com,93.184.216.0/24',
    ARTIFACT_DIR: artifactDirectory,
    HANDLER_TIMEOUT_MS: '15000',
  },
})
const url = `http://127.0.0.1:${web.port}/`
const screenshot: Order = { path: '/api/tools/screenshot', body: { url, width: 800, height: 600 } }
// Wider than its paper.
const table = `<table><tr>${Array.from({ length: 25 }, (_, nth) => `<td>column${nth}</td>`).join('')}</tr></table>`
const pdf: Order = {
  path: '/api/tools/pdf',
  body: { html: `${table}<p style="page-break-before:always">two</p>`, format: 'Letter', margin: { top: '2cm' } },
}

let first = await ask(service, screenshot)
await awaitThat('a browser is started or not', async () => {
  first = await ask(service, screenshot)
  return !/being started/.test(String(first.body['error']))
})
const canRender = first.status === 402
if (!canRender) process.stderr.write(`rendering is not tested: ${String(first.body['error'])}\n`)

const screenshotData = z.strictObject({
  imageUrl: z.url(),
  width: z.int(),
  height: z.int(),
  format: z.literal('png'),
})
const pdfData = z.strictObject({ pdfUrl: z.url(), pages: z.int(), size: z.string().regex(/^\d+(\.\d)? (B|KB|MB)$/) })

describe.skipIf(!canRender)('a screenshot that was paid for', () => {
  test('has the fields of the specification, and the picture is available to everyone who has its address', async () => {
    const sale = await buy(service, screenshot)
    const data = screenshotData.parse(sale.data)
    expect(data).toMatchObject({ width: 800, height: 600 })
    expect(data.imageUrl.startsWith(`${service.baseUrl}/artifacts/`)).toBe(true)
    expect(sale.meta).toMatchObject({
      source: 'tollbook',
      cached: false,
      httpStatus: 200,
      finalUrl: url,
      complete: true,
    })

    const answer = await fetch(data.imageUrl)
    expect(answer.status).toBe(200)
    const bytes = await answer.bytes()
    expect(pictureSize(bytes, 'png')).toEqual({ width: 800, height: 600 })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(bytes.length),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
    expect(answer.headers.get('cache-control')).toMatch(/^private, max-age=\d+, immutable$/)
    expect(answer.headers.get('content-disposition')).toMatch(/^inline; filename="[\w-]{22}-\w+\.png"$/)
    const head = await fetch(data.imageUrl, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)])
    expect(await head.text()).toBe('')
  })

  test('is not to be had under any other name', async () => {
    const [name = ''] = await readdir(artifactDirectory)
    // Another last digit of the expiry, whichever it is.
    const later = name.replace(/\w(?=\.png$)/, (digit) => (digit === 'z' ? 'y' : 'z'))
    expect(later).not.toBe(name)
    for (const wrong of [later, `${name}x`, 'x', '..%2f..%2fpackage.json', '%2e%2e', name.replace('.png', '.pdf')]) {
      const answer = await fetch(`${service.baseUrl}/artifacts/${wrong}`)
      expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ code: 'NOT_FOUND' })])
    }
  })
})

test.skipIf(!canRender)('a document that was paid for says how many pages it has, and fits its paper', async () => {
  const data = pdfData.parse((await buy(service, pdf)).data)
  const answer = await fetch(data.pdfUrl)
  expect(answer.headers.get('content-type')).toBe('application/pdf')
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment/)
  expect(data.pages).toBe(2)
  const bytes = await answer.bytes()
  expect([await pageCount(bytes), await textOf(bytes)]).toEqual([2, expect.stringMatching(/column0 .* column24 two/)])
})

test.skipIf(!canRender)(
  'a page at a host that the operator denies is not fetched, and its payment buys another',
  async () => {
    const proof = await service.payer.pay(await askForQuote(service, screenshot))
    for (const denied of ['https://front.example.com/', 'http://93.184.216.34/']) {
      const refused = await ask(service, { ...screenshot, body: { url: denied }, proof })
      expect([refused.status, refused.body['code']]).toEqual([403, 'TARGET_FORBIDDEN'])
    }
    expect((await ask(service, { ...screenshot, proof })).status).toBe(200)
  },
)

describe.skipIf(!canRender)('the payment of a page that could not be had', () => {
  test('buys the next: unreachable', async () => {
    const proof = await service.payer.pay(await askForQuote(service, screenshot))
    isDown = true
    const failed = await ask(service, { ...screenshot, proof })
    expect([failed.status, failed.body['code']]).toEqual([502, 'UPSTREAM_FAILED'])
    isDown = false
    screenshotData.parse(saleBody.parse((await ask(service, { ...screenshot, proof })).body).data)
    expect((await ask(service, { ...screenshot, proof })).body).toMatchObject({ reason: 'already_used' })
  })

  test('buys the next: forbidden', async () => {
    const away: Order = { ...pdf, body: { url: `${url}away` } }
    const proof = await service.payer.pay(await askForQuote(service, away))
    const failed = await ask(service, { ...away, proof })
    expect([failed.status, failed.body['code']]).toEqual([403, 'TARGET_FORBIDDEN'])
    pdfData.parse(saleBody.parse((await ask(service, { ...pdf, proof })).body).data)
  })
})

describe.skipIf(!canRender)('I4 the payment of a page whose rendering broke', () => {
  test('buys the page from another browser: the browser was killed', async () => {
    const proof = await service.payer.pay(await askForQuote(service, screenshot))
    isSilent = true
    const asking = ask(service, { ...screenshot, proof })
    await awaitThat('the page is asked for', () => silentlyAsked > 0)
    isSilent = false
    const workers = childrenOf(process.pid, /renderWorker/)
    for (const pid of workers.flatMap(browsersOf)) process.kill(pid, 'SIGKILL')
    screenshotData.parse(saleBody.parse((await asking).body).data)
    await awaitThat('there is a browser again', async () => (await ask(service, screenshot)).status === 402)
    expect((await ask(service, { ...screenshot, proof })).body).toMatchObject({ reason: 'already_used' })
  })

  test('I17 and the ledger records it: failed and fulfilled attempts, entries that sum to zero, nothing owed', async () => {
    const ledger = await readLedgerState(service)
    expect(ledger.failures).toEqual([...Array<string>(3).fill('target_forbidden'), 'upstream_failed'])
    expect(ledger).toMatchObject({ entriesSum: '0', unearned: '0' })
  })
})

test.skipIf(!canRender)(
  'results that cannot be stored: attempt released, check fails, and the same proof buys later',
  async () => {
    const [proof, later] = [
      await service.payer.pay(await askForQuote(service, screenshot)),
      await service.payer.pay(await askForQuote(service, screenshot)),
    ]
    const away = `${artifactDirectory}-away`
    await rename(artifactDirectory, away)
    const failed = await ask(service, { ...screenshot, proof })
    expect([failed.status, failed.body['code']]).toEqual([502, 'UPSTREAM_FAILED'])
    // The second one is refused before its payment is claimed, and no one is asked to pay.
    const attempts = async () => (await readLedgerState(service)).failures.length
    const attemptsBefore = await attempts()
    for (const order of [{ ...screenshot, proof: later }, screenshot]) {
      const refused = await ask(service, order)
      expect([refused.status, refused.body['error']]).toEqual([503, 'results cannot be stored at the moment'])
    }
    expect(await attempts()).toBe(attemptsBefore)
    const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text()
    expect(metrics).toContain('tollbook_check_failing{check="artifacts"} 1')
    await rename(away, artifactDirectory)
    await awaitThat('screenshots are sold again', async () => (await ask(service, screenshot)).status === 402)
    for (const stored of [proof, later])
      screenshotData.parse(saleBody.parse((await ask(service, { ...screenshot, proof: stored })).body).data)
    expect(await readLedgerState(service)).toMatchObject({ entriesSum: '0', unearned: '0' })
  },
)

describe('no payment is requested', () => {
  test.each([
    [{ url: 'http://10.0.0.1/' }],
    [{ url: `http://127.0.0.1:${web.port + 1}/` }],
    [{ html: 'x', url }],
    [{}],
    [{ html: 'x', format: 'A5', margin: { left: '5in', right: '5in' } }],
  ])('for a document of %j', async (body) => {
    const { status } = await ask(service, { ...pdf, body })
    expect(status).toBe(400)
  })

  test('where no page is rendered', async () => {
    const without = await openTestService({ besides: service, env: { RENDER_CONCURRENCY: '0' } })
    const answer = await ask(without, screenshot)
    expect([answer.status, answer.body['code']]).toEqual([400, 'INVALID_REQUEST'])
    const known = await ask(without, { ...screenshot, body: { url: 'https://example.com/' } })
    expect([known.status, known.body['code']]).toEqual([503, 'ENDPOINT_UNAVAILABLE'])
  })
})

test('a CHROMIUM_PATH that is wrong stops the start', async () => {
  await expect(
    openTestService({ besides: service, env: { RENDER_CONCURRENCY: '1', CHROMIUM_PATH: '/nowhere/chromium' } }),
  ).rejects.toThrow('CHROMIUM_PATH names /nowhere/chromium')
})

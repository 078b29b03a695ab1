import { expect, test } from 'vitest'
import { z } from 'zod'
import { toBase64Url } from '@tollbook/core/bytes'
import { sha256 } from '@tollbook/core/digest'
import { ended, endpoint, openPayPage, paid, sale, statusOf, wallet } from './dom/openPayPage.ts'

test('a second purchase keeps a payment without an answer, and both answers are fetched one after the other', async () => {
  const failing = Array.from({ length: 40 }, () => ({ status: 500, json: { error: 'broken' } }))
  const page = await openPayPage({ answers: [...failing, { status: 404, json: { error: 'no such city' } }, sale()] })
  page.click('#wallets button')
  await page.until('20 tries', () => page.proofs().length === 20)
  await ended(page)
  page.click('#wallets button')
  await page.until('40 tries', () => page.proofs().length === 40)
  await ended(page)
  const keys = new Set(page.proofs().map(({ headers }) => headers.get('idempotency-key')))
  expect(keys.size).toBe(2)
  // The first of both buys nothing now, and does not hide the other.
  page.click('#resume')
  await paid(page)
  expect(
    new Set(
      page
        .proofs()
        .slice(40)
        .map(({ headers }) => headers.get('idempotency-key')),
    ),
  ).toEqual(keys)
  expect(page.isShown('#stored')).toBe(true)
  page.click('#resume')
  await page.until('the last answer', () => page.storedNow() === null)
  expect(page.proofs()).toHaveLength(43)
})

test('a payment stays stored until its answer is shown', async () => {
  let asked = 0
  const page = await openPayPage({ keysAreLost: () => ++asked === 1 })
  page.click('#wallets button')
  await ended(page)
  expect([statusOf(page), page.isShown('#stored')]).toEqual([expect.stringContaining('Failed to fetch'), true])
  page.click('#resume')
  await paid(page)
  expect([page.storedNow(), page.proofs().length]).toEqual([null, 2])
})

test('a broken connection does not end the wait for a phone, which may have paid', async () => {
  let polls = 0
  const page = await openPayPage({
    found() {
      if (++polls === 1) throw new TypeError('Failed to fetch')
      return { json: { data: { signature: 'sent', wallet } } }
    },
  })
  Object.assign(page.window.document.querySelector('#phone') ?? {}, { open: true })
  await paid(page)
  expect([polls, page.proofs().length]).toEqual([2, 1])
})

const notYet = { status: 404, json: { error: 'not yet' } }
const codeName = `tollbook code ${endpoint} `
const code = { order: { symbol: 'ETH' }, key: 'earlier', secret: 'secret of the code', shownAtMs: Date.now() }
const openCode = (page: Awaited<ReturnType<typeof openPayPage>>, open: boolean) =>
  Object.assign(page.window.document.querySelector('#phone') ?? {}, { open })
const codesOf = (page: Awaited<ReturnType<typeof openPayPage>>) =>
  Object.entries(page.window.localStorage).filter(([name]) => name.startsWith(codeName))

test('a code is stored before a phone can pay it, and becomes the payment that arrives', async () => {
  const seen: unknown[] = []
  const page = await openPayPage({
    found() {
      const qr = page.window.document.querySelector('#qr img')?.getAttribute('src')
      const { secret } = z.object({ secret: z.string() }).parse(JSON.parse(codesOf(page)[0]?.[1] ?? ''))
      seen.push(qr?.includes(toBase64Url(sha256(secret))))
      return { json: { data: { signature: 'sent', wallet } } }
    },
  })
  openCode(page, true)
  await paid(page)
  expect([seen, codesOf(page), page.storedNow()]).toEqual([[true], [], null])
})

test('a phone that pays after its page was left has paid for the next visit', async () => {
  const page = await openPayPage({ storage: { [`${codeName}earlier`]: JSON.stringify(code) } })
  expect([page.isShown('#stored'), codesOf(page)]).toEqual([true, []])
  page.click('#resume')
  await paid(page)
  const [proof] = page.proofs()
  expect([proof?.query.get('symbol'), proof?.headers.get('idempotency-key')]).toEqual(['ETH', 'earlier'])
  const content: unknown = JSON.parse(Buffer.from(proof?.headers.get('x-payment-proof') ?? '', 'base64').toString())
  expect(content).toEqual({ signature: 'sent', secret: 'secret of the code' })
})

test.each<readonly [string, (page: Awaited<ReturnType<typeof openPayPage>>) => unknown]>([
  ['another code', (page) => openCode(page, true)],
  ['a wallet', (page) => page.click('#wallets button')],
])('a code that was closed too early is not paid a second time by %s', async (_, payAgain) => {
  let hasArrived = false
  const page = await openPayPage({
    found() {
      openCode(page, false)
      return hasArrived ? { json: { data: { signature: 'sent', wallet } } } : notYet
    },
  })
  openCode(page, true)
  await ended(page)
  expect(page.isShown('#stored')).toBe(false)
  hasArrived = true
  payAgain(page)
  await page.until('the earlier payment', () => page.isShown('#stored'))
  expect(statusOf(page)).toContain('The payment of an earlier code has arrived.')
  expect([page.asked.filter(({ path }) => path === endpoint).length, codesOf(page)]).toEqual([1, []])
})

test('a code that no phone has paid is forgotten after a day', async () => {
  const dayMs = 24 * 60 * 60 * 1000
  const old = { ...code, shownAtMs: code.shownAtMs - dayMs - 60_000 }
  const storage = {
    [`${codeName}earlier`]: JSON.stringify(code),
    [`${codeName}old`]: JSON.stringify({ ...old, key: 'old' }),
  }
  const page = await openPayPage({ storage, found: () => notYet })
  expect(codesOf(page).map(([name]) => name)).toEqual([`${codeName}earlier`])
  expect(page.isShown('#stored')).toBe(false)
})

test.each(['INSUFFICIENT_BALANCE', 'PAYMENT_REQUIRED'])(
  'a 402 %s does not lose a payment, which a node may not show yet',
  async (refusal) => {
    const page = await openPayPage({ answers: [{ status: 402, json: { error: 'no', code: refusal } }, sale()] })
    openCode(page, true)
    await ended(page)
    expect(page.isShown('#stored')).toBe(true)
    page.click('#resume')
    await paid(page)
    expect([page.proofs().length, page.storedNow()]).toEqual([2, null])
  },
)

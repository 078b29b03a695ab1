import { expect, test } from 'vitest'
import { ended, openPayPage, paid, sale, statusOf, wallet } from './dom/openPayPage.ts'

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

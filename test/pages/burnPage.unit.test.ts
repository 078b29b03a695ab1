import { expect, test } from 'vitest'
import { openPage, readPage } from './dom/openPage.ts'

const span = (tokens: number, payments = 1) => ({ tokens, payments, baseUnits: String(tokens * 1_000_000) })

const stats = {
  mint: 'Mint',
  decimals: 6,
  total: span(1_234, 5_678),
  last24Hours: span(1),
  last7Days: span(7),
  last30Days: span(30),
  byEndpoint: [{ endpoint: '/api/data/crypto', ...span(9) }],
  // Newest first, as the service answers.
  byDay: [
    { day: '2026-11-21', ...span(3) },
    { day: '2026-11-20', ...span(2) },
    { day: '2026-11-19', ...span(1) },
  ],
  confirmed: { insidePayments: span(1_000), inRounds: span(234), lastRound: null },
  owed: { baseUnits: '2500000', oldestAt: '2026-11-21T11:00:00.000Z' },
  ledger: { position: 42 },
  asOf: '2026-11-21T12:00:00.000Z',
}

test('the burn page shows its figures, and draws days from the oldest to the newest', async () => {
  const page = await openPage({
    page: 'burn',
    html: await readPage('burn.html'),
    url: 'http://host/burn',
    answer: () => ({ json: { success: true, data: stats } }),
  })
  expect([page.textOf('#total'), page.textOf('#day'), page.textOf('#week')]).toEqual(['1,234', '1', '7'])
  expect(page.textOf('#owed')).toContain('2.5 more were received for burning')
  expect(page.chartOf('#chart-burns').data[1]).toEqual([1, 2, 3])
})

import { expect, test } from 'vitest'
import { type Answered, openPage, readPage } from './dom/openPage.ts'

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
  confirmed: {
    insidePayments: span(1_000),
    inRounds: span(234),
    lastRound: { at: '2026-11-21T10:00:00.000Z', signature: 'S' },
  },
  owed: { baseUnits: '2500000', oldestAt: '2026-11-21T11:00:00.000Z' },
  treasury: {
    promised: span(9),
    delivered: span(8),
    burned: span(7),
    open: span(2),
    sales: [
      { mint: 'DollarMint', symbol: 'USDC', usd: 0.3 },
      { mint: 'OtherMint', usd: 0.01 },
    ],
  },
  ledger: { position: 42 },
  asOf: '2026-11-21T12:00:00.000Z',
}

const html = await readPage('burn.html')

test('the burn page shows its figures, and draws days from the oldest to the newest', async () => {
  const page = await openPage({
    page: 'burn',
    html,
    url: 'http://host/burn',
    answer: () => ({ json: { success: true, data: stats } }),
  })
  expect([page.textOf('#total'), page.textOf('#day'), page.textOf('#week')]).toEqual(['1,234', '1', '7'])
  expect(page.textOf('#owed')).toContain('2.5 more were received for burning')
  expect(page.textOf('#rounds')).toContain('1,000 inside payments, 234 later by the service')
  expect(page.textOf('#promised')).toBe(
    'Sales of 0.3 USD in USDC and 0.01 USD in OtherMint promised 9 tokens: the treasury delivered 8, 7 are burned and 2 are open.',
  )
  expect(page.barsOf('#chart-burns')).toEqual(['2026-11-19: 1 Burned', '2026-11-20: 2 Burned', '2026-11-21: 3 Burned'])
})

test('the burn page asks again every half minute, and keeps its figures when the service does not answer', async () => {
  const repeated: (readonly [work: () => void, everyMs: number])[] = []
  let answered: Answered = { json: { success: true, data: stats } }
  const page = await openPage({
    page: 'burn',
    html,
    url: 'http://host/burn',
    answer: () => answered,
    before: (window) =>
      Object.assign(window, { setInterval: (...given: (typeof repeated)[0]) => repeated.push(given) }),
  })
  expect(repeated.map(([, everyMs]) => everyMs)).toEqual([30_000])
  answered = { status: 503, json: { error: 'no ledger' } }
  repeated[0]?.[0]()
  await page.until('the second answer', () => page.textOf('#status').includes('not available now: no ledger'))
  expect([page.asked.length, page.textOf('#total')]).toEqual([2, '1,234'])
})

test('the home page shows what was burned', async () => {
  const places = ['burned', 'burned-payments'].map((id) => `<p id="${id}"></p>`)
  const page = await openPage({
    page: 'home',
    html: `<body>${places.join('')}</body>`,
    url: 'http://host/',
    answer: () => ({ json: { success: true, data: stats } }),
  })
  expect(page.textsOf('p')).toEqual(['1,234', 'tokens in 5,678 payments'])
})

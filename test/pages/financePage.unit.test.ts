import { describe, expect, test } from 'vitest'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { openFinancePage, settled, summary, tableOf } from './dom/openFinancePage.ts'

describe('the token', () => {
  test('comes from the fragment, leaves the address, and is sent in a header only', async () => {
    const page = await openFinancePage({ query: '#token=secret-token', token: '' })
    await page.until('the figures', () => page.isShown('#ledger'))
    expect([page.address(), page.token()]).toEqual(['http://host/finance', 'secret-token'])
    expect(new Set(page.asked.map(({ headers }) => headers.get('authorization')))).toEqual(
      new Set(['Bearer secret-token']),
    )
    expect(page.asked.map(({ query }) => query.toString()).join()).not.toContain('secret')
    // Figures stay out of the browser's cache.
    expect(new Set(page.asked.map(({ cache }) => cache))).toEqual(new Set(['no-store']))
  })

  test('is asked for without one, and taken from the form', async () => {
    const page = await openFinancePage({ token: '' })
    expect([page.isShown('#sign-in'), page.isShown('#ledger'), page.asked]).toEqual([true, false, []])
    Object.assign(page.window.document.querySelector('#token') ?? {}, { value: ' typed ' })
    page.submit('#sign-in form')
    await page.until('the figures', () => page.isShown('#ledger'))
    expect(page.askedFor('summary')[0]?.headers.get('authorization')).toBe('Bearer typed')
    expect(Reflect.get(page.window.document.querySelector('#token') ?? {}, 'value')).toBe('')
  })

  test('that is refused is forgotten, and no figure is shown', async () => {
    const page = await openFinancePage({ answers: { summary: { status: 401, json: { error: 'expired' } } } })
    await page.until('the refusal', () => page.isShown('#sign-in'))
    expect([page.token(), page.textOf('#status'), page.isShown('#ledger')]).toEqual([
      null,
      'Not signed in: expired.',
      false,
    ])
  })

  test('is forgotten at sign-out', async () => {
    const page = await openFinancePage()
    page.click('#sign-out')
    expect([page.token(), page.isShown('#sign-in'), page.isShown('#ledger')]).toEqual([null, true, false])
    expect(page.isShown('#sign-out')).toBe(false)
  })

  test('of support reads payments and no sums', async () => {
    const page = await openFinancePage({
      answers: { summary: { status: 403, json: { error: 'the token needs a role' } } },
    })
    expect([page.isShown('#reports'), page.isShown('.cards'), page.isShown('.charts')]).toEqual([true, false, false])
    expect([page.askedFor('burns'), page.askedFor('payments').length]).toEqual([[], 1])
    expect(page.token()).toBe('secret-token')
  })
})

describe('the summary', () => {
  const withChain = (baseUnits: string | null) => ({
    summary: { json: { data: { ...summary, paymentWalletOnChainBaseUnits: baseUnits } } },
  })

  test('shows amounts in tokens and what is still being added up', async () => {
    const page = await openFinancePage()
    expect(page.card('Payments')).toEqual(['1,234'])
    expect(page.card('Burned')).toEqual(['3', '1 of it later, by us'])
    expect(page.card('Owed to be burned')).toEqual(['0.5', 'since 2026-11-21 11:00 UTC'])
    expect(page.card('Payment wallet, in the ledger')).toEqual(['7'])
    expect([page.card('Owed in all'), page.card('Owed back to wallets')]).toEqual([['2'], ['1.5']])
    expect(page.card('Lost to reversals')).toEqual(['0.25'])
    expect(page.textOf('#status')).toContain('position 40 of the ledger; 2 events are still being added up')
    expect(page.window.document.querySelector('a.public')?.getAttribute('href')).toBe('https://public.example/burn')
  })

  test.each([
    ['7500000', '0.5 more than in the ledger: arrived', true],
    ['6500000', '0.5 less than in the ledger: left', true],
    ['7000000', 'the same as in the ledger', false],
  ])('says how a wallet of %s on chain differs from the ledger', async (baseUnits, words, isOffered) => {
    const page = await openFinancePage({ answers: withChain(baseUnits) })
    expect(page.card('Payment wallet, on chain')[1]).toContain(words)
    expect(page.textsOf('#reconcile')).toHaveLength(isOffered ? 1 : 0)
  })

  test('names the mint of its figures, and asks for each report in the mint of its address', async () => {
    const mints = [...summary.mints, { mint: 'U', name: 'USDC', decimals: 6 }]
    const answers = { summary: { json: { data: { ...summary, mint: 'U', mints } } } }
    const page = await openFinancePage({ query: '?mint=U', answers })
    expect(page.textOf('#status')).toContain('All are USDC. Show TOKEN')
    expect(page.asked.length).toBeGreaterThan(3)
    expect(page.asked.filter(({ query }) => query.get('mint') !== 'U')).toEqual([])
  })

  test('says that no node answers, and offers no reconciliation', async () => {
    const page = await openFinancePage({ answers: withChain(null) })
    expect(page.card('Payment wallet, on chain')).toEqual(['no node answers'])
    expect(page.textsOf('#reconcile')).toEqual([])
    expect(page.textsOf('#chart-liabilities td')).toEqual([' 7', ' 2', ' 2'])
  })

  test.each([
    ['7000000', '7', 'the same as in the ledger'],
    ['7500000', '7.5', '0.5 more than in the ledger: arrived and not recorded, or not yetShow the transfers'],
    ['6000000', '6', '1 less than in the ledger: left, and no payout is recordedShow the transfers'],
  ])('compares %s base units on chain with the ledger', async (chainBaseUnits, shown, words) => {
    const page = await openFinancePage({ answers: withChain(chainBaseUnits) })
    const [figure, ...notes] = page.card('Payment wallet, on chain')
    expect([figure, notes.join('')]).toEqual([shown, words])
  })

  test('lists the transfers behind a difference', async () => {
    const transfers = [
      { signature: 'S'.repeat(88), baseUnits: '500000', blockTime: null, wallet: null, proposal: 'Record it.' },
    ]
    const reconciliation = {
      transfers,
      differenceBaseUnits: '500000',
      remainderBaseUnits: '0',
      searched: 1_000,
      decimals: 6,
    }
    const page = await openFinancePage({
      answers: { ...withChain('7500000'), reconciliation: { json: { data: reconciliation } } },
    })
    page.click('#reconcile')
    await page.until('the transfers', () => page.isShown('#reconciliation'))
    expect(page.textOf('#reconciliation li')).toContain('0.5 tokens')
    expect(page.textOf('#reconciliation li')).toContain('Record it.')
    expect(page.address()).toContain('view=reconciliation')
    expect(page.textOf('#reconciliation p')).toContain('0.5 tokens; 0 of it')
    const again = await openFinancePage({
      query: '?view=reconciliation',
      answers: { ...withChain('7500000'), reconciliation: { json: { data: reconciliation } } },
    })
    await again.until('the transfers', () => again.isShown('#reconciliation'))
  })
})

test('links to public pages are hidden where the service does not know its public address', async () => {
  const page = await openFinancePage({ answers: { summary: { json: { data: { ...summary, publicUrl: null } } } } })
  expect(page.isShown('a.public')).toBe(false)
})

describe('the charts', () => {
  test('have days from the oldest to the newest, and tables from the newest', async () => {
    const page = await openFinancePage()
    expect(page.barsOf('#chart-burns').filter((bar) => bar.endsWith('by callers'))).toEqual([
      '2026-11-19: 1 Burned by callers',
      '2026-11-20: 2 Burned by callers',
      '2026-11-21: 3 Burned by callers',
    ])
    expect(page.barsOf('#chart-burns')).toContain('2026-11-19: 0.25 Burned later, by us')
    expect(page.textsOf('#chart-burns tbody th')).toEqual(['2026-11-21', '2026-11-20', '2026-11-19'])
  })

  test('stack the amounts of a day up to the largest sum', async () => {
    const { window } = await openFinancePage()
    const heights = [...window.document.querySelectorAll('#chart-burns rect')].map((bar) => [
      Number(bar.getAttribute('y')),
      Number(bar.getAttribute('height')),
    ])
    expect(heights).toHaveLength(6)
    // The largest day has 3 and 0.05 tokens.
    expect(heights[4]?.[1]).toBeCloseTo((3 / 3.05) * 100)
    expect(heights[5]?.[0]).toBeCloseTo(0)
    for (let day = 0; day < 6; day += 2) expect(heights[day + 1]?.[0]).toBeLessThan(heights[day]?.[0] ?? 0)
  })

  test('have bars for each share of the split, and none for other columns', async () => {
    const page = await openFinancePage()
    expect(page.barsOf('#chart-distribution')).toEqual(['2026-11-21: 5 Provider', '2026-11-21: 1 Treasury'])
    expect(page.textsOf('#chart-distribution .axis span')).toEqual(['■ Provider', '■ Treasury'])
    expect(page.textsOf('#chart-distribution thead th')).toEqual(['Day', 'Provider', 'Treasury'])
    expect(page.textsOf('#chart-endpoints td')).toEqual([' 9'])
    expect(page.window.document.querySelector('#chart-endpoints meter')?.getAttribute('value')).toBe('9')
  })

  test('have no bar for a day on which more was reversed than burned, nor room for it', async () => {
    const days = [
      { day: '2026-11-21', burnedBaseUnits: '-2000000', burnConfirmedBaseUnits: '500000', payments: 0 },
      { day: '2026-11-20', burnedBaseUnits: '1000000', burnConfirmedBaseUnits: '0', payments: 1 },
    ]
    const page = await openFinancePage({ answers: { burns: tableOf(days) } })
    const bars = [...page.window.document.querySelectorAll('#chart-burns rect')]
    expect(bars.map((bar) => bar.getAttribute('height'))).toEqual(['100', '0', '0', '50'])
    expect(page.barsOf('#chart-burns')).toContain('2026-11-21: -2 Burned by callers')
    expect(page.textOf('#chart-burns .muted')).toBe('up to 1 a day')
  })

  test('have their longest bar for the largest amount, also below one token', async () => {
    const rows = [{ endpoint: '/api/data/news', receivedBaseUnits: '250000' }]
    const page = await openFinancePage({ answers: { distributions: tableOf(rows, { columns: [] }) } })
    const meter = page.window.document.querySelector('#chart-endpoints meter')
    expect([meter?.getAttribute('value'), meter?.getAttribute('max')]).toEqual(['0.25', '0.25'])
  })

  test('say that a range is empty', async () => {
    const page = await openFinancePage({ answers: { burns: tableOf([]) } })
    expect(page.textOf('#chart-burns')).toContain('Nothing in this range.')
  })
})

describe('the range of days', () => {
  test('is a month, a quarter or two days, and is part of the address', async () => {
    const page = await openFinancePage({ query: '?from=2026-10-01&to=2026-10-05' })
    expect(page.askedFor('payments')[0]?.query.toString()).toBe('from=2026-10-01&to=2026-10-05&limit=50')
    const entries = page.window.history.length
    page.fill('#month', '2026-09')
    await settled(page)
    expect(page.address()).toBe('http://host/finance?month=2026-09')
    expect(page.askedFor('payments').at(-1)?.query.toString()).toBe('month=2026-09&limit=50')
    page.fill('#from', '2026-11-01')
    await settled(page)
    expect(page.address()).toBe('http://host/finance?from=2026-11-01')
    expect(page.window.history.length).toBe(entries)
  })

  test('is the last 30 days by default, with today', async () => {
    const page = await openFinancePage()
    const from = page.askedFor('payments')[0]?.query.get('from') ?? ''
    const todayMs = Date.parse(isoTime(systemClock.nowMs()).slice(0, 10))
    expect((todayMs - Date.parse(from)) / 86_400_000).toBe(29)
    page.click('[data-days="7"]')
    await settled(page)
    expect((todayMs - Date.parse(page.askedFor('payments').at(-1)?.query.get('from') ?? '')) / 86_400_000).toBe(6)
  })

  test('has one period: a month ends the quarter, and the quarter the month', async () => {
    const page = await openFinancePage()
    const quarter = (page.textsOf('#quarter option')[1] ?? '').replace(' ', '-')
    page.fill('#quarter', quarter)
    await settled(page)
    expect(page.askedFor('payments').at(-1)?.query.toString()).toBe(`quarter=${quarter}&limit=50`)
    page.fill('#month', '2026-09')
    await settled(page)
    expect(page.address()).toBe('http://host/finance?month=2026-09')
    page.fill('#quarter', quarter)
    await settled(page)
    expect(page.address()).toBe(`http://host/finance?quarter=${quarter}`)
  })

  test('is everything on request, which the address keeps', async () => {
    const page = await openFinancePage({ query: '?month=2026-09' })
    page.click('[data-days=all]')
    await settled(page)
    expect(page.address()).toBe('http://host/finance?from=1970-01-01')
    expect(page.askedFor('payments').at(-1)?.query.get('from')).toBe('1970-01-01')
  })
})

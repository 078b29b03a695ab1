import { describe, expect, test } from 'vitest'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { type Answered, type Asked, type OpenPage, openPage, readPage } from './dom/openPage.ts'

const html = await readPage('finance.html')
const ledger = { position: 40, headPosition: 42 }
const summary = {
  decimals: 6,
  ledger,
  asOf: '2026-11-21T12:00:00.000Z',
  publicUrl: 'https://public.example',
  payments: 1_234,
  burnedBaseUnits: '3000000',
  burnConfirmedBaseUnits: '1000000',
  burnOwedBaseUnits: '500000',
  burnOwedSince: '2026-11-21T11:00:00.000Z',
  paymentWalletBaseUnits: '7000000',
  paymentWalletOnChainBaseUnits: '7000000' as string | null,
  liabilities: [{ account: 'Liabilities:RefundsDue', owedBaseUnits: '2000000' }],
  owedBaseUnits: '2000000',
  refundsDueBaseUnits: '1500000',
  lostBaseUnits: '250000',
}
// Newest first, as the service answers.
const burns = ['2026-11-21', '2026-11-20', '2026-11-19'].map((day, index) => ({
  day,
  burnedBaseUnits: `${3 - index}000000`,
  burnConfirmedBaseUnits: '0',
  payments: 1,
}))
const distribution = { day: '2026-11-21', endpoint: '/api/data/crypto', receivedBaseUnits: '9000000' }
const shares = { providerBaseUnits: '5000000', treasuryBaseUnits: '1000000', allocatedBaseUnits: '6000000' }
const payment = {
  paidAt: '2026-11-21T10:00:00.000Z',
  reference: `solana:${'5'.repeat(88)}`,
  wallet: `${'W'.repeat(20)}${'x'.repeat(24)}`,
  endpoint: '/api/data/crypto',
  state: 'refund_due',
  requiredBaseUnits: '20000000',
  priceMicroUsd: '2500000',
  attempts: 3,
}

function tableOf(rows: readonly object[], more: object = {}): Answered {
  const columns = Object.keys(rows[0] ?? {})
  return { json: { data: { decimals: 6, ledger, columns, rows, totals: null, next: null, ...more } } }
}

const ownAnswers: Readonly<Record<string, Answered>> = {
  summary: { json: { data: summary } },
  burns: tableOf(burns),
  distributions: tableOf([{ ...distribution, ...shares }]),
  payments: tableOf([payment]),
}

interface Visit {
  readonly query?: string
  readonly token?: string
  readonly answers?: Readonly<Record<string, Answered | ((asked: Asked) => Answered | Promise<Answered>)>>
}

const tokenKey = 'tollbook finance token'

interface Opened extends OpenPage {
  readonly askedFor: (report: string) => readonly Asked[]
  readonly token: () => string | null
  /** Figure and notes of the card with this name. */
  readonly card: (name: string) => readonly string[]
  readonly address: () => string
}

async function open({ query = '', token = 'secret-token', answers = {} }: Visit = {}): Promise<Opened> {
  const known = { ...ownAnswers, ...answers }
  const page = await openPage({
    page: 'finance',
    html,
    url: `http://host/finance${query}`,
    before: ({ sessionStorage }) => token !== '' && sessionStorage.setItem(tokenKey, token),
    answer(asked) {
      const found = known[asked.path.replace('/api/finance/', '')]
      if (found === undefined) return { status: 404, json: { error: `no ${asked.path}` } }
      return typeof found === 'function' ? found(asked) : found
    },
  })
  const opened = {
    ...page,
    askedFor: (report: string) => page.asked.filter(({ path }) => path === `/api/finance/${report}`),
    token: () => page.window.sessionStorage.getItem(tokenKey),
    address: () => page.window.location.href,
    card: (name: string) => {
      const names = [...page.window.document.querySelectorAll('.cards dt')]
      const found = names.find(({ textContent }) => textContent === name)
      return [...(found?.parentElement?.querySelectorAll('dd') ?? [])].map(({ textContent }) => textContent)
    },
  }
  if (token !== '') await settled(opened)
  return opened
}

/** Every answer has been shown. */
async function settled(page: OpenPage): Promise<void> {
  await page.window.happyDOM.waitUntilComplete()
  await page.until('all answers', () => page.window.document.querySelector('[aria-busy]') === null)
}

describe('the token', () => {
  test('comes from the fragment, leaves the address, and is sent in a header only', async () => {
    const page = await open({ query: '#token=secret-token', token: '' })
    await page.until('the figures', () => page.isShown('#ledger'))
    expect([page.address(), page.token()]).toEqual(['http://host/finance', 'secret-token'])
    expect(new Set(page.asked.map(({ headers }) => headers.get('authorization')))).toEqual(
      new Set(['Bearer secret-token']),
    )
    expect(page.asked.map(({ query }) => query.toString()).join()).not.toContain('secret')
  })

  test('is asked for without one, and taken from the form', async () => {
    const page = await open({ token: '' })
    expect([page.isShown('#sign-in'), page.isShown('#ledger'), page.asked]).toEqual([true, false, []])
    Object.assign(page.window.document.querySelector('#token') ?? {}, { value: ' typed ' })
    page.submit('#sign-in form')
    await page.until('the figures', () => page.isShown('#ledger'))
    expect(page.askedFor('summary')[0]?.headers.get('authorization')).toBe('Bearer typed')
    expect(Reflect.get(page.window.document.querySelector('#token') ?? {}, 'value')).toBe('')
  })

  test('that is refused is forgotten, and no figure is shown', async () => {
    const page = await open({ answers: { summary: { status: 401, json: { error: 'expired' } } } })
    await page.until('the refusal', () => page.isShown('#sign-in'))
    expect([page.token(), page.textOf('#status'), page.isShown('#ledger')]).toEqual([
      null,
      'Not signed in: expired.',
      false,
    ])
  })

  test('is forgotten at sign-out', async () => {
    const page = await open()
    page.click('#sign-out')
    expect([page.token(), page.isShown('#sign-in'), page.isShown('#ledger')]).toEqual([null, true, false])
  })

  test('of support reads payments and no sums', async () => {
    const page = await open({ answers: { summary: { status: 403, json: { error: 'the token needs a role' } } } })
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
    const page = await open()
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
    const page = await open({ answers: withChain(baseUnits) })
    expect(page.card('Payment wallet, on chain')[1]).toContain(words)
    expect(page.textsOf('#reconcile')).toHaveLength(isOffered ? 1 : 0)
  })

  test('says that no node answers, and offers no reconciliation', async () => {
    const page = await open({ answers: withChain(null) })
    expect(page.card('Payment wallet, on chain')).toEqual(['no node answers'])
    expect(page.textsOf('#reconcile')).toEqual([])
    expect(page.chartOf('#chart-liabilities').data[1]).toEqual([7, 2, 2])
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
    const page = await open({
      answers: { ...withChain('7500000'), reconciliation: { json: { data: reconciliation } } },
    })
    page.click('#reconcile')
    await page.until('the transfers', () => page.isShown('#reconciliation'))
    expect(page.textOf('#reconciliation li')).toContain('0.5 tokens')
    expect(page.textOf('#reconciliation li')).toContain('Record it.')
    expect(page.address()).toContain('view=reconciliation')
  })
})

test('links to public pages are hidden where the service does not know its public address', async () => {
  const page = await open({ answers: { summary: { json: { data: { ...summary, publicUrl: null } } } } })
  expect(page.isShown('a.public')).toBe(false)
})

describe('the charts', () => {
  test('have days from the oldest to the newest, and tables from the newest', async () => {
    const page = await open()
    const { data, options } = page.chartOf('#chart-burns')
    expect(data[1]).toEqual([1, 2, 3])
    expect(data[0]).toEqual((data[0] ?? []).toSorted((one, other) => one - other))
    expect(page.textsOf('#chart-burns tbody th')).toEqual(['2026-11-21', '2026-11-20', '2026-11-19'])
    expect(options.series.map(({ label }) => label)).toEqual([undefined, 'Burned by callers', 'Burned later, by us'])
  })

  test('have half a day of air on both sides, and labels that are whole days apart', async () => {
    const { data, options } = (await open()).chartOf('#chart-burns')
    const [first = 0, , last = 0] = data[0] ?? []
    expect(options.scales.x.range()).toEqual([first - 43_200, last + 43_200])
    expect(options.axes[0]?.incrs?.filter((stepS) => stepS % 86_400 !== 0)).toEqual([])
  })

  test('have a line for each share of the split, and none for other columns', async () => {
    const page = await open()
    expect(page.chartOf('#chart-distribution').data.slice(1)).toEqual([[5], [1]])
    expect(page.textsOf('#chart-distribution thead th')).toEqual(['Day', 'Provider', 'Treasury'])
    expect(page.chartOf('#chart-endpoints').data[1]).toEqual([9])
  })

  test('say that a range is empty', async () => {
    const page = await open({ answers: { burns: tableOf([]) } })
    expect(page.textOf('#chart-burns .stage')).toBe('Nothing in this range.')
  })
})

describe('the range of days', () => {
  test('is a month, a quarter or two days, and is part of the address', async () => {
    const page = await open({ query: '?from=2026-10-01&to=2026-10-05' })
    expect(page.askedFor('payments')[0]?.query.toString()).toBe('from=2026-10-01&to=2026-10-05&limit=50')
    page.fill('#month', '2026-09')
    await settled(page)
    expect(page.address()).toBe('http://host/finance?month=2026-09')
    expect(page.askedFor('payments').at(-1)?.query.toString()).toBe('month=2026-09&limit=50')
    page.fill('#from', '2026-11-01')
    await settled(page)
    expect(page.address()).toBe('http://host/finance?from=2026-11-01')
  })

  test('is the last 30 days by default, with today', async () => {
    const page = await open()
    const from = page.askedFor('payments')[0]?.query.get('from') ?? ''
    const todayMs = Date.parse(isoTime(systemClock.nowMs()).slice(0, 10))
    expect((todayMs - Date.parse(from)) / 86_400_000).toBe(29)
    page.click('[data-days="7"]')
    await settled(page)
    expect((todayMs - Date.parse(page.askedFor('payments').at(-1)?.query.get('from') ?? '')) / 86_400_000).toBe(6)
  })

  test('has one period: a month ends the quarter, and the quarter the month', async () => {
    const page = await open()
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
    const page = await open({ query: '?month=2026-09' })
    page.click('[data-days=all]')
    await settled(page)
    expect(page.address()).toBe('http://host/finance?from=1970-01-01')
    expect(page.askedFor('payments').at(-1)?.query.has('from')).toBe(false)
  })
})

describe('a report', () => {
  test('shows dollars, tokens, states and counts for people', async () => {
    const page = await open()
    const cells = page.textsOf('#reports tbody > tr > *')
    expect(cells).toContain('2.5')
    expect(cells).toContain('20')
    expect(cells).toContain('refund due')
    expect(cells).toContain('2026-11-21 10:00:00')
    expect(cells).toContain('WWWWWW…xxxxxx')
    expect(page.textsOf('#reports thead th')).not.toContain('Attempts')
  })

  test('has amounts of a token with other decimals than a dollar has', async () => {
    const page = await open({ answers: { payments: tableOf([payment], { decimals: 9 }) } })
    const cells = page.textsOf('#reports tbody > tr > *')
    expect([cells.includes('0.02'), cells.includes('2.5')]).toEqual([true, true])
  })

  test('is shown in the order of the questions: a late answer to an earlier one is dropped', async () => {
    const release: ((rows: Answered) => void)[] = []
    const page = await open({ answers: { refunds: () => new Promise<Answered>((resolve) => release.push(resolve)) } })
    page.fill('#reports [name=report]', 'refunds')
    page.fill('#reports [name=refund]', 'due')
    await page.until('both questions', () => release.length === 2)
    release[1]?.(tableOf([{ cause: 'second' }]))
    await page.until('the second answer', () => page.textsOf('#reports tbody th').includes('second'))
    release[0]?.(tableOf([{ cause: 'first' }]))
    await settled(page)
    expect(page.textsOf('#reports tbody th')).toEqual(['second'])
  })

  test('has pages with cursors, and begins again with another filter', async () => {
    const pages = ({ query }: Asked) => tableOf([payment], { next: query.get('cursor') === null ? 'c2' : 'c3' })
    const page = await open({ answers: { payments: pages } })
    page.click('#reports .next')
    await settled(page)
    page.click('#reports .next')
    await settled(page)
    expect(page.textOf('#reports .page')).toBe('Page 3')
    page.click('#reports .previous')
    await settled(page)
    expect(page.askedFor('payments').map(({ query }) => query.get('cursor'))).toEqual([null, 'c2', 'c3', 'c2'])
    page.fill('#reports [name=state]', 'reversed')
    await settled(page)
    const last = page.askedFor('payments').at(-1)?.query
    expect([last?.get('cursor'), last?.get('state'), page.textOf('#reports .page')]).toEqual([
      null,
      'reversed',
      'Page 1',
    ])
  })

  test('is asked for by the address, with its own filters alone', async () => {
    const page = await open({ query: '?report=payments&state=reversed&wallet=W&by=endpoint&month=2026-10' })
    expect(page.askedFor('payments')[0]?.query.toString()).toBe('month=2026-10&state=reversed&wallet=W&limit=50')
    page.fill('#reports [name=report]', 'liabilities')
    await settled(page)
    expect(page.address()).toBe('http://host/finance?month=2026-10&report=liabilities')
    expect([page.isShown('#reports [name=owedTo]'), page.isShown('#reports [name=state]')]).toEqual([true, false])
  })

  test('of an earlier entry of the history is shown with the filters and days of that entry', async () => {
    const page = await open({ query: '?state=reversed&month=2026-09' })
    page.window.history.replaceState(null, '', '/finance?report=payments&state=unmatched&month=2026-10')
    page.window.dispatchEvent(new page.window.Event('popstate'))
    await settled(page)
    const { query } = page.askedFor('payments').at(-1) ?? {}
    expect(query?.toString()).toBe('month=2026-10&state=unmatched&limit=50')
  })

  test('names its totals, and says when there is nothing', async () => {
    const totals = { paidAt: null, payments: 1, requiredBaseUnits: '20000000' }
    const page = await open({ answers: { payments: tableOf([payment], { totals }) } })
    expect(page.textOf('#reports tfoot th')).toBe('All of the range')
    expect(page.textOf('#reports caption')).toContain('1 payment, without reversed ones')
    const empty = await open({ query: '?wallet=W', answers: { payments: tableOf([]) } })
    expect([empty.isShown('#reports .empty'), empty.textOf('#reports .empty')]).toEqual([
      true,
      expect.stringContaining('letter by letter'),
    ])
  })

  test('has buttons for the pages that there are', async () => {
    const page = await open({
      answers: { payments: ({ query }) => tableOf([payment], { next: query.has('cursor') ? null : 'c2' }) },
    })
    const areDisabled = () =>
      ['.previous', '.next'].map((name) =>
        page.window.document.querySelector(`#reports ${name}`)?.hasAttribute('disabled'),
      )
    expect([page.isShown('#reports .paging'), areDisabled()]).toEqual([true, [true, false]])
    page.click('#reports .next')
    await settled(page)
    expect(areDisabled()).toEqual([false, true])
    const single = await open()
    expect(single.isShown('#reports .paging')).toBe(false)
  })

  test('without pages is asked for without a limit', async () => {
    const page = await open({ query: '?report=trial-balance&month=2026-10', answers: { 'trial-balance': tableOf([]) } })
    expect(page.askedFor('trial-balance')[0]?.query.toString()).toBe('month=2026-10')
  })

  test('links each payment, and leaves a click with a key to the browser', async () => {
    const page = await open()
    const link = page.window.document.querySelector('#reports tbody a')
    expect(link?.getAttribute('href')).toBe(`?payment=${payment.reference.replace('solana:', '')}`)
    link?.dispatchEvent(new page.window.MouseEvent('click', { ctrlKey: true, cancelable: true }))
    expect(page.asked.some(({ path }) => path.includes('explain'))).toBe(false)
    page.click('#reports tbody a')
    await page.until('the question', () =>
      page.asked.some(({ path }) => path.endsWith(encodeURIComponent(payment.reference))),
    )
  })

  test('is saved as CSV with the columns and filters that are shown', async () => {
    const page = await open({ query: '?state=reversed&month=2026-10' })
    page.click('#reports .csv')
    await page.until('the file', () => page.askedFor('payments').length === 2)
    const { query } = page.askedFor('payments')[1] ?? {}
    expect([query?.get('format'), query?.get('state'), query?.get('month')]).toEqual(['csv', 'reversed', '2026-10'])
    expect(query?.get('columns')).toBe('paidAt,reference,wallet,endpoint,state,requiredBaseUnits,priceMicroUsd')
  })

  test('that fails says why, and keeps the token', async () => {
    const page = await open({ answers: { payments: { status: 503, json: { error: 'the ledger does not answer' } } } })
    expect([page.textOf('#status'), page.token()]).toEqual([
      'That did not work: the ledger does not answer.',
      'secret-token',
    ])
  })
})

test('a wallet is found with its payments of all days, a signature as one payment', async () => {
  const page = await open({
    query: '?month=2026-10&state=reversed',
    answers: { [`explain/${'S'.repeat(64)}`]: { status: 404, json: { error: 'unknown' } } },
  })
  const find = async (subject: string) => {
    Object.assign(page.window.document.querySelector('#subject') ?? {}, { value: subject })
    page.submit('#find')
    await settled(page)
  }
  await find('W'.repeat(40))
  expect(page.askedFor('payments').at(-1)?.query.toString()).toBe(`wallet=${'W'.repeat(40)}&limit=50`)
  await find('S'.repeat(64))
  expect(page.askedFor(`explain/${'S'.repeat(64)}`)).toHaveLength(1)
})

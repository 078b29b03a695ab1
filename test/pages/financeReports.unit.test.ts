import { describe, expect, test } from 'vitest'
import { openFinancePage, payment, settled, tableOf } from './dom/openFinancePage.ts'
import type { Answered, Asked } from './dom/openPage.ts'

describe('a report', () => {
  test('shows dollars, tokens, states and counts for people', async () => {
    const page = await openFinancePage()
    const cells = page.textsOf('#reports tbody > tr > *')
    expect(cells).toContain('2.5')
    expect(cells).toContain('20')
    expect(cells).toContain('refund due')
    expect(cells).toContain('2026-11-21 10:00:00')
    expect(cells).toContain('WWWWWW…xxxxxx')
    expect(page.window.document.querySelector('#reports tbody span.mono')?.getAttribute('title')).toBe(payment.wallet)
    expect(page.textsOf('#reports thead th')).not.toContain('Attempts')
  })

  test('has amounts of a token with other decimals than a dollar has', async () => {
    const page = await openFinancePage({ answers: { payments: tableOf([payment], { decimals: 9 }) } })
    const cells = page.textsOf('#reports tbody > tr > *')
    expect([cells.includes('0.02'), cells.includes('2.5')]).toEqual([true, true])
  })

  test.each<readonly [string, Answered]>([
    ['an answer', tableOf([{ cause: 'first' }])],
    ['a failure', { status: 503, json: { error: 'too late' } }],
  ])('is shown in the order of the questions: %s to an earlier one that is late is dropped', async (_, late) => {
    const release: ((rows: Answered) => void)[] = []
    const page = await openFinancePage({
      answers: { refunds: () => new Promise<Answered>((resolve) => release.push(resolve)) },
    })
    page.fill('#reports [name=report]', 'refunds')
    page.fill('#reports [name=refund]', 'due')
    await page.until('both questions', () => release.length === 2)
    release[1]?.(tableOf([{ cause: 'second' }]))
    await page.until('the second answer', () => page.textsOf('#reports tbody th').includes('second'))
    release[0]?.(late)
    await settled(page)
    expect(page.textsOf('#reports tbody th')).toEqual(['second'])
    expect(page.textOf('#status')).not.toContain('too late')
  })

  test('has pages with cursors, and begins again with another filter', async () => {
    const pages = ({ query }: Asked) => tableOf([payment], { next: query.get('cursor') === null ? 'c2' : 'c3' })
    const page = await openFinancePage({ answers: { payments: pages } })
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

  test('skips no page: a second click asks for the same page, and one that fails is asked for again', async () => {
    let fails = false
    const pages = ({ query }: Asked): Answered => {
      if (fails) return { status: 503, json: { error: 'later' } }
      return tableOf([payment], { next: query.get('cursor') === null ? 'c2' : 'c3' })
    }
    const page = await openFinancePage({ answers: { payments: pages } })
    page.click('#reports .next')
    page.click('#reports .next')
    await settled(page)
    expect(page.textOf('#reports .page')).toBe('Page 2')
    fails = true
    page.click('#reports .next')
    await settled(page)
    fails = false
    page.click('#reports .next')
    await settled(page)
    expect(page.askedFor('payments').map(({ query }) => query.get('cursor'))).toEqual([null, 'c2', 'c2', 'c3', 'c3'])
    expect(page.textOf('#reports .page')).toBe('Page 3')
  })

  test('has no buttons for its pages while another filter has no answer', async () => {
    const refused = { status: 503, json: { error: 'later' } }
    const page = await openFinancePage({
      answers: { payments: ({ query }) => (query.has('state') ? refused : tableOf([payment], { next: 'c2' })) },
    })
    page.fill('#reports [name=state]', 'reversed')
    await settled(page)
    expect(page.window.document.querySelector('#reports .next')?.hasAttribute('disabled')).toBe(true)
  })

  test('without days says that it is of now, and one with days names them', async () => {
    const page = await openFinancePage({ query: '?report=tabs&month=2026-10', answers: { tabs: tableOf([]) } })
    expect(page.textOf('#reports caption')).toBe('Tabs, now. In tokens, at position 40 of the ledger.')
    page.fill('#reports [name=report]', 'payments')
    await settled(page)
    expect(page.textOf('#reports caption')).toContain('2026-10, UTC days')
    // The quarters that can be chosen depend on the day.
    const quarter = (page.textsOf('#quarter option')[1] ?? '').replace(' ', '-')
    page.fill('#quarter', quarter)
    await settled(page)
    expect(page.textOf('#reports caption')).toContain(`, ${quarter}, UTC days`)
  })

  test('links tokens of a second mint to their transaction, and a debit of a tab to itself', async () => {
    const references = [`arrival:${'5'.repeat(88)}:${'M'.repeat(44)}`, 'tab:4uQeVj5tqViQh7yWWGStvk:12']
    const rows = references.map((reference) => ({ ...payment, reference }))
    const page = await openFinancePage({ answers: { payments: tableOf(rows) } })
    const links = [...page.window.document.querySelectorAll('#reports tbody td a')]
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      `?payment=${'5'.repeat(88)}`,
      '?payment=tab%3A4uQeVj5tqViQh7yWWGStvk%3A12',
    ])
  })

  test('is asked for by the address, with its own filters alone', async () => {
    const page = await openFinancePage({
      query: '?report=payments&state=reversed&wallet=W&by=endpoint&month=2026-10',
      answers: { liabilities: tableOf([]) },
    })
    expect(page.askedFor('payments')[0]?.query.toString()).toBe('month=2026-10&state=reversed&wallet=W&limit=50')
    page.fill('#reports [name=report]', 'liabilities')
    await settled(page)
    expect(page.address()).toBe('http://host/finance?report=liabilities&month=2026-10')
    expect([page.isShown('#reports [name=owedTo]'), page.isShown('#reports [name=state]')]).toEqual([true, false])
  })

  test('of an earlier entry of the history is shown with the filters and days of that entry', async () => {
    const page = await openFinancePage({ query: '?state=reversed&month=2026-09' })
    page.window.history.replaceState(null, '', '/finance?report=payments&state=unmatched&month=2026-10')
    page.window.dispatchEvent(new page.window.Event('popstate'))
    await settled(page)
    const { query } = page.askedFor('payments').at(-1) ?? {}
    expect(query?.toString()).toBe('month=2026-10&state=unmatched&limit=50')
  })

  test('names its totals, and says when there is nothing', async () => {
    const totals = { paidAt: null, payments: 1, requiredBaseUnits: '20000000' }
    const page = await openFinancePage({ answers: { payments: tableOf([payment], { totals }) } })
    expect(page.textOf('#reports tfoot th')).toBe('All of the range')
    expect(page.textOf('#reports caption')).toContain('1 payment, without reversed ones')
    page.fill('#reports [name=state]', 'fulfilled')
    await settled(page)
    expect(page.textsOf('#reports tfoot th'), 'of the newest range alone').toEqual(['All of the range'])
    const empty = await openFinancePage({ query: '?wallet=W', answers: { payments: tableOf([]) } })
    expect([empty.isShown('#reports .empty'), empty.textOf('#reports .empty')]).toEqual([
      true,
      expect.stringContaining('letter by letter'),
    ])
  })

  test('has buttons for the pages that there are', async () => {
    const page = await openFinancePage({
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
    const single = await openFinancePage()
    expect(single.isShown('#reports .paging')).toBe(false)
  })

  test('without pages is asked for without a limit', async () => {
    const page = await openFinancePage({
      query: '?report=trial-balance&month=2026-10',
      answers: { 'trial-balance': tableOf([]) },
    })
    expect(page.askedFor('trial-balance')[0]?.query.toString()).toBe('month=2026-10')
  })

  test('links each payment, and leaves a click with a key to the browser', async () => {
    const page = await openFinancePage()
    const link = page.window.document.querySelector('#reports tbody a')
    expect(link?.getAttribute('href')).toBe(`?payment=${payment.reference.replace('solana:', '')}`)
    link?.dispatchEvent(new page.window.MouseEvent('click', { ctrlKey: true, cancelable: true }))
    expect(page.asked.some(({ path }) => path.includes('explain'))).toBe(false)
    page.click('#reports tbody a')
    await page.until('the question', () =>
      page.asked.some(({ path }) => path.endsWith(`/explain/${payment.reference.replace('solana:', '')}`)),
    )
  })

  test('is saved as CSV with the columns and filters that are shown', async () => {
    const page = await openFinancePage({ query: '?state=reversed&month=2026-10' })
    page.click('#reports .csv')
    await page.until('the file', () => page.askedFor('payments').length === 2)
    const { query } = page.askedFor('payments')[1] ?? {}
    expect([query?.get('format'), query?.get('state'), query?.get('month')]).toEqual(['csv', 'reversed', '2026-10'])
    expect(query?.get('columns')).toBe('paidAt,reference,wallet,endpoint,state,requiredBaseUnits,priceMicroUsd')
  })

  test('of a month is closed by a signed statement, which is saved as it came', async () => {
    const closing = { json: { success: true, data: { statement: {}, checkpoint: 'note', jws: 'jws' } } }
    const saved: (readonly [name: string, blob: Blob | undefined])[] = []
    let blob: Blob | undefined
    const page = await openFinancePage({
      query: '?month=2026-10',
      answers: { closing },
      before(window) {
        Object.assign(window.URL, { createObjectURL: (given: Blob) => ((blob = given), 'blob:1') })
        window.HTMLAnchorElement.prototype.click = function click() {
          saved.push([this.download, blob])
        }
      },
    })
    page.click('#reports .closing')
    await page.until('the file', () => saved.length === 1)
    expect(page.askedFor('closing')[0]?.query.toString()).toBe('month=2026-10')
    const [[name, file] = []] = saved
    expect([name, JSON.parse((await file?.text()) ?? '')]).toEqual(['tollbook-closing-2026-10.json', closing.json])
  })

  test('that the service does not make is not saved, and the page says why', async () => {
    let saved = 0
    const page = await openFinancePage({
      answers: {
        payments: ({ query }) =>
          query.get('format') === 'csv'
            ? { status: 503, json: { error: 'the ledger does not answer' } }
            : tableOf([payment]),
      },
      before(window) {
        Object.assign(window.URL, { createObjectURL: () => 'blob:1' })
        window.HTMLAnchorElement.prototype.click = () => void saved++
      },
    })
    page.click('#reports .csv')
    await page.until('an end', () => saved > 0 || page.textOf('#status').startsWith('That did not work'))
    expect([saved, page.textOf('#status')]).toEqual([0, 'That did not work: the ledger does not answer.'])
  })

  test('that fails says why, and keeps the token', async () => {
    const page = await openFinancePage({
      answers: { payments: { status: 503, json: { error: 'the ledger does not answer' } } },
    })
    expect([page.textOf('#status'), page.token()]).toEqual([
      'That did not work: the ledger does not answer.',
      'secret-token',
    ])
  })
})

test('a wallet is found with its payments of all days, a signature as one payment', async () => {
  const page = await openFinancePage({
    query: '?month=2026-10&state=reversed',
    answers: { [`explain/${'S'.repeat(64)}`]: { status: 404, json: { error: 'unknown' } } },
  })
  const find = async (subject: string) => {
    Object.assign(page.window.document.querySelector('#subject') ?? {}, { value: subject })
    page.submit('#find')
    await settled(page)
  }
  await find('W'.repeat(40))
  expect(page.askedFor('payments').at(-1)?.query.toString()).toBe(`from=1970-01-01&wallet=${'W'.repeat(40)}&limit=50`)
  await find('S'.repeat(64))
  expect(page.askedFor(`explain/${'S'.repeat(64)}`)).toHaveLength(1)
})

import { describe, expect, test } from 'vitest'
import { type Answered, type Asked, type OpenPage, openPage, readPage } from './dom/openPage.ts'

const html = await readPage('finance.html')
const signature = '5'.repeat(88)
const reference = `solana:${signature}`
const position = { position: 40, headPosition: 40 }
const empty = { json: { data: { decimals: 6, ledger: position, columns: [], rows: [], totals: null, next: null } } }

const explanation = {
  subject: signature,
  reference,
  diagnosis: { code: 'delivered', staff: 'It was <b>delivered</b>.', caller: 'Nothing.', booking: null },
  chain: { status: 'confirmed', words: 'Found.', arrivedBaseUnits: '14000000', burnedBaseUnits: '6000000' },
  ledger: { kind: 'payment' },
  quote: { id: 'quote_1', requiredBaseUnits: '20000000', endpoint: '/api/data/crypto', expiresAt: '2026-11-21' },
  rules: [{ rule: '3', asks: 'Is it unused?', verdict: 'not_checked', why: 'no node answers' }],
  attempts: [{ attempt: 1, outcome: 'delivered', reason: null, startedAt: '10:00', endedAt: null }],
}
const payment = {
  reference,
  kind: 'payment',
  wallet: 'Wallet1',
  endpoint: '/api/data/crypto',
  state: 'fulfilled',
  owedNow: [{ account: 'Liabilities:Overpaid:Wallet1', owedBaseUnits: '1500000' }],
  payouts: [
    { reference: 'solana:p', account: 'Liabilities:X', paidBaseUnits: '250000', paidAt: '2026-11-22T01:00:00Z' },
  ],
  refunds: [
    { cause: 'overpaid', state: 'due', owedBaseUnits: '1500000', paidBaseUnits: '0', decisions: [], payouts: [] },
    {
      cause: 'granted',
      state: 'part_paid',
      owedBaseUnits: '3000000',
      paidBaseUnits: '1000000',
      decisions: [
        { kind: 'granted', by: 'ann', role: 'support', reason: 'late', decidedAt: '11:00' },
        { kind: 'approved', by: 'bob', role: 'finance', reason: 'seen', decidedAt: '12:00' },
      ],
      payouts: [{ reference: 'solana:payout' }],
    },
  ],
  events: [
    {
      position: 7,
      kind: 'PaymentVerified',
      effectiveAt: '2026-11-21T10:00:00.000Z',
      recordedAt: '2026-11-21T10:00:01.000Z',
      leafHash: 'ab12',
      body: { amount: '1' },
      entries: [
        { account: 'Assets:PaymentWallet', mint: 'T', amountBaseUnits: '14000000' },
        { account: 'Liabilities:Unearned', mint: 'T', amountBaseUnits: '-14000000' },
      ],
    },
  ],
  transactionBase64: 'AQID',
}
const links = {
  network: 'solana:x',
  explorer: 'https://explorer.example/tx',
  checkpoint: null,
  inclusion: 'https://public.example/inclusion/',
}

interface Opened extends OpenPage {
  readonly decisions: readonly Asked[]
}

interface Known {
  readonly payment?: object
  readonly explanation?: object
  /** Resolves before the answer about this subject is sent. */
  readonly heldBack?: Readonly<Record<string, Promise<void>>>
  readonly decide?: () => Answered | Promise<Answered>
}

async function open(query: string, known: Known = {}): Promise<Opened> {
  const { decide = () => ({ json: {} }) } = known
  const decisions: Asked[] = []
  const page = await openPage({
    page: 'finance',
    html,
    url: `http://host/finance${query}`,
    before: ({ sessionStorage }) => sessionStorage.setItem('tollbook finance token', 'token'),
    async answer(asked) {
      const path = asked.path.replace('/api/finance/', '')
      if (path === 'summary') return { status: 403, json: { error: 'support' } }
      const subject = decodeURIComponent(path.slice(path.indexOf('/') + 1))
      await known.heldBack?.[subject]
      const explained =
        subject === signature ? (known.explanation ?? explanation) : { ...explanation, reference: subject }
      if (path.startsWith('explain/')) return { json: { data: { explanation: explained, links, decimals: 6 } } }
      if (path.startsWith('payments/'))
        return {
          json: {
            data: {
              payment: known.payment ?? payment,
              links,
              decimals: 6,
              mints: [{ mint: 'T', name: 'TOKEN', decimals: 6 }],
            },
          },
        }
      if (path === 'decisions') {
        decisions.push(asked)
        return decide()
      }
      return empty
    },
  })
  await page.until('the payment', () => page.window.document.querySelector('dialog[open]') !== null)
  return { ...page, decisions }
}

describe('one payment', () => {
  test('is opened by its address, with what ledger and chain say, as text', async () => {
    const page = await open(`?payment=${signature}`)
    expect(page.textOf('dialog .staff')).toBe('It was <b>delivered</b>.')
    expect(page.textsOf('dialog .explanation .muted')).toEqual([
      'Chain: confirmed. Found. 14 tokens arrived, 6 were burned.',
      'Quote quote_1: 20 tokens for /api/data/crypto, open until 2026-11-21',
    ])
    expect(page.textsOf('dialog .facts dd')).toContain('0.25 of Liabilities:X, 2026-11-22, by solana:p')
    expect(page.textsOf('dialog .facts dd')).toContain('1.5 on Liabilities:Overpaid:Wallet1')
    expect(page.textsOf('dialog .refunds li')).toEqual([
      '1.5 tokens, overpaid: due',
      '3 tokens, granted: part paid; 1 paid by solana:payout; granted by ann (support) at 11:00: late; approved by bob (finance) at 12:00: seen',
    ])
    expect(page.textsOf('dialog .explanation details:nth-of-type(1) tbody tr > *')).toContain('not checked')
    expect(page.textOf('dialog .meaning')).toBe('The request was answered, and the price is earned.')
    expect(page.textOf('dialog .transaction pre')).toBe('AQID')
    expect(page.isShown('dialog .transaction')).toBe(true)
  })

  test('has its debits and credits in their columns, and links without a referrer', async () => {
    const page = await open(`?payment=${signature}`)
    expect(page.textsOf('dialog .events tbody tr').map((line) => line.trim())).toEqual([
      'Assets:PaymentWallet14',
      'Liabilities:Unearned14',
    ])
    const [debit, credit] = page.window.document.querySelectorAll('dialog .events tbody tr')
    expect([...(debit?.children ?? [])].map(({ textContent }) => textContent)).toEqual([
      'Assets:PaymentWallet',
      '14',
      '',
    ])
    expect([...(credit?.children ?? [])].map(({ textContent }) => textContent)).toEqual([
      'Liabilities:Unearned',
      '',
      '14',
    ])
    const anchors = [...page.window.document.querySelectorAll('dialog a')]
    expect(anchors.map((link) => link.getAttribute('href'))).toEqual([links.explorer, `${links.inclusion}7`])
    expect(anchors.every((link) => link.getAttribute('rel') === 'noreferrer noopener')).toBe(true)
  })

  test.each([
    ['payout', 'One payout'],
    ['burn', 'One burn'],
    ['payment', 'One payment'],
  ])('of the kind %s is called that', async (kind, title) => {
    const page = await open(`?payment=${signature}`, { payment: { ...payment, kind } })
    expect(page.textOf('dialog h2')).toBe(title)
  })

  test('of a tab offers no decision, as no refund of it is paid', async () => {
    const ofTab = { ...explanation, reference: 'tab:4uQeVj5tqViQh7yWWGStvk:1' }
    const page = await open(`?payment=${signature}`, { explanation: ofTab })
    expect(page.isShown('dialog .decision')).toBe(true)
    const ledger = { ...explanation.ledger, kind: 'tab_request' }
    const paidByTab = await open(`?payment=${signature}`, { explanation: { ...ofTab, ledger } })
    expect(paidByTab.isShown('dialog .decision')).toBe(false)
  })

  test('that the ledger does not have is explained, and not looked up in it', async () => {
    const page = await open(`?payment=${signature}`, { explanation: { ...explanation, ledger: null, quote: null } })
    expect(page.asked.some(({ path }) => path.includes('/payments/'))).toBe(false)
    expect(page.textsOf('dialog .facts dd')).toEqual([signature, 'solana:x'])
    expect([page.isShown('dialog .transaction'), page.textsOf('dialog .explanation .muted').length]).toEqual([false, 1])
  })

  test('that was asked for last is the one that is shown, although the answer to an earlier one is late', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const [early, last] = ['1'.repeat(88), '2'.repeat(88)]
    const page = await open(`?payment=${signature}`, { heldBack: { [early]: promise } })
    for (const subject of [early, last]) {
      Object.assign(page.window.document.querySelector('#subject') ?? {}, { value: subject })
      page.submit('#find')
    }
    await page.until('the last one', () => page.window.location.search.includes(last))
    resolve()
    await page.window.happyDOM.waitUntilComplete()
    expect(page.window.location.search).toBe(`?payment=${last}`)
    expect(page.window.document.querySelector('.decision')?.getAttribute('data-payment')).toBe(last)
  })

  test('leaves the address when it is closed', async () => {
    const page = await open(`?payment=${signature}&month=2026-10`)
    page.click('dialog .close')
    await page.until('the address', () => !page.window.location.href.includes('payment='))
    expect(page.window.location.search).toBe('?month=2026-10')
  })
})

describe('a decision', () => {
  const give = (page: OpenPage) => {
    Object.assign(page.window.document.querySelector('[name=reason]') ?? {}, { value: 'paid too much' })
    page.submit('.decision')
  }

  test('is sent once with its payment and its reason, and its position is shown', async () => {
    let answer: (answered: Answered) => void = () => undefined
    const page = await open(`?payment=${signature}`, { decide: () => new Promise((resolve) => (answer = resolve)) })
    // A price that was given back is not offered again.
    expect(page.textsOf('.decision option')).toEqual(['Approve the debts of this payment.'])
    give(page)
    expect(page.window.document.querySelector('.decision button')?.hasAttribute('disabled')).toBe(true)
    await page.until('the request', () => page.decisions.length === 1)
    answer({ json: { data: { position: 41 } } })
    await page.until('the record', () => page.textOf('.outcome') !== '')
    expect(page.textOf('.outcome')).toBe('Recorded at position 41.')
    const [sent] = page.decisions
    expect([sent?.method, sent?.headers.get('authorization')]).toEqual(['POST', 'Bearer token'])
    expect(sent?.body).toEqual({ action: 'approve', payment: reference, reason: 'paid too much' })
  })

  test('is about the payment that is shown, not about one that was shown before', async () => {
    const page = await open(`?payment=${signature}`, { decide: () => ({ json: { data: { position: 41 } } }) })
    Object.assign(page.window.document.querySelector('#subject') ?? {}, { value: 'solana:other' })
    page.submit('#find')
    await page.until('the other payment', () => page.window.location.href.includes('payment=other'))
    give(page)
    await page.until('the decision', () => page.decisions.length === 1)
    expect(page.decisions[0]?.body).toMatchObject({ payment: 'solana:other' })
  })

  test.each<readonly [string, Answered]>([
    ['recorded', { json: { data: { position: 41 } } }],
    ['refused', { status: 409, json: { error: 'above your limit' } }],
  ])('that is %s after another payment was opened changes nothing there', async (_, answered) => {
    let answer: (answered: Answered) => void = () => undefined
    const page = await open(`?payment=${signature}`, { decide: () => new Promise((resolve) => (answer = resolve)) })
    give(page)
    await page.until('the request', () => page.decisions.length === 1)
    Object.assign(page.window.document.querySelector('#subject') ?? {}, { value: 'solana:other' })
    page.submit('#find')
    await page.until('the other payment', () => page.window.location.href.includes('payment=other'))
    answer(answered)
    await page.until('the end', () => !page.window.document.querySelector('.decision button')?.hasAttribute('disabled'))
    expect(page.textOf('.outcome')).toBe('')
    expect(page.window.document.querySelector('.decision')?.getAttribute('data-payment')).toBe('solana:other')
  })

  test('that is refused says why, and can be made again', async () => {
    const page = await open(`?payment=${signature}`, {
      decide: () => ({ status: 409, json: { error: 'above your limit' } }),
    })
    give(page)
    await page.until('the refusal', () => page.textOf('.outcome') === 'above your limit')
    await page.until(
      'the button',
      () => !page.window.document.querySelector('.decision button')?.hasAttribute('disabled'),
    )
    give(page)
    await page.until('the second decision', () => page.decisions.length === 2)
  })
})

import { type Answered, type Asked, type OpenPage, openPage, type PageSetup, readPage } from './openPage.ts'

const html = await readPage('finance.html')
const ledger = { position: 40, headPosition: 42 }
export const summary = {
  mint: 'T',
  mints: [{ mint: 'T', name: 'TOKEN', decimals: 6 }],
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
  burnConfirmedBaseUnits: `${index}50000`,
  payments: 1,
}))
const distribution = { day: '2026-11-21', endpoint: '/api/data/crypto', receivedBaseUnits: '9000000' }
const shares = { providerBaseUnits: '5000000', treasuryBaseUnits: '1000000', allocatedBaseUnits: '6000000' }
export const payment = {
  paidAt: '2026-11-21T10:00:00.000Z',
  reference: `solana:${'5'.repeat(88)}`,
  wallet: `${'W'.repeat(20)}${'x'.repeat(24)}`,
  endpoint: '/api/data/crypto',
  state: 'refund_due',
  requiredBaseUnits: '20000000',
  priceMicroUsd: '2500000',
  attempts: 3,
}

/** A page of a report as the service answers it. */
export function tableOf(rows: readonly object[], more: object = {}): Answered {
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
  readonly before?: PageSetup['before']
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

/** The finance page, signed in unless the token is empty, when all its answers are shown. */
export async function openFinancePage({
  query = '',
  token = 'secret-token',
  answers = {},
  before,
}: Visit = {}): Promise<Opened> {
  const known = { ...ownAnswers, ...answers }
  const page = await openPage({
    page: 'finance',
    html,
    url: `http://host/finance${query}`,
    before(window) {
      if (token !== '') window.sessionStorage.setItem(tokenKey, token)
      before?.(window)
    },
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
export async function settled(page: OpenPage): Promise<void> {
  await page.window.happyDOM.waitUntilComplete()
  await page.until('all answers', () => page.window.document.querySelector('[aria-busy]') === null)
}

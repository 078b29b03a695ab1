import type pg from 'pg'

/*
 * A second implementation that reads the ledger from the bodies alone. It shares nothing with the write path: not the
 * codec,
 * not the postings, not a name. If it and the tables disagree, one of the two is wrong.
 */

type Body = { readonly [key: string]: unknown }

export interface Replayed {
  readonly streams: ReadonlyMap<string, object>
  readonly entries: readonly string[]
  readonly accounts: ReadonlyMap<string, object>
  readonly tallies: ReadonlyMap<string, object>
}

export async function replay(pool: pg.Pool): Promise<Replayed> {
  const { rows } = await pool.query<{ seq: string; at: string; body: Buffer }>(
    `select seq, extract(epoch from recorded_at)::numeric * 1000 as at, body from ledger.events order by seq`,
  )
  const payments = new Map<string, Payment>()
  const entries: Entry[] = []
  for (const row of rows) {
    const body: Body = JSON.parse(row.body.toString('utf8'))
    const seq = Number(row.seq)
    if (String(body['stream']).startsWith('solana:')) advance(payments, body, Math.round(Number(row.at)))
    entries.push(...entriesFor(body, seq))
  }
  return {
    streams: new Map([...payments].map(([stream, payment]) => [stream, rowOf(payment)])),
    entries: entries.map(describe).toSorted(),
    accounts: totals(entries),
    tallies: talliesOf(entries),
  }
}

interface Payment {
  version: number
  phase: string
  isFinal: boolean
  leaseMs: number
  leaseUntilMs: number | null
}

function rowOf({ version, phase, isFinal, leaseUntilMs }: Payment): object {
  const state = isFinal && phase !== 'refund_due' ? `${phase}.final` : phase
  return { version, state, leaseUntilMs }
}

const phases: Readonly<Record<string, string>> = {
  PaymentSubmitted: 'submitted',
  ProofClaimed: 'claimed',
  AnswerStarted: 'streaming',
  AnswerBroken: 'released',
  RequestFulfilled: 'fulfilled',
  RequestFailed: 'released',
  PaymentReversed: 'reversed',
  AttemptsExhausted: 'exhausted',
  RefundDue: 'refund_due',
  TransferReceived: 'unmatched',
}

function advance(payments: Map<string, Payment>, body: Body, atMs: number): void {
  const stream = String(body['stream'])
  const fresh: Payment = { version: 0, phase: '', isFinal: false, leaseMs: 0, leaseUntilMs: null }
  const payment = payments.get(stream) ?? fresh
  payments.set(stream, payment)
  const kind = String(body['kind'])
  payment.version++
  if (kind === 'PaymentFinalized') payment.isFinal = true
  const phase = phases[kind]
  if (phase === undefined) return
  payment.phase = phase
  if (kind === 'ProofClaimed') payment.leaseMs = Number(body['leaseMs'])
  payment.leaseUntilMs = phase === 'claimed' || phase === 'streaming' ? atMs + payment.leaseMs : null
}

interface Entry {
  readonly seq: number
  readonly line: number
  readonly account: string
  readonly mint: string
  readonly amount: bigint
  readonly at: string
}

type Move = readonly [debit: string, credit: string, amount: bigint]

const wallet = 'Assets:PaymentWallet'
const unearned = 'Liabilities:Unearned'

/** The movements of each kind of event, as docs/ledger.md has them. */
const movesOf: Readonly<Record<string, (body: Body) => readonly Move[]>> = {
  PaymentVerified(body) {
    const settlement = object(body['settlement'])
    const price = object(settlement['price'])
    const burn = amount(price['burnBaseUnits'])
    const isOwed = amount(settlement['burnedBaseUnits']) < burn
    const held = amount(price['requiredBaseUnits']) - (isOwed ? 0n : burn)
    const over = amount(settlement['receivedBaseUnits']) - held
    return [
      [wallet, unearned, held],
      [wallet, `Liabilities:Overpaid:${String(settlement['wallet'])}`, over],
    ]
  },
  TokensBurned: (body) => [[burned(body), 'Income:BurnedByCallers', amount(body['burnedBaseUnits'])]],
  BurnReversed: (body) => [['Income:BurnedByCallers', burned(body), amount(body['burnedBaseUnits'])]],
  BurnOwed: (body) => [[unearned, 'Liabilities:BurnOwed', amount(body['owedBaseUnits'])]],
  ProofClaimed: (body) => [['Memo:Exposed', 'Memo:ExposedContra', amount(body['exposedBaseUnits'])]],
  AnswerBroken: unexposed,
  RequestFailed: unexposed,
  PaymentFinalized: unexposed,
  DistributionAllocated: (body) =>
    list(body['parts']).map((part): Move => [
      unearned,
      `Liabilities:Share:${String(part['account'])}`,
      amount(part['baseUnits']),
    ]),
  PaymentReversed: (body) => [
    [unearned, wallet, amount(body['unearnedBaseUnits'])],
    ['Expenses:ReversedPayments', wallet, amount(body['lostBaseUnits'])],
    [`Liabilities:Overpaid:${String(body['wallet'])}`, wallet, amount(body['overpaidBaseUnits'])],
    ['Liabilities:BurnOwed', wallet, amount(body['burnOwedBaseUnits'])],
    ...unexposed(body),
  ],
  RefundDue: (body) => [
    [unearned, `Liabilities:RefundsDue:${String(body['wallet'])}`, amount(body['refundBaseUnits'])],
  ],
  TransferReceived: (body) => [
    [
      wallet,
      `Liabilities:Unmatched:${String(body['wallet']).replace('null', 'unknown')}`,
      amount(body['receivedBaseUnits']),
    ],
  ],
}

function unexposed(body: Body): readonly Move[] {
  return [['Memo:ExposedContra', 'Memo:Exposed', amount(body['exposedBaseUnits'])]]
}

function burned(body: Body): string {
  return `Expenses:Burned:${String(body['endpoint'])}`
}

function entriesFor(body: Body, seq: number): readonly Entry[] {
  const price = body['settlement'] === undefined ? body : object(object(body['settlement'])['price'])
  const moves = movesOf[String(body['kind'])]?.(body) ?? []
  const common = { seq, mint: String(price['mint']), at: String(body['effectiveAt']) }
  return moves
    .filter(([, , moved]) => moved !== 0n)
    .flatMap(([debit, credit, moved]) => [
      { account: debit, amount: moved },
      { account: credit, amount: -moved },
    ])
    .map((side, line) => ({ ...common, ...side, line }))
}

export function describe({ seq, line, account, mint, amount: moved }: Omit<Entry, 'at'>): string {
  return [String(seq).padStart(9, '0'), line, account, mint, moved].join(' ')
}

function totals(entries: readonly Entry[]): ReadonlyMap<string, object> {
  const found = new Map<string, { balance: bigint; entries: number; debits: number }>()
  for (const { mint, account, amount: moved } of entries) {
    const key = `${mint} ${account}`
    const before = found.get(key) ?? { balance: 0n, entries: 0, debits: 0 }
    const debits = before.debits + (moved > 0n ? 1 : 0)
    found.set(key, { balance: before.balance + moved, entries: before.entries + 1, debits })
  }
  return found
}

/** Burns by the hour of their own effective time, less those that were taken back out of it. */
function talliesOf(entries: readonly Entry[]): ReadonlyMap<string, object> {
  const found = new Map<string, { amount: bigint; entries: number }>()
  for (const { mint, account, amount: moved, at } of entries) {
    if (account !== 'Income:BurnedByCallers') continue
    const key = `${mint} ${account} ${at.slice(0, 13)}:00:00.000Z`
    const before = found.get(key) ?? { amount: 0n, entries: 0 }
    found.set(key, { amount: before.amount + moved, entries: before.entries + (moved > 0n ? 1 : -1) })
  }
  return found
}

function object(value: unknown): Body {
  if (typeof value !== 'object' || value === null) throw new Error('the body has an object here')
  return { ...value }
}

function list(value: unknown): readonly Body[] {
  if (!Array.isArray(value)) throw new Error('the body has a list here')
  return value.map(object)
}

function amount(value: unknown): bigint {
  return BigInt(String(value))
}

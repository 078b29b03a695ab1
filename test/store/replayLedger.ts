import type pg from 'pg'

/*
 * A second reading of the book, from the bodies alone. It shares nothing with the write path: not the codec, not the
 * posting rules, not a name. Where it and the projections disagree, one of the two is wrong.
 */

type Body = { readonly [key: string]: unknown }

export interface Replayed {
  readonly payments: ReadonlyMap<string, object>
  readonly entries: readonly string[]
  readonly balances: ReadonlyMap<string, object>
  readonly burns: ReadonlyMap<string, object>
  readonly exposure: bigint
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
    if (body['kind'] !== 'PriceListPublished' && body['kind'] !== 'DistributionPaid')
      advance(payments, { body, seq, atMs: Math.round(Number(row.at)) })
    entries.push(...entriesFor(body, seq))
  }
  return {
    payments: new Map([...payments].map(([stream, { price: _price, ...payment }]) => [stream, payment])),
    entries: entries.map(describe).toSorted(),
    balances: totals(entries),
    burns: burnTotals(entries),
    exposure: [...payments.values()].reduce((sum, { exposed }) => sum + BigInt(exposed), 0n),
  }
}

interface Payment {
  version: number
  state: string
  awaiting: boolean
  exposed: string
  price: string
  wallet: unknown
  endpoint: unknown
  attempt: unknown
  leaseUntilMs: number | null
  quoteId: unknown
  seqs: number[]
}

function advance(payments: Map<string, Payment>, { body, seq, atMs }: { body: Body; seq: number; atMs: number }): void {
  const stream = String(body['stream'])
  const fresh = {
    version: 0,
    state: '',
    awaiting: false,
    exposed: '0',
    price: '0',
    wallet: null,
    endpoint: null,
    attempt: 0,
    leaseUntilMs: null,
    quoteId: null,
    seqs: [],
  }
  const payment: Payment = payments.get(stream) ?? fresh
  payments.set(stream, payment)
  payment.version++
  payment.seqs.push(seq)
  switch (body['kind']) {
    case 'PaymentSubmitted':
      Object.assign(payment, { state: 'submitted', wallet: body['wallet'], endpoint: body['endpoint'] })
      break
    case 'PaymentVerified': {
      const settlement = object(body['settlement'])
      const { endpoint, requiredBaseUnits: price } = object(settlement['price'])
      Object.assign(payment, { wallet: settlement['wallet'], endpoint, quoteId: settlement['quoteId'], price })
      payment.awaiting = true
      break
    }
    case 'ProofClaimed':
      payment.state = 'claimed'
      payment.attempt = body['attempt']
      payment.leaseUntilMs = atMs + Number(body['leaseMs'])
      break
    case 'RequestFulfilled':
    case 'RequestFailed':
      payment.state = body['kind'] === 'RequestFulfilled' ? 'fulfilled' : 'released'
      payment.leaseUntilMs = null
      break
    case 'PaymentFinalized':
      payment.awaiting = false
      break
    case 'PaymentReversed':
      Object.assign(payment, { state: 'reversed', awaiting: false })
      break
    case 'RefundDue':
      payment.state = 'refund_due'
      break
    case 'TransferReceived':
      if (payment.version === 1) Object.assign(payment, { wallet: body['wallet'] ?? '', endpoint: '' })
      Object.assign(payment, { state: 'unmatched', attempt: 0 })
      break
    default:
  }
  const isServed = payment.state === 'claimed' || payment.state === 'fulfilled'
  payment.exposed = payment.awaiting && isServed ? payment.price : '0'
}

interface Entry {
  readonly seq: number
  readonly line: number
  readonly account: string
  readonly mint: string
  readonly amount: bigint
  readonly endpoint: string
  readonly at: string
  readonly stream: string
}

function entriesFor(body: Body, seq: number): readonly Entry[] {
  const moves: [string, string, bigint][] = []
  let { mint, endpoint } = body
  if (body['kind'] === 'PaymentVerified') {
    const settlement = object(body['settlement'])
    const price = object(settlement['price'])
    mint = price['mint']
    endpoint = price['endpoint']
    const owed = amount(price['requiredBaseUnits']) - amount(price['burnBaseUnits'])
    moves.push(['Assets:PaymentWallet', 'Liabilities:Unearned', owed])
    const more = amount(settlement['receivedBaseUnits']) - owed
    moves.push(['Assets:PaymentWallet', `Liabilities:Overpaid:${String(settlement['wallet'])}`, more])
  }
  if (body['kind'] === 'TokensBurned')
    moves.push(['Expenses:Burned', 'Income:BurnedByCallers', amount(body['burnedBaseUnits'])])
  if (body['kind'] === 'DistributionAllocated') {
    for (const name of ['Provider', 'Holders', 'Treasury'] as const) {
      moves.push(['Liabilities:Unearned', `Liabilities:${name}`, amount(body[`${name.toLowerCase()}BaseUnits`])])
    }
  }
  if (body['kind'] === 'PaymentReversed') {
    moves.push(['Liabilities:Unearned', 'Assets:PaymentWallet', amount(body['unearnedBaseUnits'])])
    moves.push(['Expenses:ReversedPayments', 'Assets:PaymentWallet', amount(body['lostBaseUnits'])])
    const overpaid = `Liabilities:Overpaid:${String(body['wallet'])}`
    moves.push([overpaid, 'Assets:PaymentWallet', amount(body['overpaidBaseUnits'])])
    moves.push(['Income:BurnedByCallers', 'Expenses:Burned', amount(body['burnedBaseUnits'])])
  }
  if (body['kind'] === 'RefundDue')
    moves.push([
      'Liabilities:Unearned',
      `Liabilities:RefundsDue:${String(body['wallet'])}`,
      amount(body['refundBaseUnits']),
    ])
  if (body['kind'] === 'TransferReceived')
    moves.push([
      'Assets:PaymentWallet',
      `Liabilities:Unmatched:${typeof body['wallet'] === 'string' ? body['wallet'] : 'unknown'}`,
      amount(body['receivedBaseUnits']),
    ])
  const stream = String(body['stream'])
  const common = { seq, mint: String(mint), endpoint: String(endpoint), at: String(body['effectiveAt']), stream }
  return moves
    .filter(([, , moved]) => moved !== 0n)
    .flatMap(([debit, credit, moved]) => [
      { account: debit, amount: moved },
      { account: credit, amount: -moved },
    ])
    .map((side, line) => ({ ...common, ...side, line }))
}

export function describe({ seq, line, account, mint, amount }: Omit<Entry, 'endpoint' | 'at' | 'stream'>): string {
  return [String(seq).padStart(9, '0'), line, account, mint, amount].join(' ')
}

function totals(entries: readonly Entry[]): ReadonlyMap<string, object> {
  const found = new Map<string, { balance: bigint; entries: number; uptoSeq: number }>()
  for (const { mint, account, amount, seq } of entries) {
    const key = `${mint} ${account}`
    const before = found.get(key) ?? { balance: 0n, entries: 0 }
    found.set(key, { balance: before.balance + amount, entries: before.entries + 1, uptoSeq: seq })
  }
  return found
}

function burnTotals(entries: readonly Entry[]): ReadonlyMap<string, object> {
  const found = new Map<string, { burned: bigint; payments: number }>()
  const burned = entries.filter(({ account }) => account === 'Expenses:Burned')
  for (const entry of burned) {
    const { mint, amount } = entry
    // What is taken back is taken out of the hour and the endpoint in which it was counted.
    const first = burned.find(({ stream }) => stream === entry.stream) ?? entry
    const { endpoint, at } = first
    const day = `${at.slice(0, 10)}T00:00:00.000Z`
    const hour = `${at.slice(0, 13)}:00:00.000Z`
    for (const key of [`${mint} all  `, `${mint} all  ${endpoint}`, `${mint} day ${day} `, `${mint} hour ${hour} `]) {
      const before = found.get(key) ?? { burned: 0n, payments: 0 }
      found.set(key, { burned: before.burned + amount, payments: before.payments + (amount > 0n ? 1 : -1) })
    }
  }
  return found
}

function object(value: unknown): Body {
  if (typeof value !== 'object' || value === null) throw new Error('the body has an object here')
  return { ...value }
}

function amount(value: unknown): bigint {
  return BigInt(String(value))
}

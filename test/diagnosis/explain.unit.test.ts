import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { explain, type ExplainDeps } from '../../src/diagnosis/explain.ts'
import { attemptsOf } from '../../src/diagnosis/attempts.ts'
import type { PaymentEvent } from '../../src/payment/events.ts'
import type { QuoteFact, QuotesQuestion, RecordedPayment } from '../../src/reports/paymentFacts.ts'
import { sampleAddress, sampleMint, samplePrice, sampleReference, sampleSettlement } from '../store/samplePayment.ts'

const debit = 'tab:4uQeVj5tqViQh7yWWGStvk:12'
const atMs = Date.parse('2026-11-21T10:00:00.000Z')
const unused = (): never => {
  throw new Error('no test asks for this')
}

/** A ledger in memory with this payment under any reference, and a chain without transactions. */
function depsOf(recorded: RecordedPayment | undefined, quotes: readonly QuoteFact[] = []): ExplainDeps {
  return {
    clock: systemClock,
    facts: {
      payment: async () => recorded,
      quotesOf: async () => quotes,
      quote: async (id) => quotes.find((each) => each.id === id),
      paymentOfQuote: async () => undefined,
      paymentOfLeaf: unused,
      pricesAt: async () => [],
      walletBalance: unused,
      accounted: unused,
      presentedAtMs: async () => undefined,
    },
    chain: { find: async () => ({ kind: 'unavailable', why: 'no node answers' }) as never },
    allTerms: () => [],
    decimals: 6,
  }
}

function recordedEvent(event: object) {
  return { position: 1, recordedAtMs: atMs, leafHash: 'ab'.repeat(32), event: event as PaymentEvent }
}

const settlement = sampleSettlement({ price: { ...samplePrice(), decimals: 2 } })

function recordedAs(kind: string, phase: string, events: readonly object[] = []): RecordedPayment {
  const state = { phase, version: 2, settlement, attempt: 1, endpoint: '/api/x', isFinal: true }
  return { kind, stateName: phase, state: state as RecordedPayment['state'], events: events.map(recordedEvent) }
}

test('a request that a tab paid is explained from the ledger, as it has no transaction', async () => {
  const events = [
    { kind: 'TabDebited', attempt: 1, attemptId: 'attempt_1' },
    { kind: 'RequestFailed', reason: 'timeout' },
    { kind: 'TabReturned' },
  ]
  expect(await explain(depsOf(recordedAs('tab_request', 'released', events)), debit)).toMatchObject({
    reference: debit,
    diagnosis: { code: 'not_delivered', booking: null, staff: expect.stringMatching(/^1 attempt delivered nothing/) },
    chain: { status: 'not_asked', words: 'a tab paid without a transaction.' },
    attempts: [{ attemptId: 'attempt_1', outcome: 'failed', reason: 'timeout' }],
    decimals: 2,
  })
})

test('a request of a tab that the ledger does not have is unknown, and a text of another form is unreadable', async () => {
  expect(await explain(depsOf(undefined), debit)).toBe('unknown')
  expect(await explain(depsOf(undefined), 'tab:0:1')).toBe('unreadable')
})

test('amounts have the decimals of the payment, whatever mint comes first', async () => {
  expect(await explain(depsOf(recordedAs('payment', 'fulfilled')), settlement.reference)).toMatchObject({ decimals: 2 })
  expect(await explain(depsOf(undefined), settlement.reference)).toMatchObject({ decimals: 6 })
})

test('an attempt ends with what ended it, and the next one begins again', () => {
  const claim = (attempt: number) => ({ kind: 'ProofClaimed', attempt, attemptId: `attempt_${attempt}` })
  const events = [
    claim(1),
    { kind: 'AnswerBroken', bytes: 7 },
    claim(2),
    { kind: 'RequestFulfilled' },
    { kind: 'DistributionAllocated' },
  ]
  const attempts = attemptsOf(events.map(recordedEvent))
  expect(attempts.map(({ attempt, outcome, reason }) => [attempt, outcome, reason])).toEqual([
    [1, 'broken', 'ended after 7 bytes'],
    [2, 'delivered', null],
  ])
  expect(attemptsOf([recordedEvent(claim(3))])).toMatchObject([{ outcome: 'running', endedAt: null }])
})

const account = sampleAddress()
const terms = {
  mint: sampleMint,
  decimals: 6,
  tokenProgram: account,
  paymentWallet: account,
  paymentTokenAccount: account,
  network: 'x',
}
const payer = sampleAddress()
const configured = sampleAddress()

/** A payment of the price of this endpoint, which landed now in slot 7 and was never presented. */
function landedFor(price = samplePrice(), memos: readonly string[] = []) {
  const own = { mint: sampleMint, tokenProgram: account, authority: payer, source: payer }
  const sentBaseUnits = price.requiredBaseUnits - price.burnBaseUnits
  return {
    signature: '' as never,
    slot: 7,
    blockTimeMs: systemClock.nowMs(),
    failure: undefined,
    signers: [payer],
    movements: [
      { ...own, kind: 'burn' as const, amountBaseUnits: price.burnBaseUnits },
      { ...own, kind: 'transfer' as const, amountBaseUnits: sentBaseUnits, destination: account },
    ],
    balances: [
      {
        tokenAccount: payer,
        mint: sampleMint,
        ownersSeen: [payer],
        beforeBaseUnits: price.requiredBaseUnits,
        afterBaseUnits: 0n,
      },
      {
        tokenAccount: account,
        mint: sampleMint,
        ownersSeen: [account],
        beforeBaseUnits: 0n,
        afterBaseUnits: sentBaseUnits,
      },
    ],
    memos,
    bytes: undefined,
  }
}

function quoteOf(id: string, more: Partial<QuoteFact> = {}): QuoteFact {
  const issuedAtMs = systemClock.nowMs() - 1_000
  const price = { ...samplePrice('/api/quoted', 20_000_000n), priceList: 1 }
  return { id, wallet: payer, memo: '', issuedAtMs, expiresAtMs: issuedAtMs + 300_000, slot: 7, price, ...more }
}

/** The explanation of such a payment, with the price list `listed`. */
async function explainLanded(
  record: ReturnType<typeof landedFor>,
  quotes: readonly QuoteFact[],
  listed = [samplePrice()],
  facts: Partial<ExplainDeps['facts']> = {},
) {
  const deps = depsOf(undefined, quotes)
  const found = await explain(
    {
      ...deps,
      facts: { ...deps.facts, pricesAt: async () => listed.map((price) => ({ ...price, priceList: 1 })), ...facts },
      chain: { find: async () => ({ kind: 'found', slot: 7, nodes: 1, isAgreed: true, record }) },
      // The payment went to a former wallet, which comes after the configured one.
      allTerms: () => [{ ...terms, paymentTokenAccount: configured, paymentWallet: configured }, terms],
    },
    sampleReference(),
  )
  if (typeof found === 'string') throw new Error(found)
  return found
}

test('a payment that was never presented buys each product whose price it meets, its quote first and once', async () => {
  const listed = [samplePrice('/api/a'), samplePrice('/api/dear', 99_000_000n), samplePrice('/api/b')]
  const quote = quoteOf('quote_1', { price: { ...samplePrice('/api/b'), priceList: 1 } })
  const { diagnosis, chain, rules } = await explainLanded(landedFor(), [quote], listed)
  expect(diagnosis.code).toBe('never_presented')
  expect(diagnosis.staff).toContain('7 tokens arrived')
  expect(diagnosis.staff).toContain('one answer of: /api/b, /api/a.')
  expect(chain).toMatchObject({ arrivedBaseUnits: '7000000', burnedBaseUnits: '3000000' })
  expect(rules.filter(({ verdict }) => verdict === 'failed')).toEqual([])
  const dollars = [{ ...samplePrice('/api/a'), mint: account }]
  expect((await explainLanded(landedFor(), [], dollars)).diagnosis.code).toBe('pays_no_price')
})

test('a deposit without a memo of ours opens no tab', async () => {
  const { requiredBaseUnits, ...price } = samplePrice('/api/tabs#1')
  const shares = [{ account: 'prepaid', baseUnits: requiredBaseUnits }]
  const deposit = { ...price, requiredBaseUnits, burnBaseUnits: 0n, shares }
  const { diagnosis } = await explainLanded(landedFor(deposit), [], [deposit])
  expect(diagnosis).toMatchObject({ code: 'pays_no_price', staff: expect.stringContaining('Rule 7: a deposit') })
  const bound = await explainLanded(landedFor(deposit, ['tollbook:memo']), [], [deposit])
  expect(bound.diagnosis.staff).toContain('one answer of: /api/tabs#1.')
})

test('the quotes of the day before a payment are searched, and its first presentation counts', async () => {
  const asked: QuotesQuestion[] = []
  const quotesOf: ExplainDeps['facts']['quotesOf'] = async (question) => {
    asked.push(question)
    return []
  }
  const landed = landedFor()
  const old = { ...landed, blockTimeMs: landed.blockTimeMs - 3_600_000 }
  const ageOf = async (facts: Partial<ExplainDeps['facts']>) =>
    (await explainLanded(old, [], undefined, { quotesOf, ...facts })).rules.find(({ rule }) => rule === '8')?.verdict
  expect(await ageOf({})).toBe('failed')
  expect(await ageOf({ presentedAtMs: async () => old.blockTimeMs + 1_000 })).toBe('passed')
  expect(asked[0]).toEqual({ wallet: payer, fromMs: old.blockTimeMs - 86_400_000, toMs: old.blockTimeMs + 1_000 })
})

test('a payment that meets no price is judged by the cheapest one, and the amount that arrived is named', async () => {
  const listed = [samplePrice('/api/dear', 99_000_000n), samplePrice('/api/cheap', 50_000_000n)]
  const { diagnosis, rules } = await explainLanded(landedFor(), [], listed)
  expect(diagnosis).toMatchObject({ code: 'pays_no_price', booking: { kind: 'unmatched' } })
  expect(rules.find(({ rule }) => rule === '9')?.asks).toContain('/api/cheap')
})

test('the quote of a payment is the newest open one with its memo, else the newest with it, else the newest open one', async () => {
  const idOf = async (memos: readonly string[], quotes: readonly QuoteFact[]) =>
    (await explainLanded(landedFor(samplePrice(), memos), quotes)).quote?.id
  const expired = { expiresAtMs: systemClock.nowMs() - 120_000 }
  const own = { memo: 'tollbook:own' }
  const quotes = [quoteOf('other'), quoteOf('late', { ...own, slot: 8 }), quoteOf('open', own), quoteOf('older', own)]
  expect(await idOf([own.memo], quotes)).toBe('open')
  expect(
    await idOf(
      [own.memo],
      [quoteOf('other'), quoteOf('newest', { ...own, ...expired }), quoteOf('x', { ...own, ...expired })],
    ),
  ).toBe('newest')
  expect(await idOf([], [quoteOf('expired', expired), quoteOf('later', { slot: 8 }), quoteOf('any')])).toBe('any')
  expect(await idOf([], [quoteOf('expired', expired)])).toBeUndefined()
})

test('a quote without a payment is open until its grace has passed', async () => {
  const id = (letter: string) => `quote_${letter.repeat(22)}`
  const nowMs = systemClock.nowMs()
  const quotes = [
    quoteOf(id('a'), { expiresAtMs: nowMs - 30_000 }),
    quoteOf(id('b'), { expiresAtMs: nowMs - 61_000, price: { ...samplePrice(), decimals: 2, priceList: 1 } }),
  ]
  const code = 'quote_not_paid'
  expect(await explain(depsOf(undefined, quotes), id('a'))).toMatchObject({
    reference: null,
    diagnosis: { code, caller: expect.stringContaining('open until') },
  })
  expect(await explain(depsOf(undefined, quotes), id('b'))).toMatchObject({
    diagnosis: { code, caller: expect.stringContaining('ask for a new quote') },
    decimals: 2,
  })
  expect(await explain(depsOf(undefined, quotes), id('c'))).toBe('unknown')
})

import { describe, expect, test } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import type { PaymentReference } from '../../src/payment/paymentReference.ts'
import { transferBaseUnits } from '@tollbook/core/quote'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { paymentDetail } from '../../src/reports/paymentDetail.ts'
import { readReport, readQuestion } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import type { ReportRow } from '../../src/reports/reportTable.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { summary } from '../../src/reports/summary.ts'
import { openPayoutFixture } from '../payout/payoutFixture.ts'
import { openSessions } from '../store/instance.ts'
import { tamper } from '../store/tamper.ts'
import { forgeLeaf } from '../audit/tampering.ts'
import { type LedgerView, dumpReports, type Given, entriesOf, sumOf } from './ledgerView.ts'
import { overpaid, rangesOf, runLifecycles, unasked } from './lifecycleStory.ts'

/*
 * Reversal, refund due, overpayment, unmatched transfer, partial payout and payout: each in its events, its entries and
 * every report, compared with the chain to the base unit.
 */

const environment = await openPayoutFixture('SPL Token')
const story = await runLifecycles(environment)
const { fixture, ledger, database } = environment
const { price } = fixture
const price70 = transferBaseUnits(price)
const stages = [
  ['before anything is paid out', story.owed],
  ['when it is partly paid out', story.partlyPaid],
  ['when all of it is paid out', story.paid],
] as const
const ranges = rangesOf(story.days)

function rowOf(view: LedgerView, reference: string): ReportRow {
  const row = view.report('payments').rows.find((row) => row['reference'] === reference)
  if (row === undefined) throw new Error(`${reference} is not in the list`)
  return row
}

const nothing = {
  burnedBaseUnits: 0n,
  burnOwedBaseUnits: 0n,
  receivedBaseUnits: 0n,
  lostBaseUnits: 0n,
  unearnedBaseUnits: 0n,
  providerBaseUnits: 0n,
  holdersBaseUnits: 0n,
  treasuryBaseUnits: 0n,
  owedBaseUnits: 0n,
}
const shares = Object.fromEntries(price.shares.map(({ account, baseUnits }) => [`${account}BaseUnits`, baseUnits]))
const burnedOnce = { burnedBaseUnits: price.burnBaseUnits }

const cases = [
  ['a payment that was served', story.served, 'fulfilled', { ...burnedOnce, receivedBaseUnits: price70, ...shares }],
  [
    'an overpayment, owed to its wallet',
    story.overpaid,
    'fulfilled',
    { ...burnedOnce, receivedBaseUnits: price70 + overpaid, ...shares, owedBaseUnits: overpaid },
  ],
  [
    'a refund that is due, no longer unearned',
    story.refunded,
    'refund_due',
    { ...burnedOnce, receivedBaseUnits: price70, owedBaseUnits: price70 },
  ],
  [
    'a transfer without a request, owed to its sender',
    story.unmatched,
    'unmatched',
    { receivedBaseUnits: unasked, owedBaseUnits: unasked },
  ],
  ['a payment that was dropped before it was served, as if it had never been', story.reversedUnserved, 'reversed', {}],
  [
    'a payment that was dropped after it was served, as our loss',
    story.reversedServed,
    'reversed',
    { ...shares, lostBaseUnits: price70 },
  ],
  [
    'a reversed payment that landed after all, owed to its sender',
    story.landedAfterAll,
    'unmatched',
    { ...shares, lostBaseUnits: price70, receivedBaseUnits: price70, owedBaseUnits: price70 },
  ],
] as const

describe('the list of payments shows', () => {
  test.each(cases)('%s', (_, reference, state, amounts) => {
    expect(rowOf(story.owed, reference)).toMatchObject({ ...nothing, state, ...amounts })
    const filtered = story.owed.report('payments', { state }).rows
    expect(filtered.map((row) => row['reference'])).toContain(reference)
    expect(filtered.every((row) => row['state'] === state)).toBe(true)
  })

  test('tokens without a request under a separate endpoint, with their sender', () => {
    const rows = story.owed.report('payments', { endpoint: 'unmatched' }).rows
    expect(rows).toMatchObject([{ reference: story.unmatched, endpoint: 'unmatched', wallet: expect.any(String) }])
  })

  test.each(stages)('rows that add up, %s', (_, view) => {
    for (const row of view.report('payments').rows) {
      const amount = (name: string) => BigInt(row[`${name}BaseUnits`] ?? 0)
      const parts = ['unearned', 'burnOwed', 'provider', 'holders', 'treasury', 'owed'].map(amount)
      expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(amount('received') + amount('lost'))
    }
  })

  test.each(ranges)('totals for %o that are those of its rows', (range) => {
    const { rows, totals } = story.paid.report('payments', range)
    for (const column of Object.keys(nothing)) expect([column, totals?.[column]]).toEqual([column, sumOf(rows, column)])
    const standing = rows.filter((row) => row['burnedBaseUnits'] !== 0n)
    expect(totals?.['payments']).toBe(standing.length)
  })
})

describe.each(stages)('%s', (_, view) => {
  test('the trial balance is the balances of the ledger, and the wallet is what it holds on chain', () => {
    const { rows, totals } = view.report('trial-balance')
    const closing = Object.fromEntries(
      rows.map((row) => [
        row['account'],
        BigInt(row['closingDebitBaseUnits'] ?? 0) - BigInt(row['closingCreditBaseUnits'] ?? 0),
      ]),
    )
    expect(closing).toEqual(view.balances)
    expect(totals?.['closingDebitBaseUnits']).toBe(totals?.['closingCreditBaseUnits'])
    expect(view.balances['Assets:PaymentWallet']).toBe(view.walletOnChain)
  })

  test('the burned amount equals the decrease of the supply, except for the burn of the payment that landed after its reversal', () => {
    const burned = view.balances['Expenses:Burned'] ?? 0n
    expect(story.minted - view.supplyOnChain).toBe(burned + price.burnBaseUnits)
    expect(burned).toBe(3n * price.burnBaseUnits)
    expect(view.publicBurns).toEqual({ burned, payments: 3 })
    for (const by of ['day', 'endpoint', 'wallet']) {
      const { rows, totals } = view.report('burns', { by })
      expect([sumOf(rows, 'burnedBaseUnits'), sumOf(rows, 'payments')]).toEqual([burned, 3n])
      expect(totals).toMatchObject({ payments: 3, burnedBaseUnits: burned, burnOwedBaseUnits: 0n })
    }
  })

  test('the columns of the payments equal the balances, except for amounts paid out of them', () => {
    const { totals } = view.report('payments')
    const payouts = view.report('payouts').rows
    const paidOf = (kind: string) =>
      sumOf(
        payouts.filter((row) => String(row['account']).startsWith(kind)),
        'paidBaseUnits',
      )
    const balance = (account: string) => view.balances[account] ?? 0n
    expect(totals).toMatchObject({
      burnedBaseUnits: balance('Expenses:Burned'),
      lostBaseUnits: balance('Expenses:ReversedPayments'),
      receivedBaseUnits: balance('Assets:PaymentWallet') + paidOf(''),
      unearnedBaseUnits: -balance('Liabilities:Unearned'),
      providerBaseUnits: -balance('Liabilities:Share:provider') + paidOf('Liabilities:Share:provider'),
      holdersBaseUnits: -balance('Liabilities:Share:holders') + paidOf('Liabilities:Share:holders'),
      treasuryBaseUnits: -balance('Liabilities:Share:treasury') + paidOf('Liabilities:Share:treasury'),
      owedBaseUnits: ['Overpaid', 'RefundsDue', 'Unmatched'].reduce(
        (sum, kind) => sum - balance(`Liabilities:${kind}`) + paidOf(`Liabilities:${kind}`),
        0n,
      ),
    })
  })

  test('liabilities are the balances of those who are owed, and of wallets alone where that is asked', () => {
    const owedTo = (accounts: readonly string[]) =>
      Object.fromEntries(accounts.map((account) => [account, -(view.byAccount[account] ?? 0n)]))
    const open = Object.keys(view.byAccount).filter(
      (account) => account.startsWith('Liabilities:') && view.byAccount[account] !== 0n,
    )
    for (const [given, accounts] of [
      [{}, open],
      [{ owedTo: 'wallets' }, open.filter((account) => /^Liabilities:(Overpaid|RefundsDue|Unmatched):/.test(account))],
    ] as const) {
      const { rows, totals } = view.report('liabilities', given)
      expect(Object.fromEntries(rows.map((row) => [row['account'], row['owedBaseUnits']]))).toEqual(owedTo(accounts))
      expect(totals).toEqual({ owedBaseUnits: sumOf(rows, 'owedBaseUnits') })
    }
  })

  test.each(ranges)(
    'the reports of %o are the sums of the entries of those days, however they are grouped',
    async (range) => {
      const distributions = ['day', 'endpoint', 'wallet'].map((by) => view.report('distributions', { ...range, by }))
      const [byDay] = distributions
      for (const { rows, totals } of distributions) {
        for (const column of Object.keys(totals ?? {}))
          expect([column, BigInt(totals?.[column] ?? -1)]).toEqual([column, sumOf(rows, column)])
        expect(byDay?.totals).toMatchObject(totals ?? {})
      }
      const { rows } = view.report('trial-balance', range)
      const moved = (account: string) => {
        const row = rows.find((row) => row['account'] === account)
        return BigInt(row?.['debitBaseUnits'] ?? 0) - BigInt(row?.['creditBaseUnits'] ?? 0)
      }
      const total = (column: string) => BigInt(byDay?.totals?.[column] ?? 0)
      expect(total('receivedBaseUnits') - total('paidOutBaseUnits') - total('paidBackBaseUnits')).toBe(
        moved('Assets:PaymentWallet'),
      )
      expect(total('lostBaseUnits')).toBe(moved('Expenses:ReversedPayments'))
      const burns = view.report('burns', { ...range, by: 'day' }).totals
      expect(burns?.['burnedBaseUnits']).toBe(moved('Expenses:Burned'))
      const payouts = view.report('payouts', range)
      expect(payouts.totals).toEqual({ paidBaseUnits: sumOf(payouts.rows, 'paidBaseUnits') })
      expect(sumOf(payouts.rows, 'paidBaseUnits')).toBe(total('paidOutBaseUnits') + total('paidBackBaseUnits'))
      if (view !== story.paid) return
      const entries = await entriesOf(environment, range)
      for (const [account, sum] of entries) expect([account, moved(account)]).toEqual([account, sum])
    },
  )
})

describe('a payout', () => {
  const [one, two] = story.payouts

  test('takes from what is owed as much as it paid, part by part', () => {
    const owed = (view: LedgerView) => sumOf(view.report('liabilities').rows, 'owedBaseUnits')
    const paid = (view: LedgerView) => sumOf(view.report('payouts').rows, 'paidBaseUnits')
    expect(owed(story.owed)).toBeGreaterThan(owed(story.partlyPaid))
    expect(owed(story.partlyPaid)).toBeGreaterThan(0n)
    expect(owed(story.owed)).toBe(owed(story.partlyPaid) + paid(story.partlyPaid))
    expect(owed(story.owed)).toBe(owed(story.paid) + paid(story.paid))
    for (const [stage, view] of stages)
      expect([stage, owed(view) - view.walletOnChain]).toEqual([stage, view.balances['Expenses:ReversedPayments']])
    expect(story.paid.report('liabilities').rows.map((row) => row['account'])).toEqual(['Liabilities:Share:provider'])
  })

  test('is listed with its plan, its part and whom it paid, by day', () => {
    const rows = story.paid.report('payouts').rows
    expect(new Set(rows.map((row) => `${row['part']} ${row['reference']}`))).toEqual(new Set([`1 ${one}`, `2 ${two}`]))
    expect(story.partlyPaid.report('payouts').rows.every((row) => row['reference'] === one)).toBe(true)
    const [, second, third] = story.days
    expect(story.paid.report('payouts', { from: second, to: second }).rows).toEqual([])
    expect(story.paid.report('payouts', { from: third, to: third }).rows).toEqual(rows)
  })

  test('is found by the wallet that was paid, and page by page', async () => {
    const rows = story.paid.report('payouts').rows
    const token = { mint: fixture.terms.mint, decimals: 6 }
    const read = (given: Given) => {
      const question = readQuestion('payouts', given)
      if (isProblems(question)) throw new Error(JSON.stringify(question))
      return readReport(ledger.database, { report: 'payouts', token, ...question })
    }
    const wallet = String(rowOf(story.paid, story.refunded)['wallet'])
    const own = await read({ wallet })
    expect(own).toMatchObject({ rows: [{ wallet, paidBaseUnits: price70 }], totals: { paidBaseUnits: price70 } })
    const paged: ReportRow[] = []
    for (let cursor: string | undefined, page = 0; page < 4; page++) {
      const { rows: some, next } = await read({ limit: '2', ...(cursor === undefined ? {} : { cursor }) })
      paged.push(...some)
      cursor = next
      if (next === undefined) break
    }
    expect(rows).toHaveLength(6)
    expect(paged).toEqual(rows)
  })

  test('is shown with its event and its entries', async () => {
    for (const reference of [one, two])
      expect(await paymentDetail(ledger.database, reference)).toMatchObject({
        reference,
        kind: 'payout',
        state: 'paid',
        events: [
          {
            kind: 'DistributionPaid',
            entries: expect.arrayContaining([expect.objectContaining({ account: 'Assets:PaymentWallet' })]),
          },
        ],
      })
  })
})

describe('one payment is shown with', () => {
  const kinds: readonly (readonly [string, PaymentReference, readonly string[]])[] = [
    ['RefundDue', story.refunded, ['Liabilities:Unearned', 'Liabilities:RefundsDue']],
    ['TransferReceived', story.unmatched, ['Assets:PaymentWallet', 'Liabilities:Unmatched']],
    [
      'PaymentReversed',
      story.reversedUnserved,
      ['Liabilities:Unearned', 'Assets:PaymentWallet', 'Liabilities:Overpaid'],
    ],
    ['BurnReversed', story.reversedUnserved, ['Income:BurnedByCallers', 'Expenses:Burned']],
    [
      'PaymentReversed',
      story.reversedServed,
      ['Expenses:ReversedPayments', 'Assets:PaymentWallet', 'Liabilities:Overpaid'],
    ],
    ['PaymentVerified', story.overpaid, ['Assets:PaymentWallet', 'Liabilities:Unearned', 'Liabilities:Overpaid']],
  ]

  test.each(kinds)('its %s, and the accounts that it moved', async (kind, reference, accounts) => {
    const detail = JSON.parse(JSON.stringify(await paymentDetail(ledger.database, reference)))
    const event = detail.events.find((event: { kind: string }) => event.kind === kind)
    const moved = event.entries.map(({ account }: { account: string }) => account.split(':').slice(0, 2).join(':'))
    expect(new Set(moved)).toEqual(new Set(accounts))
  })

  test('what is still owed on its accounts, and the payouts that paid them', async () => {
    const detail = await paymentDetail(ledger.database, story.refunded)
    const wallet = rowOf(story.paid, story.refunded)['wallet']
    const account = `Liabilities:RefundsDue:${wallet}`
    expect(detail).toMatchObject({
      owedNow: [{ account, owedBaseUnits: '0' }],
      payouts: [{ account, paidBaseUnits: price70.toString() }],
    })
  })
})

test('the summary counts the payments that stand, and says what was lost', async () => {
  expect(await summary(ledger.database, { mint: fixture.terms.mint, decimals: 6 })).toMatchObject({
    payments: 3,
    burnedBaseUnits: (3n * price.burnBaseUnits).toString(),
    lostBaseUnits: (2n * price70).toString(),
    owedBaseUnits: (4n * (price.shares[0]?.baseUnits ?? 0n)).toString(),
    refundsDueBaseUnits: '0',
  })
})

test.each([1, 3, 1_000])('a reset and a roll-up in steps of %i events end with the same rows', async (events) => {
  const owner = openSessions(database.ownerUrl)
  const before = await dumpReports(environment)
  await owner.query('select reports.reset()')
  expect(await dumpReports(environment)).toEqual([expect.stringMatching(/^progress/)])
  while ((await rollUp(ledger.database, events)) > 0);
  expect(await dumpReports(environment)).toEqual(before)
})

function auditWithChain() {
  const { paymentWallet } = fixture.terms
  fixture.chain.advanceSlots(40)
  return audit({
    source: { kind: 'database', url: database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    resumeFile: undefined,
    clock: systemClock,
    chain: { rpcUrl: fixture.chain.rpcUrl, paymentWallet, recordedWithinMs: 0, fetch: globalThis.fetch },
  })
}

test('an independent audit of ledger and chain finds only the prices of the fixture', async () => {
  const { findings, verdicts } = await auditWithChain()
  expect(findings.filter(({ code }) => !code.startsWith('price_'))).toEqual([])
  expect(verdicts.chainTruth.status).toBe('holds')
})

test('an audit reads the recipient of a payout from the chain', async () => {
  const admin = openSessions(database.adminUrl)
  const { rows } = await admin.query<{ seq: number; body: string }>(
    `select seq::int, convert_from(body, 'UTF8') as body from ledger.events where kind = 'DistributionPaid' order by seq limit 1`,
  )
  const [payout] = rows
  if (payout === undefined) throw new Error('there is a payout')
  const destination = (share: 'holders' | 'treasury') =>
    assertPresent(environment.destinations.get(share), 'every share has a destination')
  const [holders, treasury] = [destination('holders'), destination('treasury')]
  const write = (text: string) =>
    tamper(
      admin,
      `update ledger.events set body = convert_to('${text}', 'UTF8') where seq = ${payout.seq};
       ${forgeLeaf} where seq = ${payout.seq}`,
    )
  expect(payout.body).toContain(holders)
  await write(payout.body.replace(holders, treasury))
  try {
    const { findings, verdicts } = await auditWithChain()
    expect(verdicts.chainTruth).toMatchObject({ status: 'broken', firstBad: { position: payout.seq } })
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'transaction_contradicts',
        position: payout.seq,
        message: `600000 went to ${holders}, and 0 are recorded`,
      }),
    )
  } finally {
    await write(payout.body)
  }
})

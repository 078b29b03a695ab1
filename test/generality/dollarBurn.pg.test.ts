import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address } from '@tollbook/core/address'
import { systemClock } from '@tollbook/core/clock'
import { assert, assertPresent } from '@tollbook/core/assert'
import { decideBurnConfirm, decideBurnSubmit, evolveBurn, planRound, unknownBurn } from '../../src/payment/burn.ts'
import type { BurnEvent } from '../../src/payment/events.ts'
import { decideDelivery, decideFinality } from '../../src/payment/finality.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { dollarPrices } from '../../src/pricing/dollarPrices.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { signatureOf } from '../../src/payment/paymentReference.ts'
import { burnStats } from '../../src/reports/burnStats.ts'
import { readPromisedBurns } from '../../src/reports/promisedBurns.ts'
import { readQuestion } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { burnSums } from '../../src/reports/sums.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { createBurnLedger } from '../../src/store/burnStore.ts'
import { openDatabase } from '../../src/store/database.ts'
import { silentLog } from '../../src/machine/log.ts'
import { findBroken } from '../kernel/checkLedger.ts'
import { openPool } from '../kernel/openKernel.ts'
import { mustAppend, openInstance } from '../store/instance.ts'
import {
  claimOf,
  fulfilmentOf,
  sampleAddress,
  samplePrice,
  sampleReference,
  sampleSettlement,
} from '../store/samplePayment.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { ledgerFindings } from '../support/ledgerFindings.ts'
import { rounds } from '../support/rounds.ts'

/*
 * Sales in dollars owe a burn in the token, which the treasury delivers. The database refuses to burn what has not
 * arrived, and no account of one mint moves with the other.
 */

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const admin = openPool(adminUrl, 2)
const burner = openDatabase({ databaseUrl: adminUrl, applicationName: 'burn test', connectionsMax: 1, log: silentLog })
afterFile(() => burner.destroy())
const burns = createBurnLedger(burner)
const dollar = sampleAddress()
const treasury = sampleAddress()

function saleInDollars(token: Address, requiredBaseUnits: bigint): Settlement {
  const inToken = { ...samplePrice('/api/data/weather', requiredBaseUnits), mint: token }
  const of = { mint: dollar, decimals: 6, minimumMicroUsd: 1n, burn: 'token' } as const
  const price = assertPresent(dollarPrices([inToken], of, defaultSplit)[0], 'the price is above the minimum')
  return sampleSettlement({ price, burnedBaseUnits: 0n, receivedBaseUnits: price.requiredBaseUnits })
}

async function sell(settlement: Settlement, end: 'finalized' | 'reversed' | undefined) {
  const { attemptId, change } = claimOf(settlement)
  const { after: claimed } = await mustAppend(ledger, change)
  const fulfilled = await mustAppend(ledger, fulfilmentOf(settlement, { before: claimed, attemptId }))
  if (end === undefined) return fulfilled
  const reversed = { kind: 'reversed', reason: 'absent', finalizedSlot: 1 } as const
  const verdict = end === 'finalized' ? ({ kind: 'finalized', slot: 1 } as const) : reversed
  const decision = assertPresent(decideFinality(fulfilled.after, verdict), 'a served payment becomes final')
  const { reference } = settlement
  await mustAppend(ledger, { reference, before: fulfilled.after, ...decision, nowMs: 0 })
  return fulfilled
}

async function deliver(token: Address, receivedBaseUnits: bigint) {
  const transfer = { wallet: treasury, mint: token, receivedBaseUnits, slot: 1 }
  const source = { wallet: treasury, mint: token }
  const decision = assertPresent(decideDelivery(unknownPayment, transfer, source), 'the treasury delivers')
  await mustAppend(ledger, { reference: sampleReference(), before: unknownPayment, ...decision, nowMs: 0 })
}

/** One round of all that may be burned, as `tollbook burn` makes it. Returns the amount. */
async function burnAll(token: Address): Promise<bigint> {
  while ((await ledger.lifecycle.followOpenWork()) > 0);
  const { lastRound, burnedThroughPosition } = await burns.readRounds(token)
  const round = planRound(token, lastRound, await burns.readDebts(token, burnedThroughPosition))
  if (round === undefined) return 0n
  const amount = round.parts.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  const rest = { lastValidHeight: 9, delegate: { allowanceBaseUnits: amount, lamports: 1n }, transactionBase64: 'AQ==' }
  const submitted = assertPresent(decideBurnSubmit(unknownBurn, { ...round, ...rest }), 'a round is new').events
  const state = submitted.reduce(evolveBurn, unknownBurn)
  const confirmed = assertPresent(decideBurnConfirm(state, { burnedBaseUnits: amount, slot: 1 }), 'it lands').events
  const signature = assertPresent(signatureOf(sampleReference()), 'a reference has a signature')
  for (const event of [...submitted, ...confirmed]) expect(await record(signature, event)).toBe('recorded')
  return amount
}

const record = (signature: Parameters<typeof burns.record>[0]['signature'], event: BurnEvent) =>
  burns.record({ signature, event, effectiveAtMs: Date.parse('2026-11-26T10:00:00.000Z') })

async function balances(mint: Address): Promise<Readonly<Record<string, bigint>>> {
  const { rows } = await admin.query<{ name: string; balance: string }>(
    'select name, balance from ledger.accounts where mint = $1 and balance <> 0',
    [mint],
  )
  return Object.fromEntries(rows.map(({ name, balance }) => [name, BigInt(balance)]))
}

test('a sale in dollars owes the burn of the same request in the token, and moves no token', async () => {
  const token = sampleAddress()
  await sell(saleInDollars(token, 1_001n), 'finalized')
  expect(await balances(token)).toEqual({ 'Assets:TokensToDeliver': 301n, 'Liabilities:BurnOwed': -301n })
  expect(await balances(dollar)).toMatchObject({
    'Assets:PaymentWallet': 10_000n,
    'Liabilities:Share:provider': -5_000n,
    'Liabilities:Share:holders': -1_500n,
    'Liabilities:Share:treasury': -3_500n,
  })
})

test('nothing is burned before the treasury has delivered, and the database refuses a burner who tries', async () => {
  const token = sampleAddress()
  await sell(saleInDollars(token, 1_000n), 'finalized')
  expect(await burnAll(token)).toBe(0n)
  const parts = [{ endpoint: '/api/data/weather', baseUnits: 300n }]
  const bytes = { lastValidHeight: 9, delegate: { allowanceBaseUnits: 300n, lamports: 1n }, transactionBase64: 'AQ==' }
  const submit = { round: 1, mint: token, throughPosition: 1, parts, ...bytes }
  const [event] = assertPresent(decideBurnSubmit(unknownBurn, submit), 'a round is new').events
  const signature = assertPresent(signatureOf(sampleReference()), 'a reference has a signature')
  await expect(record(signature, event)).rejects.toThrow('more_than_owed')
  await deliver(token, 300n)
  expect(await burnAll(token)).toBe(300n)
})

test('burn statistics show what sales in dollars promised, the treasury delivered and rounds burned for them', async () => {
  const token = sampleAddress()
  const read = () => burnStats({ database: burner, clock: systemClock }, { mint: token, decimals: 0 })
  expect(await read()).not.toHaveProperty('treasury')
  const amount = (tokens: number) => ({ tokens, baseUnits: String(tokens) })
  const sale = saleInDollars(token, 1_000n)
  const prices = [{ ...samplePrice('/api/data/weather', 1_000n), mint: token }, sale.price]
  await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices })
  const before = await soldInDollars()
  await sell(sale, 'finalized')
  await sell(saleInDollars(token, 1_000n), 'reversed')
  const promised = { promised: amount(300), burned: amount(0), open: amount(300) }
  const owed = { owed: amount(300), total: amount(0) }
  const nothing = amount(0)
  expect(await read()).toMatchObject({
    ...owed,
    treasury: { ...promised, delivered: nothing, toDeliver: amount(300), deliveredAhead: nothing },
  })
  await deliver(token, 310n)
  expect(await read()).toMatchObject({
    ...owed,
    treasury: { ...promised, delivered: amount(310), toDeliver: nothing, deliveredAhead: amount(10) },
  })
  expect(await burnAll(token)).toBe(300n)
  while ((await rollUp(burner)) > 0);
  const sold = (await soldInDollars()) - before
  expect(sold).toBe(sale.price.requiredBaseUnits)
  expect(await read()).toMatchObject({
    owed: nothing,
    total: amount(300),
    treasury: {
      promised: amount(300),
      burned: amount(300),
      open: nothing,
      toDeliver: nothing,
      deliveredAhead: amount(10),
      sales: [{ mint: dollar, baseUnits: String(before + sold), usd: Number(before + sold) / 1e6 }],
    },
  })
})

test('the report of burns has the promises of sales in dollars by their endpoint, and the deliveries by their day', async () => {
  const token = sampleAddress()
  await sell(saleInDollars(token, 1_000n), 'finalized')
  await sell(saleInDollars(token, 2_000n), 'reversed')
  await deliver(token, 310n)
  while ((await rollUp(burner)) > 0);
  const read = async (by: string) => {
    const question = readQuestion('burns', { by })
    assert(!isProblems(question), 'a grouping is a question')
    return burnSums(burner, { ...question, mint: token })
  }
  expect((await read('day')).totals).toMatchObject({ promisedBaseUnits: 300n, deliveredBaseUnits: 310n })
  const { rows } = await read('endpoint')
  expect(rows).toMatchObject([{ endpoint: '/api/data/weather', promisedBaseUnits: 300n }])
  expect(rows[0]).not.toHaveProperty('deliveredBaseUnits')
})

/** Dollars of sales that stand, by the bodies of the events alone. All sales of this file are in one dollar. */
async function soldInDollars(): Promise<bigint> {
  const { rows } = await admin.query<{ sold: string }>(
    `select coalesce(sum((body #>> '{settlement,price,requiredBaseUnits}')::numeric), 0)::text as sold
    from (select stream, convert_from(body, 'UTF8')::jsonb as body from ledger.events where kind = 'PaymentVerified') v
    where body #>> '{settlement,price,mint}' = $1
      and exists (select from ledger.events f where f.stream = v.stream and f.kind = 'RequestFulfilled')
      and not exists (select from ledger.events r where r.stream = v.stream and r.kind = 'PaymentReversed')`,
    [dollar],
  )
  return BigInt(rows[0]?.sold ?? '0')
}

const step = fc.oneof(
  fc.record({
    what: fc.constant('dollars' as const),
    required: fc.bigInt({ min: 2n, max: 10n ** 12n }),
    end: fc.constantFrom('finalized' as const, 'reversed' as const, undefined),
  }),
  fc.record({ what: fc.constant('tokens' as const), required: fc.bigInt({ min: 2n, max: 10n ** 12n }) }),
  fc.record({ what: fc.constant('delivery' as const), amount: fc.bigInt({ min: 1n, max: 10n ** 12n }) }),
  fc.record({ what: fc.constant('burn' as const) }),
  fc.record({ what: fc.constant('reports' as const) }),
)

test('whatever the order of sales, deliveries and burns, what is burned was delivered or received, and sums are exact', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const token = sampleAddress()
      let [promised, received, delivered, burned, burnedForDollars] = [0n, 0n, 0n, 0n, 0n]
      // Debts in the order of their sales. A round burns the first of them.
      const debts: { readonly amount: bigint; readonly isOfDollars: boolean }[] = []
      for (const each of steps) {
        if (each.what === 'dollars') {
          const settlement = saleInDollars(token, each.required)
          await sell(settlement, each.end)
          const amount = settlement.price.tokenBurn?.baseUnits ?? 0n
          if (each.end !== 'reversed') {
            promised += amount
            debts.push({ amount, isOfDollars: true })
          }
        } else if (each.what === 'tokens') {
          const price = { ...samplePrice('/api/data/stock', each.required), mint: token }
          await sell(sampleSettlement({ price, burnedBaseUnits: 0n, receivedBaseUnits: each.required }), 'finalized')
          received += price.burnBaseUnits
          debts.push({ amount: price.burnBaseUnits, isOfDollars: false })
        } else if (each.what === 'delivery') {
          await deliver(token, each.amount)
          delivered += each.amount
        } else if (each.what === 'reports') while ((await rollUp(burner)) > 0);
        else {
          let left = await burnAll(token)
          burned += left
          while (left > 0n) {
            const { amount, isOfDollars } = assertPresent(debts.shift(), 'a round burns debts')
            left -= amount
            if (isOfDollars) burnedForDollars += amount
          }
          expect(left).toBe(0n)
        }
        const stated = await readPromisedBurns(burner, token)
        if (stated !== undefined) {
          const { promisedBaseUnits, deliveredBaseUnits, burnedBaseUnits } = stated
          expect([promisedBaseUnits, deliveredBaseUnits, burnedBaseUnits]).toEqual([
            promised,
            delivered,
            burnedForDollars,
          ])
        }
        const found = await balances(token)
        expect(-(found['Liabilities:BurnOwed'] ?? 0n)).toBe(promised + received - burned)
        expect(found['Assets:TokensToDeliver'] ?? 0n).toBe(promised - delivered)
        // No token of anyone else is burned: the rounds never exceed what came for burns.
        expect(burned <= received + (delivered < promised ? delivered : promised)).toBe(true)
      }
    }),
    { numRuns: rounds(12), endOnFailure: true },
  )
  expect(await findBroken(admin)).toEqual([])
})

test('the audit reads promises, deliveries and rounds, and blames only the made-up transactions and prices', async () => {
  while ((await rollUp(burner)) > 0);
  const { rows } = await admin.query<{ mint: string }>(
    "select mint from reports.payments where mint <> $1 and endpoint = '/api/data/weather'",
    [dollar],
  )
  expect(rows, 'each sale in dollars is a payment of its own mint').toEqual([])
  const sums = await admin.query<{ owed: string }>(
    'select sum(burn_owed) as owed from reports.payments where mint = $1',
    [dollar],
  )
  expect(sums.rows[0]?.owed, 'no token is added to dollars').toBe('0')
  const codes = new Set((await ledgerFindings(adminUrl)).map(({ code }) => code))
  for (const code of [
    'burn_owed_mismatch',
    'burn_exceeds',
    'burn_differs',
    'tokens_not_delivered',
    'account_differs',
  ] as const)
    expect(codes.has(code), code).toBe(false)
})

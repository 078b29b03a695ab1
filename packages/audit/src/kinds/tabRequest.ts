import { z } from 'zod'
import { base58Of } from '../base58Text.ts'
import { baseUnits, describeShares, usd } from '../body.ts'
import type { AuditedStream } from '../auditedStream.ts'
import { declareStep, type DeclaredStep } from '../declaredKind.ts'
import { price } from '../price.ts'
import { partOfBurn } from '../publishedPrices.ts'
import { type AuditedKind, bodyOf, eventOf, type Judged } from './auditedKind.ts'
import { noteBurnOwed } from './burnsOwed.ts'
import * as bodies from './paymentBodies.ts'
import * as rules from './paymentRules.ts'
import { prepaidOn } from './tabDeposit.ts'
import { isSignedDebit, tabsOf } from './tabs.ts'
import { chargeOfUse, findChargeProblem, meteredTextOf } from './usedTab.ts'

/* A request that a tab pays: a hold, then a charge of at most the hold, or nothing. */

const text = z.string()
const debited = bodyOf('TabDebited', {
  tab: text,
  number: usd,
  deposit: text,
  slot: z.int(),
  blockTimeMs: z.int(),
  wallet: text,
  price,
  priceList: z.int(),
  attempt: z.int(),
  attemptId: text,
  leaseMs: z.int(),
  orderDigest: text,
  bearerHash: text.nullable(),
  signed: z
    .strictObject({
      sessionKey: text,
      maxBaseUnits: baseUnits,
      validUntilMs: z.int(),
      requestDigest: z.string().regex(/^[0-9a-f]{64}$/),
      signature: text,
    })
    .nullable(),
  lifecycle: z.int(),
})
const returned = bodyOf('TabReturned', { tab: text, mint: text, baseUnits })

const unearned = 'Liabilities:Unearned'
const share = 'unearned>share'
const back = ['unearned>prepaid']
/** A charge with the burn that it owes out of the price or, for a price in dollars, in the service token; or without. */
const charges: readonly Required<Pick<DeclaredStep, 'events' | 'moves' | 'when'>>[] = [
  {
    events: ['RequestFulfilled', 'BurnOwed', 'DistributionAllocated'],
    moves: ['unearned>burn_owed', 'to_deliver>burn_owed', share],
    when: owesBurn,
  },
  { events: ['RequestFulfilled', 'DistributionAllocated'], moves: [share], when: (row) => !owesBurn(row) },
]
const failures: readonly (readonly [from: string, event: string])[] = [
  ['debited', 'RequestFailed'],
  ['streaming', 'AnswerBroken'],
]

const stepOf = (name: string) => `tab_request.${name}`

export const tabRequest: AuditedKind = {
  kind: 'tab_request',
  space: 7,
  idBytes: 24,
  idPrefix: '',
  isSetting: false,
  nameOf: (key) => `tab:${base58Of(key.subarray(0, 16))}:${key.readBigUInt64BE(16)}`,
  steps: [
    ...['', 'released'].map((from) =>
      declareStep({
        step: stepOf('debit'),
        from,
        to: 'debited',
        events: ['TabDebited'],
        moves: ['prepaid>unearned'],
        takesLease: true,
      }),
    ),
    declareStep({
      step: stepOf('start'),
      from: 'debited',
      to: 'streaming',
      events: ['AnswerStarted'],
      takesLease: true,
    }),
    ...['debited', 'streaming'].flatMap((from) => [
      ...charges.flatMap(({ events, moves, when }) => [
        declareStep({
          step: stepOf('capture'),
          from,
          to: 'captured',
          events,
          moves,
          when: (row) => when(row) && row.overpaidBaseUnits === 0n,
        }),
        declareStep({
          step: stepOf('capture'),
          from,
          to: 'captured',
          events: [...events, 'TabReturned'],
          moves: [...moves, ...back],
          when: (row) => when(row) && row.overpaidBaseUnits !== 0n,
        }),
      ]),
      declareStep({
        step: stepOf('expire'),
        from,
        to: 'released',
        events: ['RequestFailed', 'TabReturned'],
        moves: back,
        isAfterLease: true,
      }),
    ]),
    ...failures.map(([from, event]) =>
      declareStep({ step: stepOf('release'), from, to: 'released', events: [event, 'TabReturned'], moves: back }),
    ),
  ],
  events: new Map([
    eventOf(debited, {
      mint: (event) => event.price.mint,
      postings: (event) => [[prepaidOn(event.tab), unearned, event.price.requiredBaseUnits]],
      judge: judgeDebited,
    }),
    eventOf(bodies.started, { judge: rules.judgeStarted }),
    eventOf(bodies.fulfilled, { judge: judgeCaptured }),
    eventOf(bodies.burnOwed, {
      postings: ({ owedBaseUnits, source }) => [
        [source === undefined ? unearned : 'Assets:TokensToDeliver', 'Liabilities:BurnOwed', owedBaseUnits],
      ],
      judge: judgeOwed,
    }),
    eventOf(bodies.allocated, {
      postings: ({ parts }) => parts.map((part) => [unearned, `Liabilities:Share:${part.account}`, part.baseUnits]),
      judge: judgeAllocated,
    }),
    eventOf(bodies.failed, { judge: failAnd(rules.judgeFailed) }),
    eventOf(bodies.broken, { judge: failAnd(rules.judgeReleased) }),
    eventOf(returned, {
      postings: (event) => [[unearned, prepaidOn(event.tab), event.baseUnits]],
      judge: judgeReturned,
    }),
  ]),
}

type Debited = z.output<typeof debited>

// A debit is judged before its append, which waits 15 s at most.
const recordedWithinMs = 60_000

function judgeDebited(event: Debited, at: Judged): void {
  const { row, blame, ledger, recordedAtMs } = at
  const { price: listed, wallet, attempt, number, signed } = event
  if (event.stream !== `tab:${event.tab}:${number}`)
    blame('owner_differs', 'the debit is in the stream of another number')
  if (attempt !== row.attempt + 1) blame('attempt_wrong', `attempt ${attempt} follows attempt ${row.attempt}`)
  if (row.attempt > 0 && (event.orderDigest !== row.orderDigest || wallet !== row.wallet))
    blame('owner_differs', 'the number belongs to another order')
  if (listed.problem !== undefined) blame('price_wrong', listed.problem)
  const unlisted = ledger.prices.has(event.priceList, listed.digest)
    ? undefined
    : ledger.prices.findHoldProblem(event.priceList, listed)
  if (unlisted !== undefined)
    blame(
      'price_not_published',
      `price list ${event.priceList} does not have this price for ${listed.endpoint}: ${unlisted}`,
    )
  judgeTab(event, at)
  // A debit by the bearer key has no signature that an auditor could verify.
  if (signed !== null) {
    const origin = ledger.periods.of('origin').at(-1)?.text ?? ''
    if (!isSignedDebit({ tab: event.tab, number, origin, mint: listed.mint, signed }))
      blame('owner_differs', 'the session key did not sign the debit')
    if (listed.requiredBaseUnits > signed.maxBaseUnits) blame('payment_short', 'more is held than the payer permitted')
    if (event.effectiveAt > signed.validUntilMs + recordedWithinMs)
      blame('lifecycle_impossible', 'the debit was no longer valid')
  }
  Object.assign(row, {
    wallet,
    endpoint: listed.endpoint,
    mint: listed.mint,
    price: listed.digest,
    shares: listed.sharesText,
    requiredBaseUnits: listed.requiredBaseUnits,
    burnBaseUnits: listed.burnBaseUnits,
    burnedBaseUnits: 0n,
    tokenBurnMint: listed.tokenBurn?.mint ?? '',
    tokenBurnBaseUnits: listed.tokenBurn?.baseUnits ?? 0n,
    overpaidBaseUnits: 0n,
    metered: meteredTextOf(ledger.prices, event.priceList, listed),
    attempt,
    attemptId: event.attemptId,
    orderDigest: event.orderDigest,
    leaseMs: event.leaseMs,
    leaseUntilMs: recordedAtMs + event.leaseMs,
  })
}

function judgeTab(event: Debited, { blame, ledger }: Judged): void {
  const tab = tabsOf(ledger.state).get(event.tab)
  if (tab === undefined) return blame('lifecycle_impossible', 'no deposit opened the tab')
  const { price: listed, signed, bearerHash } = event
  if (tab.wallet !== event.wallet || tab.mint !== listed.mint) blame('owner_differs', 'the tab is of another wallet')
  if (tab.deposit !== event.deposit || tab.slot !== event.slot || tab.blockTimeMs !== event.blockTimeMs)
    blame('owner_differs', 'another deposit opened the tab')
  if (tab.isClosed) blame('lifecycle_impossible', 'the tab is closed')
  if (event.effectiveAt > tab.endsAtMs + recordedWithinMs) blame('lifecycle_impossible', 'the tab had ended')
  if (tab.lifecycle !== event.lifecycle)
    blame('lifecycle_impossible', `the lifecycle of the tab has ${tab.lifecycle} events, not ${event.lifecycle}`)
  const isHeld =
    signed === null ? bearerHash !== null && bearerHash === tab.bearerHash : signed.sessionKey === tab.sessionKey
  if (!isHeld) blame('owner_differs', 'it was debited by a key that the tab does not have')
  if (listed.requiredBaseUnits > tab.maxPerRequestBaseUnits) blame('payment_short', 'the tab does not permit so much')
}

/** A debit with a price by use states its usage, from which the charge follows. */
function judgeCaptured(event: bodies.Body<typeof bodies.fulfilled>, at: Judged): void {
  rules.judgeFulfilled(event, at)
  const { row, blame } = at
  const { usage } = event
  row.dueBaseUnits = row.requiredBaseUnits
  if (usage === undefined) return
  if (row.metered === null) return blame('distribution_differs', 'a fixed price is charged by use')
  const used = chargeOfUse(row.metered, usage)
  if (used >= row.dueBaseUnits) return
  row.dueBaseUnits = used
  row.tokenBurnBaseUnits = partOfBurn(row.tokenBurnBaseUnits, used, row.requiredBaseUnits)
}

function owesBurn(row: AuditedStream): boolean {
  return row.burnBaseUnits > 0n || rules.owesToken(row)
}

function judgeOwed(event: bodies.Body<typeof bodies.burnOwed>, at: Judged): void {
  const { owedBaseUnits, mint, endpoint, source } = event
  const { row, blame, ledger } = at
  if (source !== undefined || rules.owesToken(row)) return rules.judgeBurnOwed(event, at)
  if (mint !== row.mint || endpoint !== row.endpoint) blame('burn_differs', 'another request was debited')
  row.burnedBaseUnits = owedBaseUnits
  noteBurnOwed(ledger.state, { mint, endpoint }, owedBaseUnits)
}

/** The charge is at most the hold, and is divided as the price is, by the split of a list in force. */
function judgeAllocated({ mint, parts, effectiveAt }: bodies.Body<typeof bodies.allocated>, at: Judged): void {
  const { row, blame, ledger } = at
  if (mint !== row.mint) blame('distribution_differs', 'another mint was debited')
  const sharesText = describeShares(parts)
  const burnBaseUnits = row.burnedBaseUnits
  const requiredBaseUnits = parts.reduce((sum, part) => sum + part.baseUnits, burnBaseUnits)
  if (requiredBaseUnits !== row.dueBaseUnits)
    blame('distribution_differs', `${requiredBaseUnits} are charged, and the usage costs ${row.dueBaseUnits}`)
  const isWhole = requiredBaseUnits === row.requiredBaseUnits
  const problem = isWhole
    ? sharesText === row.shares && burnBaseUnits === row.burnBaseUnits
      ? undefined
      : `${sharesText} are allocated, and the price divides otherwise`
    : row.metered === null
      ? ledger.prices.findShareProblem({ requiredBaseUnits, burnBaseUnits, sharesText }, effectiveAt)
      : findChargeProblem(row.metered, { requiredBaseUnits, burnBaseUnits, sharesText })
  if (problem !== undefined) blame('distribution_differs', problem)
  row.overpaidBaseUnits = row.requiredBaseUnits - requiredBaseUnits
}

/** After a failure, the whole hold has to be returned. */
function failAnd<E>(judge: (event: E, at: Judged) => void) {
  return (event: E, at: Judged): void => {
    judge(event, at)
    at.row.overpaidBaseUnits = at.row.requiredBaseUnits
  }
}

function judgeReturned(
  { baseUnits: found, mint, tab, stream }: z.output<typeof returned>,
  { row, blame }: Judged,
): void {
  if (mint !== row.mint || !stream.startsWith(`tab:${tab}:`)) blame('owner_differs', 'another tab was debited')
  if (found !== row.overpaidBaseUnits) blame('refund_differs', `${found} were returned of ${row.overpaidBaseUnits}`)
}

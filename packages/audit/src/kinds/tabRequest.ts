import { z } from 'zod'
import { base58 } from '@scure/base'
import { baseUnits, describeShares, share } from '../body.ts'
import { declareStep, type DeclaredStep } from '../declaredKind.ts'
import type { DerivedPosting } from '../postingReplay.ts'
import { price } from '../price.ts'
import { partOfBurn, readMetered } from '../publishedPrices.ts'
import { type AuditedKind, bodyOf, eventOf, type Judged } from './auditedKind.ts'
import { noteBurnOwed } from './burnsOwed.ts'
import { clocksDifferMaxMs } from '../settingPeriods.ts'
import { burnOwedEvent } from './payment.ts'
import * as bodies from './paymentBodies.ts'
import * as rules from './paymentRules.ts'
import { prepaidOn } from './tabDeposit.ts'
import { countDebit, type EndedDebit, isSignedDebit, tabId, tabsOf } from './tabs.ts'
import { chargeOfUse, findChargeProblem } from './usedTab.ts'

/* Stream kind for a request on a tab. It holds an amount, then charges up to this amount or returns it. */

const text = z.string()
const debited = bodyOf('TabDebited', {
  tab: tabId,
  number: baseUnits,
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
const units = z.int().min(0)
const captured = bodyOf('TabCaptured', {
  attempt: z.int(),
  answerDigest: text,
  mint: text,
  burnBaseUnits: baseUnits,
  shares: z.array(share),
  // Units that were used. Present if the request has a metered price.
  usage: z.strictObject({ input: units, isEstimated: z.boolean(), output: units }).optional(),
  // Part of the hold that was returned to the tab. Present if the charge was less than the hold.
  returned: z.strictObject({ tab: text, baseUnits }).optional(),
})
const returned = bodyOf('TabReturned', { tab: text, mint: text, baseUnits })

const unearned = 'Liabilities:Unearned'
const burnOwed = 'Liabilities:BurnOwed'
const back = ['unearned>prepaid']
const charged = ['unearned>share', ...back]
/** Events and moves of a charge. A charge in dollars may also record a burn, for which the treasury delivers the tokens. */
const charges: readonly Required<Pick<DeclaredStep, 'events' | 'moves' | 'when'>>[] = [
  { events: ['TabCaptured'], moves: ['unearned>burn_owed', ...charged], when: (row) => !rules.owesToken(row) },
  { events: ['TabCaptured', 'BurnOwed'], moves: [...charged, 'to_deliver>burn_owed'], when: rules.owesToken },
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
  nameOf: (key) => `tab:${base58.encode(key.subarray(0, 16))}:${key.readBigUInt64BE(16)}`,
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
      ...charges.map((charge) => declareStep({ step: stepOf('capture'), from, to: 'captured', ...charge })),
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
    eventOf(captured, {
      postings: ({ burnBaseUnits, shares, returned: rest }) => [
        [unearned, burnOwed, burnBaseUnits],
        ...shares.map((part): DerivedPosting => [unearned, `Liabilities:Share:${part.account}`, part.baseUnits]),
        ...(rest === undefined ? [] : [[unearned, prepaidOn(rest.tab), rest.baseUnits] as const]),
      ],
      judge: judgeCaptured,
    }),
    burnOwedEvent,
    eventOf(bodies.failed, { judge: failAnd(rules.judgeFailed) }),
    eventOf(bodies.broken, { judge: failAnd(rules.judgeReleased) }),
    eventOf(returned, {
      postings: (event) => [[unearned, prepaidOn(event.tab), event.baseUnits]],
      judge: judgeReturned,
    }),
  ]),
}

type Debited = z.output<typeof debited>

// Permitted delay between the validity check of a debit and its record, because the append may have to wait.
const recordedWithinMs = 60_000

/**
 * Returns the time of a debit, for its limits in time. The service states `effectiveAt`, so the time of the record
 * bounds it.
 */
function timeOf({ effectiveAt }: Debited, { recordedAtMs }: Judged): number {
  return Math.max(effectiveAt, recordedAtMs - clocksDifferMaxMs)
}

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
  else if (!ledger.prices.isInForce(event.priceList, timeOf(event, at)))
    blame('price_not_published', `price list ${event.priceList} was replaced long before`)
  judgeTab(event, at)
  // Skip debits by the bearer key, because they have no signature.
  if (signed !== null) {
    const origin = ledger.periods.of('origin').at(-1)?.text ?? ''
    if (!isSignedDebit({ tab: event.tab, number, origin, mint: listed.mint, signed }))
      blame('owner_differs', 'the session key did not sign the debit')
    if (listed.requiredBaseUnits > signed.maxBaseUnits) blame('payment_short', 'more is held than the payer permitted')
    if (timeOf(event, at) > signed.validUntilMs + recordedWithinMs)
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
    tokenBurnMint: listed.tokenBurn?.mint ?? '',
    tokenBurnBaseUnits: listed.tokenBurn?.baseUnits ?? 0n,
    overpaidBaseUnits: 0n,
    blockTimeMs: event.effectiveAt,
    metered: ledger.prices.meteredOf(event.priceList, listed),
    attempt,
    attemptId: event.attemptId,
    orderDigest: event.orderDigest,
    leaseMs: event.leaseMs,
    leaseUntilMs: recordedAtMs + event.leaseMs,
  })
}

function judgeTab(event: Debited, at: Judged): void {
  const { blame, ledger } = at
  const tab = tabsOf(ledger.state).get(event.tab)
  if (tab === undefined) return blame('lifecycle_impossible', 'no deposit opened the tab')
  const { price: listed, signed, bearerHash } = event
  if (tab.wallet !== event.wallet || tab.mint !== listed.mint) blame('owner_differs', 'the tab is of another wallet')
  if (tab.deposit !== event.deposit || tab.slot !== event.slot || tab.blockTimeMs !== event.blockTimeMs)
    blame('owner_differs', 'another deposit opened the tab')
  if (tab.isClosed) blame('lifecycle_impossible', 'the tab is closed')
  if (timeOf(event, at) > tab.endsAtMs + recordedWithinMs) blame('lifecycle_impossible', 'the tab had ended')
  if (tab.lifecycle !== event.lifecycle)
    blame('lifecycle_impossible', `the lifecycle of the tab has ${tab.lifecycle} events, not ${event.lifecycle}`)
  const isHeld =
    signed === null ? bearerHash !== null && bearerHash === tab.bearerHash : signed.sessionKey === tab.sessionKey
  if (!isHeld) blame('owner_differs', 'it was debited by a key that the tab does not have')
  if (listed.requiredBaseUnits > tab.maxPerRequestBaseUnits) blame('payment_short', 'the tab does not permit so much')
}

type Captured = z.output<typeof captured>

/**
 * Checks the charge and its division. The charge must not exceed the hold. A charge of the whole hold keeps the shares
 * of the debit. A smaller charge is divided by the split of a published price list.
 */
function judgeCaptured(event: Captured, at: Judged): void {
  const { row, blame, ledger } = at
  const { attempt, mint, burnBaseUnits, shares, usage, effectiveAt } = event
  if (attempt !== row.attempt) blame('attempt_wrong', `attempt ${attempt} is charged, not ${row.attempt}`)
  if (mint !== row.mint) blame('distribution_differs', 'another mint was debited')
  const dueBaseUnits = usage === undefined ? row.requiredBaseUnits : judgeUsage(usage, at)
  const sharesText = describeShares(shares)
  const requiredBaseUnits = shares.reduce((sum, part) => sum + part.baseUnits, burnBaseUnits)
  if (requiredBaseUnits !== dueBaseUnits)
    blame('distribution_differs', `${requiredBaseUnits} are charged, and the usage costs ${dueBaseUnits}`)
  const isWhole = requiredBaseUnits === row.requiredBaseUnits
  const problem = isWhole
    ? sharesText === row.shares && burnBaseUnits === row.burnBaseUnits
      ? undefined
      : `${sharesText} are allocated, and the price divides otherwise`
    : row.metered === null
      ? ledger.prices.findShareProblem({ requiredBaseUnits, burnBaseUnits, sharesText }, effectiveAt)
      : findChargeProblem(row.metered, { requiredBaseUnits, burnBaseUnits, sharesText })
  if (problem !== undefined) blame('distribution_differs', problem)
  judgeRest(event, row.requiredBaseUnits - requiredBaseUnits, blame)
  endDebit(event, at, { chargedBaseUnits: requiredBaseUnits, returnedBaseUnits: event.returned?.baseUnits ?? 0n })
  noteBurnOwed(ledger.state, { mint, endpoint: row.endpoint }, burnBaseUnits)
  row.leaseUntilMs = null
}

/**
 * Counts the end of a debit, and reports a charge beyond the limit per day. Only charges must keep this limit, because
 * the service checks it again after it has recorded a hold.
 */
function endDebit(
  { stream, effectiveAt: endedAtMs }: Captured | z.output<typeof returned>,
  { row, blame, ledger }: Judged,
  amounts: Pick<EndedDebit, 'chargedBaseUnits' | 'returnedBaseUnits'>,
): void {
  const tab = tabsOf(ledger.state).get(stream.split(':')[1] ?? '')
  const debit = { ...amounts, debitedAtMs: row.blockTimeMs, endedAtMs }
  const beyondBaseUnits = tab === undefined ? 0n : countDebit(tab, debit)
  if (beyondBaseUnits > 0n)
    blame('payment_short', `${beyondBaseUnits} more were charged than the tab permits for a day`)
}

/** Returns the charge, which is at most the hold. Reduces the burn in the service token in proportion. */
function judgeUsage(usage: NonNullable<Captured['usage']>, { row, blame }: Judged): bigint {
  const { metered, requiredBaseUnits: heldBaseUnits } = row
  if (metered === null) {
    blame('distribution_differs', 'a fixed price is charged by use')
    return heldBaseUnits
  }
  const usedBaseUnits = chargeOfUse(readMetered(metered), usage)
  if (usedBaseUnits >= heldBaseUnits) return heldBaseUnits
  row.tokenBurnBaseUnits = partOfBurn(row.tokenBurnBaseUnits, usedBaseUnits, heldBaseUnits)
  return usedBaseUnits
}

function judgeRest({ stream, returned: rest }: Captured, rightBaseUnits: bigint, blame: Judged['blame']): void {
  const foundBaseUnits = rest?.baseUnits ?? 0n
  if (foundBaseUnits !== rightBaseUnits)
    blame('refund_differs', `${foundBaseUnits} of the hold are returned, and ${rightBaseUnits} are left`)
  if (rest !== undefined && !stream.startsWith(`tab:${rest.tab}:`)) blame('owner_differs', 'another tab was debited')
}

/** Creates a rule that also requires the return of the whole hold, because a failed request is not charged. */
function failAnd<E>(judge: (event: E, at: Judged) => void) {
  return (event: E, at: Judged): void => {
    judge(event, at)
    at.row.overpaidBaseUnits = at.row.requiredBaseUnits
  }
}

function judgeReturned(event: z.output<typeof returned>, at: Judged): void {
  const { baseUnits: foundBaseUnits, mint, tab, stream } = event
  const { row, blame } = at
  endDebit(event, at, { chargedBaseUnits: 0n, returnedBaseUnits: foundBaseUnits })
  if (mint !== row.mint || !stream.startsWith(`tab:${tab}:`)) blame('owner_differs', 'another tab was debited')
  if (foundBaseUnits !== row.overpaidBaseUnits)
    blame('refund_differs', `${foundBaseUnits} were returned of ${row.overpaidBaseUnits}`)
}

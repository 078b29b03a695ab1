import { attoUsdOf, type PayableQuote } from '../checkQuote.ts'
import { PayerFault } from '../errorCode.ts'
import { InsufficientFunds } from '../insufficientFunds.ts'
import { type PayableRequest, readRequest } from '../payableRequest.ts'
import type { Payer, TabOption } from '../payer.ts'
import type { PaymentProgress } from '../paymentProgress.ts'
import type { PendingPayment } from '../pendingPayment.ts'
import { quoteProblem, QuoteRefused } from '../quoteProblem.ts'
import { SpendingLimitExceeded } from '../spendingLimit.ts'
import type { SponsoredProtocol } from '../sponsored/sponsoredOffer.ts'
import { readFromService } from './readTab.ts'
import type { OpenedRecord, TabRecord } from './tabRecords.ts'

export type Pay = (payer: Payer, request: PayableRequest) => Promise<Response>

export interface TabQuestion {
  readonly service: string
  readonly option: TabOption
  readonly signal: AbortSignal
  readonly pay: Pay
  /** Present: throws if a limit or the offer does not permit the deposit. Absent: the request is then paid separately. */
  readonly isRequired?: true
}

export interface DepositOrder {
  readonly record: TabRecord
  readonly order: Readonly<Record<string, unknown>>
  /**
   * Collects the answered payment of the deposit, which the caller must close. Absent: the payment is closed with its
   * answer.
   */
  readonly answered?: PendingPayment[]
}

type Way = 'tollbook' | SponsoredProtocol

/** Tries the means of payment in turn. After a deposit without a known outcome, tries no other means. */
export async function buyDeposit(payer: Payer, question: TabQuestion, deposit: DepositOrder): Promise<Response> {
  const { opened } = deposit.record
  const own = opened === undefined ? payer : inMint(payer, opened.mint)
  let answer: Response | undefined
  let refused: unknown
  for (const way of waysOf(own, deposit.record)) {
    try {
      answer = await buyBy(own, question, { ...deposit, way })
      if (answer.status === 200) return answer
    } catch (error) {
      if (!isUnpaid(error) || error instanceof DepositOpen) throw error
      // Report a shortage or a limit in preference to a mint that is not offered.
      if (refused === undefined || isOtherMint(refused)) refused = error
    }
  }
  if (refused === undefined && answer !== undefined) return answer
  throw refused ?? new QuoteRefused(quoteProblem('other_mint', 'no protocol pays in dollarMints'), undefined)
}

/** Returns a payer that pays only in this mint, because a top-up must be in the mint of its tab. */
function inMint(payer: Payer, mint: string): Payer {
  const { expectedMint: _any, ...pins } = payer.pins
  return payer.dollarMints.includes(mint)
    ? { ...payer, pins, dollarMints: [mint] }
    : { ...payer, pins: { ...pins, expectedMint: mint }, dollarMints: [] }
}

function waysOf({ pins, protocols }: Payer, { deposit }: TabRecord): readonly Way[] {
  if (deposit !== undefined) return [deposit.protocol ?? 'tollbook']
  return pins.expectedMint === undefined ? protocols : ['tollbook', ...protocols]
}

/** Buys the deposit like any other paid request, so that limits and store count it. */
async function buyBy(payer: Payer, question: TabQuestion, deposit: DepositOrder & { readonly way: Way }) {
  const { order, answered, record, way } = deposit
  const { service, option, signal, pay } = question
  const { expectedPaymentWallet: _other, expectedMint, ...pins } = payer.pins
  // Send no key with a top-up, so that it resumes an earlier top-up without an outcome.
  const key = answered === undefined ? {} : { 'idempotency-key': record.idempotencyKey }
  const marker = way === 'mpp' ? { 'accept-payment': 'solana/charge' } : {}
  const headers = { 'content-type': 'application/json', ...marker, ...key }
  const init = { method: 'POST', headers, body: JSON.stringify(order), signal }
  const wallet = option.expectedWallet === undefined ? {} : { expectedPaymentWallet: option.expectedWallet }
  const isInDollars = way !== 'tollbook' && payer.dollarMints.length > 0
  const mint = expectedMint === undefined || isInDollars ? {} : { expectedMint }
  const { open } = payer
  const buyer: Payer = {
    ...payer,
    tab: undefined,
    paysDeposit: true,
    // Use the bound form, because a deposit must carry the memo of its quote.
    form: 'bound',
    pins: { ...pins, ...wallet, ...mint },
    protocols: way === 'tollbook' ? [] : [way],
    dollarMints: way === 'tollbook' ? [] : payer.dollarMints,
    open: {
      ...open,
      async close(payment, outcome) {
        if (answered === undefined || outcome !== 'answered') return open.close(payment, outcome)
        answered.push(payment)
      },
    },
    async onEvent(event) {
      const signedAtMs = payer.clock.nowMs()
      if (event.kind === 'quoted' || event.kind === 'offered') {
        requireWorth(payer, event, record.depositUsd)
        await refuseSecondDeposit(payer, question, record)
      }
      if (event.kind === 'signed') {
        const { signature, protocol } = event.payment
        const by = protocol === undefined ? {} : { protocol }
        await payer.tabs.write({ ...record, deposit: { signature, signedAtMs, ...by } })
      }
      await payer.onEvent(event)
    },
  }
  return pay(buyer, await readRequest(`${service}${way === 'x402' ? '/x402' : ''}/api/tabs`, init))
}

/** Stops a second deposit: an earlier deposit has already opened the tab. Nothing was signed. */
export class DepositFound extends Error {
  readonly opened: OpenedRecord['opened']

  constructor(opened: OpenedRecord['opened']) {
    super(`an earlier deposit has opened the tab ${opened.tab}`)
    this.opened = opened
  }
}

/** Stops a second deposit: an earlier deposit may still open a tab. Nothing was signed. */
class DepositOpen extends PayerFault {
  constructor(why = 'an earlier deposit has no outcome yet; try again in 10 minutes') {
    super('SERVICE_UNAVAILABLE', why, { retryable: true })
  }
}

// Time after which an unlanded deposit can no longer land. It is much longer than the minute of a blockhash, because
// clocks differ.
const landsMostMs = 10 * 60 * 1000

/**
 * Throws if an earlier deposit has opened the tab, or may still do so. Its answer may have arrived elsewhere, for
 * example at `resume`.
 */
async function refuseSecondDeposit(payer: Payer, question: TabQuestion, { deposit, opened }: TabRecord): Promise<void> {
  if (deposit === undefined) return
  const mayLand = payer.clock.nowMs() < deposit.signedAtMs + landsMostMs
  if (opened !== undefined && !mayLand) return
  if (opened !== undefined) throw new DepositOpen()
  // Only the service can identify the tab, because its ID comes from the fee payer's signature.
  if (deposit.protocol !== undefined) throw new DepositOpen(mayLand ? undefined : unknownTab)
  try {
    throw new DepositFound(await readFromService(payer, question, deposit.signature))
  } catch (error) {
    // The service has no tab for that deposit.
    if (!(error instanceof PayerFault) || error.retryable) throw error
    if (mayLand) throw new DepositOpen()
  }
}

const unknownTab = 'an earlier deposit may have opened a tab that is not known here; ask the service for it'

/**
 * Refuses an offer that costs more than the deposit, because the limit per request does not apply to deposits. If the
 * payer has stated a value of the tokens, the cost is at least this value.
 */
function requireWorth(
  { worth }: Payer,
  event: Extract<PaymentProgress, { readonly kind: 'quoted' | 'offered' }>,
  depositUsd: number,
): void {
  const { attoUsd } = event.kind === 'offered' ? event.plan.cost : quotedCost(worth, event.plan.quote)
  // An offer of another protocol states no dollars, so require that the payer has stated a value of the token.
  const isKnown = event.kind === 'quoted' || attoUsd > 0n
  if (isKnown && attoUsd <= (attoUsdOf(depositUsd) ?? 0n)) return
  throw new QuoteRefused(quoteProblem('price_wrong', `a deposit of ${depositUsd} USD has a higher price`), undefined)
}

function quotedCost(worth: Payer['worth'], { priceAttoUsd, requiredBaseUnits, decimals }: PayableQuote) {
  return worth({ attoUsd: priceAttoUsd, baseUnits: requiredBaseUnits }, decimals)
}

/** True for an error before any payment, so that the caller can pay the request separately, within the remaining limits. */
export function isUnpaid(error: unknown): boolean {
  return [SpendingLimitExceeded, QuoteRefused, InsufficientFunds, DepositOpen].some((kind) => error instanceof kind)
}

function isOtherMint(error: unknown): boolean {
  return error instanceof QuoteRefused && error.problem === 'other_mint'
}

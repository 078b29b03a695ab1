import type { Address } from '@tollbook/core/address'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import type { ListedPrice } from '@tollbook/core/quote'
import { isRefusal } from '@tollbook/core/refusal'
import type { ChainReader } from '../payment/chainReader.ts'
import { quoteGraceMs } from '../payment/paymentAges.ts'
import { type PaymentReference, signatureOf } from '../payment/paymentReference.ts'
import { type PaymentTerms, type Settlement, settleByAnyTerms } from '../payment/settlement.ts'
import { isDepositPrice } from '../payment/tabSettlement.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'
import type { PaymentFacts, QuoteFact, RecordedPayment } from '../reports/paymentFacts.ts'
import { walletOfQuote } from '../reports/paymentFacts.ts'
import { attemptsOf } from './attempts.ts'
import { diagnose } from './diagnose.ts'
import type { Explanation } from './explanation.ts'
import { readSubject, type Subject } from './readSubject.ts'
import { memosOfOurs, ruleVerdicts } from './ruleVerdicts.ts'
import { type ChainAnswer, chainStatement, ledgerStatement, quoteStatement } from './statements.ts'
import { arrivedBaseUnits, senderTo, termsOfOneMint } from './transferFacts.ts'

export interface ExplainDeps {
  readonly clock: Clock
  readonly facts: PaymentFacts
  /** Reader of the chain. A text says why no node could be opened. */
  readonly chain: Pick<ChainReader, 'find'> | string
  /** Returns the terms of every payment wallet on record. Empty without a chain. */
  readonly allTerms: () => readonly PaymentTerms[]
  readonly decimals: number
}

/**
 * Result of an explanation. `unreadable`: the text is not an id, a reference or a signature. `unknown`: no quote,
 * receipt or debit of a tab with this id is on record.
 */
export type ExplainOutcome = Explanation | 'unreadable' | 'unknown'

export async function explain(deps: ExplainDeps, text: string): Promise<ExplainOutcome> {
  const subject = readSubject(text)
  if (subject === undefined) return 'unreadable'
  const asked = subject.kind === 'quote' ? await deps.facts.quote(subject.id) : undefined
  const reference = await referenceOf(deps, subject, asked)
  if (reference !== undefined) return explainPayment(deps, { text, reference, asked })
  return asked === undefined ? 'unknown' : explainQuote(deps, text, asked)
}

async function referenceOf(
  { facts }: ExplainDeps,
  subject: Subject,
  asked: QuoteFact | undefined,
): Promise<PaymentReference | undefined> {
  if (subject.kind === 'payment') return subject.reference
  if (subject.kind === 'receipt') return facts.paymentOfLeaf(subject.leafHashStart)
  return asked === undefined ? undefined : facts.paymentOfQuote(asked)
}

function explainQuote({ clock }: ExplainDeps, text: string, quote: QuoteFact): Explanation {
  const nowMs = clock.nowMs()
  const untilMs = quote.expiresAtMs + quoteGraceMs
  return {
    subject: text,
    reference: null,
    diagnosis: {
      code: 'quote_not_paid',
      staff: 'The ledger has no payment for this quote. A payment that is on chain has not been presented here.',
      caller:
        nowMs < untilMs
          ? `Pay the quote, which is open until ${isoTime(untilMs)}. If it is paid, send the request with the signature as proof.`
          : 'If the quote was paid, send the signature: the payment is looked up by it. Otherwise ask for a new quote.',
      booking: null,
    },
    chain: chainStatement({ kind: 'not_asked', why: 'a quote names no transaction' }, []),
    ledger: null,
    quote: quoteStatement(quote),
    rules: [],
    attempts: [],
    decimals: quote.price.decimals,
    asOf: isoTime(nowMs),
  }
}

interface PaymentQuestion {
  readonly text: string
  readonly reference: PaymentReference
  readonly asked: QuoteFact | undefined
}

async function explainPayment(deps: ExplainDeps, { text, reference, asked }: PaymentQuestion): Promise<ExplainOutcome> {
  const { clock, facts, allTerms } = deps
  const [recorded, answer] = [await facts.payment(reference), await askChain(deps, reference)]
  // The chain cannot be searched for a request that a tab paid.
  if (recorded === undefined && signatureOf(reference) === undefined) return 'unknown'
  const nowMs = clock.nowMs()
  const presentedAtMs = recorded === undefined ? await facts.presentedAtMs(reference) : undefined
  const attempts = attemptsOf(recorded?.events ?? [])
  const judged = await judge(deps, { answer, recorded, asked, presentedAtMs, nowMs })
  const terms = termsOf(allTerms(), answer, recorded)
  const receivedBaseUnits = answer.kind === 'found' ? arrivedBaseUnits(answer.record, terms) : 0n
  const decimals = settlementOf(recorded)?.price.decimals ?? terms[0]?.decimals ?? deps.decimals
  const diagnosis = diagnose({
    answer,
    recorded,
    attempts,
    rules: judged.rules,
    buys: judged.buys,
    arrivedBaseUnits: receivedBaseUnits,
    decimals,
  })
  return {
    subject: text,
    reference,
    diagnosis,
    chain: chainStatement(answer, terms),
    ledger: recorded === undefined ? null : ledgerStatement(reference, recorded),
    quote: judged.quote === undefined ? null : quoteStatement(judged.quote),
    rules: judged.rules,
    attempts,
    decimals,
    asOf: isoTime(nowMs),
  }
}

function settlementOf(recorded: RecordedPayment | undefined): Settlement | undefined {
  const state = recorded?.state
  return state !== undefined && 'settlement' in state ? state.settlement : undefined
}

function termsOf(all: readonly PaymentTerms[], answer: ChainAnswer, recorded: RecordedPayment | undefined) {
  return termsOfOneMint(all, answer.kind === 'found' ? answer.record : undefined, settlementOf(recorded)?.price.mint)
}

async function askChain({ chain }: ExplainDeps, reference: PaymentReference): Promise<ChainAnswer> {
  const signature = signatureOf(reference)
  if (signature === undefined) return { kind: 'not_asked', why: 'a tab paid without a transaction' }
  if (typeof chain === 'string') return { kind: 'unavailable', why: chain }
  try {
    return await chain.find(signature)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { kind: 'unavailable', why: describeError(error) }
  }
}

interface JudgeQuestion {
  readonly answer: ChainAnswer
  readonly recorded: RecordedPayment | undefined
  readonly asked: QuoteFact | undefined
  readonly presentedAtMs: number | undefined
  readonly nowMs: number
}

async function judge(deps: ExplainDeps, question: JudgeQuestion) {
  const { answer, recorded, asked, presentedAtMs, nowMs } = question
  const terms = termsOf(deps.allTerms(), answer, recorded)
  const [first] = terms
  const settlement = settlementOf(recorded)
  if (answer.kind !== 'found' || first === undefined || (recorded !== undefined && recorded.kind !== 'payment'))
    return { quote: asked, rules: [], buys: [] }
  const { record } = answer
  const sender = senderTo(record, terms) ?? record.signers[0]
  const wallet = settlement?.wallet ?? (asked === undefined ? sender : walletOfQuote(asked))
  if (wallet === undefined) return { quote: asked, rules: [], buys: [] }
  // A node may not know the time of a new block yet.
  const landedAtMs = record.blockTimeMs ?? nowMs
  const prices = (await deps.facts.pricesAt(landedAtMs)).filter(({ mint }) => mint === first.mint)
  const quote = asked ?? (await findQuote(deps, { record, wallet, landedAtMs, paidQuoteId: settlement?.quoteId }))
  const buys = prices.filter((price) => meets({ record, wallet, terms, price })).map(({ endpoint }) => endpoint)
  const quoted =
    quote !== undefined && meets({ record, wallet, terms, price: quote.price }) ? [quote.price.endpoint] : []
  const price = settlement?.price ?? quote?.price ?? cheapestOf(prices)
  if (price === undefined) return { quote, rules: [], buys: [] }
  const paidTo = terms.find((each) => arrivedBaseUnits(record, [each]) > 0n) ?? first
  const isVerified = settlement !== undefined
  return {
    quote,
    rules: ruleVerdicts({ record, wallet, price, terms: paidTo, quote, nowMs, presentedAtMs, isVerified }),
    buys: [...new Set([...quoted, ...buys])],
  }
}

interface Landed {
  readonly record: TransactionRecord
  readonly wallet: Address
}

function meets({
  record,
  wallet,
  terms,
  price,
}: Landed & { readonly terms: readonly PaymentTerms[]; readonly price: ListedPrice }): boolean {
  const isUnbound = isDepositPrice(price) && memosOfOurs(record).length === 0
  return !isUnbound && terms[0]?.mint === price.mint && !isRefusal(settleByAnyTerms({ record, wallet, price }, terms))
}

function cheapestOf(prices: readonly ListedPrice[]): ListedPrice | undefined {
  return prices.toSorted((one, other) => (one.requiredBaseUnits < other.requiredBaseUnits ? -1 : 1))[0]
}

const quoteSearchMs = 24 * 60 * 60 * 1000

/**
 * Finds the quote of a payment. For a verified payment with a quote, this is its recorded quote. For a payment with the
 * memo of a quote, it is the newest quote with the memo that was open when the payment landed. If none was open, it is
 * the newest quote with the memo. For any other payment, it is the newest quote that was open at that time.
 */
async function findQuote(
  { facts }: ExplainDeps,
  {
    record,
    wallet,
    landedAtMs,
    paidQuoteId,
  }: Landed & { readonly landedAtMs: number; readonly paidQuoteId: string | undefined },
): Promise<QuoteFact | undefined> {
  const quotes = await facts.quotesOf({ wallet, fromMs: landedAtMs - quoteSearchMs, toMs: landedAtMs + 1_000 })
  if (paidQuoteId !== undefined) return quotes.find(({ id }) => id === paidQuoteId)
  const isOpen = ({ expiresAtMs, slot }: QuoteFact) => landedAtMs < expiresAtMs + quoteGraceMs && slot <= record.slot
  const [bound, ...others] = quotes.filter(({ memo }) => record.memos.includes(memo))
  return bound === undefined ? quotes.find(isOpen) : ([bound, ...others].find(isOpen) ?? bound)
}

import { assertNever } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import type { PaymentReference } from '../payment/paymentReference.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'
import type { QuoteFact, RecordedPayment } from '../reports/paymentFacts.ts'
import type { Finding } from '../payment/chainReader.ts'
import { arrivedBaseUnits, burnedBaseUnits } from './transferFacts.ts'

/** Answer of the chain. If there is none, the reason. */
export type ChainAnswer = Finding | { readonly kind: 'unavailable' | 'not_asked'; readonly why: string }

/**
 * Facts from the chain. A member is null if no record of the transaction was read, or if the record lacks the fact.
 * `status` and `words` state why no record was read. Amounts are decimal texts of base units.
 */
export interface ChainStatement {
  readonly status: 'confirmed' | 'failed' | 'not_found' | 'not_confirmed' | 'unavailable' | 'not_asked'
  readonly words: string
  readonly slot: number | null
  readonly blockTime: string | null
  readonly signers: readonly string[]
  readonly arrivedBaseUnits: string | null
  readonly burnedBaseUnits: string | null
}

const nothingOnChain = {
  slot: null,
  blockTime: null,
  signers: [],
  arrivedBaseUnits: null,
  burnedBaseUnits: null,
} as const

/** Describes the answer of the chain. Only a proof leads to the text that a transaction never landed. */
export function chainStatement(answer: ChainAnswer, terms: readonly PaymentTerms[]): ChainStatement {
  switch (answer.kind) {
    case 'found':
      return ofRecord(answer.record, terms)
    case 'proven_absent':
      return { status: 'not_found', words: 'The nodes agree that it never landed.', ...nothingOnChain }
    case 'unknown':
      return { status: answer.isSeen ? 'not_confirmed' : 'not_found', words: `${answer.why}.`, ...nothingOnChain }
    case 'unavailable':
    case 'not_asked':
      return { status: answer.kind, words: `${answer.why}.`, ...nothingOnChain }
    default:
      return assertNever(answer)
  }
}

function ofRecord(record: TransactionRecord, terms: readonly PaymentTerms[]): ChainStatement {
  const { failure, slot, blockTimeMs, signers } = record
  const receivedBaseUnits = arrivedBaseUnits(record, terms)
  return {
    status: failure === undefined ? 'confirmed' : 'failed',
    words:
      failure === undefined
        ? `It landed in slot ${slot} and succeeded.`
        : `It landed in slot ${slot} and failed: ${failure.text}.`,
    slot,
    blockTime: blockTimeMs === undefined ? null : isoTime(blockTimeMs),
    signers,
    arrivedBaseUnits: receivedBaseUnits.toString(),
    burnedBaseUnits: burnedBaseUnits(record, terms).toString(),
  }
}

/**
 * Returns the facts of the ledger about a payment. A member is null if the state of the stream has no such fact.
 * Amounts are decimal texts of base units, except `priceMicroUsd`.
 */
export function ledgerStatement(reference: PaymentReference, recorded: RecordedPayment) {
  const { kind, state, stateName, events } = recorded
  const settlement = 'settlement' in state ? state.settlement : undefined
  const delivery = events.find(({ event }) => event?.kind === 'RequestFulfilled' || event?.kind === 'TabCaptured')
  const attemptId = delivery === undefined ? undefined : attemptIdOf(events)
  const text = (value: { toString(): string } | undefined) => value?.toString() ?? null
  return {
    kind,
    state: stateName,
    wallet: ('wallet' in state ? state.wallet : settlement?.wallet) ?? null,
    endpoint: 'endpoint' in state ? state.endpoint : null,
    priceMicroUsd: text(settlement?.price.priceMicroUsd),
    requiredBaseUnits: text(settlement?.price.requiredBaseUnits),
    receivedBaseUnits: text(settlement?.receivedBaseUnits),
    burnedBaseUnits: text(settlement?.burnedBaseUnits),
    quoteId: settlement?.quoteId ?? null,
    receiptId: delivery === undefined ? null : `receipt_${delivery.leafHash.slice(0, 32)}`,
    /** Path of the receipt on the public listener. Null before the delivery, which creates the receipt. */
    receiptPath:
      attemptId === undefined
        ? null
        : `/api/receipts/${encodeURIComponent(reference)}?attempt=${encodeURIComponent(attemptId)}`,
    positions: events.map(({ position }) => position),
    events: events.map(({ position, event, recordedAtMs }) => {
      return { position, kind: event?.kind ?? kind, recordedAt: isoTime(recordedAtMs) }
    }),
  }
}

/** For a payment from a tab, the id is in the debit. */
function attemptIdOf(events: RecordedPayment['events']): string | undefined {
  const ids = events.map(({ event }) =>
    event?.kind === 'RequestFulfilled' || event?.kind === 'TabDebited' ? event.attemptId : undefined,
  )
  return ids.findLast((id) => id !== undefined)
}

/** Returns the facts about a quote. Amounts are decimal texts of base units and of millionths of a US dollar. */
export function quoteStatement({ id, wallet, price, issuedAtMs, expiresAtMs }: QuoteFact) {
  return {
    id,
    wallet,
    endpoint: price.endpoint,
    requiredBaseUnits: price.requiredBaseUnits.toString(),
    priceMicroUsd: price.priceMicroUsd.toString(),
    issuedAt: isoTime(issuedAtMs),
    expiresAt: isoTime(expiresAtMs),
  }
}

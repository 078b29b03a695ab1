import { describeError, Fault } from '@tollbook/core/fault'
import type { Address } from '@tollbook/core/address'
import {
  decideArrival,
  decideDelivery,
  decideUnmatched,
  type TokenDeliverySource,
  mintOf,
  type ReceivedTransfer,
  senderOf,
} from '../payment/finality.ts'
import type { ChainReader } from '../payment/chainReader.ts'
import type { Presentations } from '../payment/presentations.ts'
import { type FinalityReader, type ListedSignature, listedMax } from '../payment/finalityReader.ts'
import { unknownPayment } from '../payment/payment.ts'
import {
  arrivalReference,
  type PaymentReference,
  requireSignature,
  transactionReference,
} from '../payment/paymentReference.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'
import { recordStep, type StepDeps } from './recordStep.ts'
import { eachInTurn, type Repeated, repeat } from './repeat.ts'

export interface TransferScanDeps extends StepDeps {
  readonly chain: Pick<FinalityReader, 'listSignatures' | 'findFinalized'> & Pick<ChainReader, 'timeMs'>
  readonly presentations: Pick<Presentations, 'findPresented'>
  readonly terms: Pick<PaymentTerms, 'mint' | 'paymentTokenAccount'>
  /** Token accounts of all recorded payment wallets. Absent: only the account in the terms. */
  readonly ownAccounts?: readonly Address[]
  /** Number of accepted mints. If there is only one, no transaction can move a second mint. */
  readonly mints?: number
  /** Wallet of the treasury, whose transfers of the token are deliveries. Undefined: no transfer is a delivery. */
  readonly delivery?: TokenDeliverySource | undefined
  /** Age in milliseconds at which a transfer is no longer accepted as a payment. */
  readonly settleAgeMs: number
}

const everyMs = 60_000
// Maximum of transactions in memory: 200,000 take about 50 MB. A longer backlog takes several runs, starting with the
// oldest transactions.
const backlogMax = 200_000
// Maximum of pages: ten million transactions since the last search. More transactions indicate an account with an
// earlier history, which a person has to check.
const pagesMax = 10_000
// Maximum of transactions that cannot be read or recorded. A single one must not stop the scan, but this many mean that
// the node or the database is at fault.
const failuresMax = 8
// Number of transactions after which the position is stored, so that an interrupted search repeats little.
const stepMax = 100

export interface TransferScanJobDeps extends Omit<TransferScanDeps, 'terms' | 'ownAccounts' | 'mints'> {
  /**
   * Returns the terms of each recorded wallet in each accepted mint. Former wallets and wallets for tabs are included,
   * because tokens may arrive there or leave.
   */
  readonly allTerms: () => readonly TransferScanDeps['terms'][]
}

/**
 * Finds tokens that arrived or left without an entry in the ledger. It pauses for a minute after each run, and starts
 * with the oldest transactions.
 */
export function startTransferScanJob(deps: TransferScanJobDeps): Repeated {
  return repeat(deps, {
    name: 'transfer scan',
    everyMs,
    run: () => deps.lifecycle.runElected('tollbook transfer scan', (lifecycle) => scanWallets({ ...deps, lifecycle })),
  })
}

export async function scanWallets(deps: TransferScanJobDeps): Promise<void> {
  const all = deps.allTerms()
  const ownAccounts = all.map(({ paymentTokenAccount }) => paymentTokenAccount)
  const mints = new Set(all.map(({ mint }) => mint)).size
  await eachInTurn(all, (terms) => scanTransfers({ ...deps, terms, ownAccounts, mints }))
}

/**
 * Records tokens without a request as unmatched, or as a delivery of the treasury, once they are too old to be
 * presented as a payment.
 */
export async function scanTransfers(deps: TransferScanDeps): Promise<void> {
  const { lifecycle, terms, clock, chain, log, settleAgeMs } = deps
  const newest = await listSince(deps, await lifecycle.readScanPlace(terms.paymentTokenAccount))
  // Use the earlier of the two times, so that a payment which may still be presented is not recorded as unmatched.
  const ripeBeforeMs = Math.min(clock.nowMs(), chain.timeMs()) - settleAgeMs
  const oldestFirst = newest.toReversed()
  // Include all transactions before the newest old one, because a node may never state the time of a block.
  const newestOld = oldestFirst.findLastIndex(({ blockTimeMs = Infinity }) => blockTimeMs <= ripeBeforeMs)
  const ripe = oldestFirst.slice(0, newestOld + 1)
  let isHeld = false
  let failures = 0
  for (let from = 0; from < ripe.length; from += stepMax) {
    const step = ripe.slice(from, from + stepMax)
    const references = step.map(({ signature }) => transactionReference(signature))
    const accounted = await lifecycle.findAccounted(references)
    const second = await findSecond(deps, [...accounted])
    const open = references.filter((reference) => !accounted.has(reference))
    const presented = await deps.presentations.findPresented(open)
    for (const listed of step) {
      const reference = transactionReference(listed.signature)
      const stream = second.get(reference) ?? reference
      if (listed.hasFailed || (accounted.has(reference) && stream === reference)) continue
      // Skip a payment that was presented in time and is still undecided, because it can still buy. The next searches
      // include it until the presentation expires.
      if (presented.has(reference)) {
        isHeld = true
        continue
      }
      try {
        // Stop if another writer has changed the payment meanwhile, so that the next search starts here again.
        if (!(await account(deps, listed, stream))) return
      } catch (error) {
        log.warn({ event: 'transfer_unreadable', signature: listed.signature, error: describeError(error) })
        isHeld = true
        failures += 1
        if (failures >= failuresMax) throw error
      }
    }
    const last = step.at(-1)
    if (!isHeld && last !== undefined) await lifecycle.advanceScan(terms.paymentTokenAccount, last)
  }
}

/** Returns the streams of arrivals in this mint whose transaction is recorded only in another mint. */
async function findSecond(
  { lifecycle, log, terms: { mint }, mints = 1 }: TransferScanDeps,
  accounted: readonly PaymentReference[],
): Promise<ReadonlyMap<PaymentReference, PaymentReference>> {
  if (mints === 1) return new Map()
  const states = await lifecycle.loadPayments(accounted)
  const mintOnRecord = (reference: PaymentReference) => {
    try {
      const state = states.get(reference)
      return state === undefined ? undefined : mintOf(state)
    } catch (error) {
      log.warn({ event: 'transfer_unreadable', reference, error: describeError(error) })
      return undefined
    }
  }
  const others = accounted.flatMap((reference) => {
    const known = mintOnRecord(reference)
    if (known === undefined || known === mint) return []
    return [[reference, arrivalReference(requireSignature(reference), mint)] as const]
  })
  const recorded = await lifecycle.findAccounted(others.map(([, arrival]) => arrival))
  return new Map(others.filter(([, arrival]) => !recorded.has(arrival)))
}

type Place = Awaited<ReturnType<StepDeps['lifecycle']['readScanPlace']>>

/**
 * Returns the transactions since the last search, the newest first. If they exceed `backlogMax`, only the oldest are
 * returned.
 */
async function listSince(deps: TransferScanDeps, place: Place): Promise<readonly ListedSignature[]> {
  const found: ListedSignature[] = []
  for (let page = 0; page < pagesMax; page++) {
    const listed = await deps.chain.listSignatures({
      account: deps.terms.paymentTokenAccount,
      commitment: 'finalized',
      before: found.at(-1)?.signature,
      until: place?.signature,
    })
    found.push(...listed)
    if (found.length > backlogMax) found.splice(0, found.length - backlogMax)
    if (listed.length < listedMax) return found
  }
  throw new Fault(`more than ${pagesMax * listedMax} transactions since the last search`, { retryable: false })
}

/** Records the tokens that a transaction moved. False if the transaction has to be checked again. */
async function account(
  deps: TransferScanDeps,
  { signature, slot }: ListedSignature,
  reference: PaymentReference,
): Promise<boolean> {
  const record = await deps.chain.findFinalized(signature)
  if (record === undefined) throw new Fault('the node lists a transaction that it does not have', { retryable: true })
  const { mint, paymentTokenAccount } = deps.terms
  const { ownAccounts = [paymentTokenAccount] } = deps
  // Ignore tokens that move from one payment wallet to another, because they neither arrive nor leave.
  const changeBaseUnits = changeOf(record, mint, ownAccounts)
  if (changeBaseUnits < 0n && changeOf(record, mint, [paymentTokenAccount]) < 0n) {
    deps.onStep('unexplained_outflow')
    deps.log.error({ event: 'unexplained_outflow', signature, baseUnits: (-changeBaseUnits).toString() })
  }
  if (changeBaseUnits <= 0n) return true
  const transfer: ReceivedTransfer = {
    wallet: senderOf(record, mint, ownAccounts),
    mint,
    receivedBaseUnits: changeBaseUnits,
    slot,
  }
  const before = (await deps.lifecycle.loadPayments([reference])).get(reference) ?? unknownPayment
  const decision =
    reference === transactionReference(signature)
      ? (decideDelivery(before, transfer, deps.delivery) ?? decideUnmatched(before, transfer))
      : decideArrival(before, transfer, deps.delivery)
  const kind = decision?.events[0]?.kind === 'TokensDelivered' ? 'delivered' : 'unmatched'
  const isRecorded = await recordStep(deps, { kind, reference, before, decision })
  if (isRecorded) deps.log.warn({ event: `transfer_${kind}`, signature, baseUnits: changeBaseUnits.toString() })
  return isRecorded
}

function changeOf({ balances }: TransactionRecord, mint: Address, ownAccounts: readonly Address[]): bigint {
  return balances
    .filter((balance) => ownAccounts.includes(balance.tokenAccount) && balance.mint === mint)
    .reduce((sum, { beforeBaseUnits, afterBaseUnits }) => sum + afterBaseUnits - beforeBaseUnits, 0n)
}

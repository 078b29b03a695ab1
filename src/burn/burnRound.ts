import { assertNever, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import type { Log } from '../machine/log.ts'
import {
  type BurnDecision,
  type BurnRound,
  decideBurnConfirm,
  decideBurnFail,
  decideBurnSubmit,
  evolveBurn,
  planRound,
  sumOf,
  unknownBurn,
  whyMaybeBurned,
} from '../payment/burn.ts'
import type { BurnLedger, OpenBurn } from '../payment/burnLedger.ts'
import type { ChainReader, Finding, Found } from '../payment/chainReader.ts'
import { denyingNodesMin, type ProvenAbsent } from '../payment/absence.ts'
import type { BurnFailureReason, DelegateState } from '../payment/events/burnEvents.ts'
import type { SignedTransaction, Simulation } from '../payment/proof.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import { findMismatch } from './matchBurn.ts'

/*
 * A run may be killed at any line. The next run finds the open round in the ledger and queries its transaction. No
 * other round starts before this round has ended, so that no debt is burned twice.
 */

export interface BurnDeps {
  readonly ledger: BurnLedger
  readonly chain: BurnChain
  readonly signBurn: (order: BurnSigning) => SignedTransaction
  readonly terms: PaymentTerms
  readonly clock: Clock
  readonly log: Log
}

export interface BurnSigning {
  readonly round: number
  readonly baseUnits: bigint
  readonly blockhash: string
}

export interface BurnChain extends Pick<ChainReader, 'find' | 'simulate' | 'broadcast'> {
  /** Throws if another payment wallet is in force in the ledger. */
  requireWallet(): Promise<void>
  /** Returns the token accounts of PAYMENT_WALLET and of each payment wallet on record. */
  paymentAccounts(): Promise<readonly Address[]>
  /** Reads the block heights of the nodes. `find` needs them to prove that a burn transaction can no longer land. */
  refresh(): Promise<void>
  latestBlockhash(): Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: number }>
  /**
   * Reads the allowance and the lamports of this burn's delegate in the newest state. With `finalizedSlot`, reads a
   * finalized state of that slot or a later slot.
   */
  readDelegate(burnTransaction: Uint8Array, finalizedSlot?: number): Promise<DelegateState>
}

export type BurnOutcome =
  | { readonly outcome: 'nothing_owed' }
  /** Another job has taken the round. The next run continues from the record of the other job. */
  | { readonly outcome: 'overtaken' }
  | (Settled & { readonly outcome: 'confirmed' | 'failed' })
  /** The chain has not decided yet, so the next run queries the same transaction again. */
  | (Settled & { readonly outcome: 'waiting' })

interface Settled {
  readonly round: number
  readonly signature: Signature
  readonly baseUnits: bigint
}

/** Each step is recorded before the chain receives it, so that the next run can continue after a crash. */
export async function burnOnce(deps: BurnDeps, stopping?: AbortSignal): Promise<BurnOutcome> {
  const { ledger, terms, chain } = deps
  const { open, lastRound, burnedThroughPosition } = await ledger.readRounds(terms.mint)
  if (open !== undefined) return settle(deps, open, stopping)
  const debts = await ledger.readDebts(terms.mint, burnedThroughPosition)
  const round = planRound(terms.mint, lastRound, debts)
  if (round === undefined) return { outcome: 'nothing_owed' }
  await chain.requireWallet()
  const submitted = await submit(deps, round)
  return submitted === undefined ? { outcome: 'overtaken' } : settle(deps, submitted, stopping)
}

/** Records the signed transaction before it is sent. Undefined if another job has taken the round. */
async function submit(deps: BurnDeps, round: BurnRound): Promise<OpenBurn | undefined> {
  const { ledger, chain, signBurn, clock, log } = deps
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const baseUnits = sumOf(round.parts)
  const signed = signBurn({ round: round.round, baseUnits, blockhash })
  const delegate = await chain.readDelegate(signed.bytes)
  const rehearsed = await chain.simulate(signed)
  if (rehearsed.outcome !== 'would_succeed') {
    // Check for another job, because the rehearsal also fails if another job has burned these debts in the meantime.
    const { lastRound } = await ledger.readRounds(round.mint)
    if (lastRound >= round.round) return undefined
    throw rehearsalFault(deps.terms, rehearsed, { delegate: signed.signers[0], baseUnits })
  }
  const burn = {
    ...round,
    // Use the higher of two heights. The node of the blockhash may state a height that is too low, and the burn could
    // then land after the job gave up.
    lastValidHeight: Math.max(rehearsed.bound.lastValidHeight, lastValidBlockHeight),
    delegate,
    transactionBase64: Buffer.from(signed.bytes).toString('base64'),
  }
  const { events } = assertPresent(decideBurnSubmit(unknownBurn, burn), 'a new burn can be submitted')
  const { signature } = signed
  const recorded = await ledger.record({ signature, event: events[0], effectiveAtMs: clock.nowMs() })
  if (recorded === 'overtaken') return undefined
  log.info({ event: 'burn_submitted', round: round.round, signature, baseUnits: baseUnits.toString() })
  return { ...burn, signature }
}

/** Nothing is recorded, so the next run can try this round again. */
function rehearsalFault(
  { paymentTokenAccount }: PaymentTerms,
  rehearsed: Exclude<Simulation, { outcome: 'would_succeed' }>,
  { delegate, baseUnits }: { readonly delegate: Address | undefined; readonly baseUnits: bigint },
): Fault {
  switch (rehearsed.outcome) {
    case 'would_fail':
      return new Fault(
        `a burn of ${baseUnits} base units out of ${paymentTokenAccount} by ${delegate} would fail: ${rehearsed.text}. The payment wallet has to approve that delegate for at least this amount, and the delegate needs SOL for the fee (docs/burn.md)`,
        { retryable: false },
      )
    case 'unknown':
      return new Fault('no Solana node could rehearse the burn in its newest state; nothing was recorded', {
        retryable: true,
      })
    case 'already_landed':
      return new Fault('the burn has landed and the ledger has no record of it; nothing was recorded', {
        retryable: true,
      })
    default:
      return assertNever(rehearsed)
  }
}

const pollMs = 1_000
// Maximum of polls. A blockhash is valid for about a minute, and finality takes about 13 s more.
const pollsMax = 120

/** Sends the recorded bytes again until the finalized chain decides. The same bytes cannot burn twice. */
async function settle(deps: BurnDeps, open: OpenBurn, stopping?: AbortSignal): Promise<BurnOutcome> {
  const { chain, clock } = deps
  const { signature, round, lastValidHeight } = open
  const settled = { round, signature, baseUnits: sumOf(open.parts) }
  const bound = { lastValidHeight, basis: 'blockhash_accepted' } as const
  for (let poll = 0; poll < pollsMax; poll++) {
    if (stopping?.aborted === true) break
    await chain.refresh()
    const finding = await chain.find(signature, { commitment: 'finalized', bound })
    const ended = await end(deps, open, finding)
    if (ended !== undefined) return { ...settled, outcome: ended }
    if (finding.kind === 'unknown' && !finding.isSeen)
      await chain.broadcast({ bytes: Buffer.from(open.transactionBase64, 'base64') })
    await clock.sleep(pollMs, stopping).catch(() => undefined)
  }
  return { ...settled, outcome: 'waiting' }
}

/** Undefined while the finalized chain has not decided. */
async function end(deps: BurnDeps, open: OpenBurn, finding: Finding): Promise<'confirmed' | 'failed' | undefined> {
  switch (finding.kind) {
    case 'unknown':
      return undefined
    case 'proven_absent':
      return failAbsent(deps, open, finding)
    case 'found':
      if (finding.record.failure !== undefined) return failFailed(deps, open, finding)
      return confirm(deps, open, finding)
    default:
      return assertNever(finding)
  }
}

async function confirm(
  deps: BurnDeps,
  open: OpenBurn,
  { record, slot }: Extract<Finding, { kind: 'found' }>,
): Promise<'confirmed' | undefined> {
  const burnedBaseUnits = sumOf(open.parts)
  const paymentAccounts = await deps.chain.paymentAccounts()
  const mismatch = findMismatch(record, { mint: deps.terms.mint, baseUnits: burnedBaseUnits, paymentAccounts })
  if (mismatch !== undefined) throw new Fault(`${open.signature} is not recorded: ${mismatch}`, { retryable: false })
  // Wait, because the node has the block but not the time of the block yet.
  if (record.blockTimeMs === undefined) return undefined
  const decision = decideBurnConfirm(stateOf(open), { burnedBaseUnits, slot })
  await recordEnd(deps, open, { decision, effectiveAtMs: record.blockTimeMs })
  return 'confirmed'
}

async function failAbsent(deps: BurnDeps, open: OpenBurn, { evidence }: ProvenAbsent): Promise<'failed'> {
  const { readings } = evidence
  const finalizedSlot = Math.max(...readings.map((reading) => reading.finalizedSlot))
  if (readings.length < denyingNodesMin) await requireUnburned(deps, open, { reason: 'absent', finalizedSlot })
  return fail(deps, open, { reason: 'absent', finalizedSlot })
}

/** Undefined if the nodes that agree have a record without a failure, because the burn may then have succeeded. */
async function failFailed(
  deps: BurnDeps,
  open: OpenBurn,
  { slot: finalizedSlot }: Found,
): Promise<'failed' | undefined> {
  const agreed = await deps.chain.find(open.signature, { commitment: 'finalized', isAgreed: true })
  if (agreed.kind === 'found' && agreed.record.failure === undefined) return undefined
  if (agreed.kind !== 'found' || agreed.nodes < denyingNodesMin)
    await requireUnburned(deps, open, { reason: 'failed', finalizedSlot })
  return fail(deps, open, { reason: 'failed', finalizedSlot })
}

interface Verdict {
  readonly reason: BurnFailureReason
  readonly finalizedSlot: number
}

/**
 * The answer of a single node is not enough, so the state of the delegate must also prove that the transaction burned
 * nothing.
 */
async function requireUnburned({ chain, log }: BurnDeps, open: OpenBurn, { reason, finalizedSlot }: Verdict) {
  const { round, signature } = open
  const now = await chain.readDelegate(Buffer.from(open.transactionBase64, 'base64'), finalizedSlot)
  const why = whyMaybeBurned(open, reason, now)
  if (why === undefined) return
  log.error({ event: 'burn_unproven', round, signature, reason, why })
  throw new Fault(
    `round ${round} is not decided: one node calls its burn ${signature} ${reason}, and ${why}. Nothing is burned again. Add a second node to SOLANA_RPC_URLS, or wait until the node shows the burn (docs/burn.md)`,
    { retryable: false },
  )
}

async function fail(deps: BurnDeps, open: OpenBurn, verdict: Verdict): Promise<'failed'> {
  const effectiveAtMs = deps.clock.nowMs()
  await recordEnd(deps, open, { decision: decideBurnFail(stateOf(open), verdict), effectiveAtMs })
  return 'failed'
}

function stateOf({ signature: _signature, ...burn }: OpenBurn) {
  const { events } = assertPresent(decideBurnSubmit(unknownBurn, burn), 'an open round was submitted')
  return evolveBurn(unknownBurn, events[0])
}

interface Ending {
  readonly decision: BurnDecision | undefined
  readonly effectiveAtMs: number
}

/** If another job was first, its record stands, because both jobs read the finalized chain. */
async function recordEnd({ ledger, log }: BurnDeps, { signature, round }: OpenBurn, ending: Ending): Promise<void> {
  const { decision, effectiveAtMs } = ending
  const [event] = assertPresent(decision, 'a submitted burn can end').events
  const outcome = await ledger.record({ signature, event, effectiveAtMs })
  log.info({ event: event.kind === 'BurnConfirmed' ? 'burn_confirmed' : 'burn_failed', round, signature, outcome })
}

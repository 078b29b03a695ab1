import { openChain, type Chain } from '../chain/openChain.ts'
import { openPayoutWallets, type PayoutWallets } from './payoutWallets.ts'
import { signPayout } from '../chain/payoutTransaction.ts'
import { tokenAccountOf } from '../chain/walletTerms.ts'
import { matchPayout } from './matchPayout.ts'
import type { PayoutPlan } from '../accounting/payoutPlan.ts'
import { type DollarSetting, dollarOfMint } from '../payment/dollar.ts'
import { postJson } from '../outbound/postJson.ts'
import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import type { Database } from '../store/database.ts'
import { findLedgerMint, UnknownMint } from '../store/ledgerMints.ts'
import type { PayoutAttempt } from '../store/holderPayoutStore.ts'
import { findRecorded, findRecordedParts, recordPayout } from '../store/payoutStore.ts'
import { readFreeDebts } from './freeDebts.ts'
import type { HolderPaymentDeps } from './payHolders.ts'
import { openHolderPayouts } from './holderPayouts.ts'
import { type PayoutRequest, planDebts } from './planDebts.ts'
import { preparePart } from './preparePart.ts'
import { findSentUnrecorded, landPart, recordSignedPart, type SignedPart } from './sentParts.ts'
import { findUnrecorded, paysPart } from './unrecordedPayouts.ts'
import { openFitting } from '../store/schemaVersion.ts'

export interface PayoutOptions {
  /** The login must be a member of `tollbook_payout`. */
  readonly databaseUrl: string
  readonly rpcUrls: readonly string[]
  readonly tokenMint: string
  /** Name or address of the mint in the ledger. Undefined: the service token. */
  readonly mint?: string | undefined
  readonly paymentWallet: string
  readonly currencies?: readonly DollarSetting[]
  readonly clock: Clock
  readonly log: Log
  /** Replaces parts in tests that kill the process at a step of a payout to holders. */
  readonly seam?: (deps: HolderPaymentDeps) => HolderPaymentDeps
}

export interface RecordedPart {
  readonly part: number
  readonly position: number
  readonly leafHash: string
}

interface Opened {
  readonly database: Database
  readonly chain: Chain
  readonly clock: Clock
  readonly wallets: PayoutWallets
}

const connectionsMax = 2

export type Payout = Awaited<ReturnType<typeof openPayout>>

/** Opens the payouts in one mint. Throws a `Fault` if the schema does not match this program. */
export async function openPayout(options: PayoutOptions) {
  const { databaseUrl, log, clock } = options
  await using opened = new AsyncDisposableStack()
  const login = { databaseUrl, applicationName: 'tollbook payout', connectionsMax, log }
  const database = opened.adopt(await openFitting(login, 'the payouts'), (handle) => handle.destroy())
  const tokenMint = options.mint === undefined ? options.tokenMint : await mintOf(database, options.mint)
  const paymentWallet = dollarOfMint(tokenMint, options.currencies ?? [])?.wallet ?? options.paymentWallet
  const terms = { rpcUrls: options.rpcUrls, tokenMint, paymentWallet }
  // Use `confirmed`, because a payout that was just sent must be visible before it is final. Otherwise the payout would
  // be sent again.
  const chain = await openChain({ ...terms, clock, log, commitment: 'confirmed', postJson })
  const dollar = tokenMint === options.tokenMint ? undefined : chain.terms.mint
  const wallets = openPayoutWallets({ database, chain, clock, dollar })
  const parts = { database, chain, clock, wallets }
  const prepare = (plan: PayoutPlan, part: number, feePayer: Address) => preparePart(parts, { plan, part, feePayer })
  const recordPart = (plan: PayoutPlan, signature: Signature) => record(parts, plan, signature)
  const own = { ...parts, prepare, record: recordPart, requireRecorded: () => requireRecorded(parts) }
  const stored = opened.move()
  return {
    terms: chain.terms,
    plan: (request: PayoutRequest) => planDebts(own, request),
    /**
     * Returns the parts that are neither in the ledger nor on chain. Throws if less is owed than the plan pays, if
     * another payout is on chain and not in the ledger, or while a signed transaction could still land.
     */
    openParts: (plan: PayoutPlan) => partsToSend(parts, plan),
    /**
     * Records a part, which the caller must do before it sends the part. If this call throws, do not send the
     * transaction, because another transaction may already pay the same debts.
     */
    recordSignedPart: (plan: PayoutPlan, signed: SignedPart) => recordSignedAlone(parts, plan, signed),
    landPart: (attempt: PayoutAttempt, signal: AbortSignal) => landPart(parts, attempt, signal),
    prepare,
    sign: signPayout,
    /** Records a paid part. Waits for finality. Repeating the call has no effect. */
    record: recordPart,
    holders: openHolderPayouts({
      ...own,
      seam: options.seam,
      serviceToken: options.tokenMint,
      rpcUrl: options.rpcUrls[0] ?? '',
      requirePayable: (plan) => openParts(parts, plan),
      requireOthersRecorded: (plan) => findOwnUnrecorded(parts, plan),
      requireNothingSent: () => requireNothingSent(parts),
    }),
    close: () => stored.disposeAsync(),
  }
}

async function mintOf(database: Database, text: string): Promise<string> {
  const found = await findLedgerMint(database, text).catch((error: unknown) => {
    throw error instanceof UnknownMint ? new Fault(`the mint ${error.message}`, { retryable: false }) : error
  })
  return found.mint
}

async function requireRecorded(opened: Opened): Promise<void> {
  const unrecorded = [...(await findUnrecorded(opened, undefined)), ...(await findSentUnrecorded(opened))]
  if (unrecorded.length > 0) throw unrecordedFault(unrecorded)
}

function unrecordedFault(unrecorded: readonly { readonly signature: Signature }[]): Fault {
  const signatures = new Set(unrecorded.map(({ signature }) => signature))
  return new Fault(
    `payouts are on chain that are not in the ledger, so the debts are not correct; record them first: ${[...signatures].join(', ')}`,
    { retryable: false },
  )
}

/**
 * Records a signed part, unless another plan has one. Two plans may both pass `partsToSend` before either plan signs.
 * Each plan is on record before it reads the records of other plans, so at least one plan finds the other and is not
 * sent.
 */
async function recordSignedAlone(opened: Opened, created: PayoutPlan, signed: SignedPart): Promise<PayoutAttempt> {
  const attempt = await recordSignedPart(opened, created, signed)
  await requireNothingSent(opened, created.id)
  await checkDebts(opened, created, [signed.part])
  return attempt
}

async function requireNothingSent(opened: Opened, exceptPlan?: string): Promise<void> {
  const sent = await findSentUnrecorded(opened, exceptPlan)
  if (sent.length > 0) throw unrecordedFault(sent)
}

async function partsToSend(opened: Opened, created: PayoutPlan): Promise<readonly number[]> {
  const parts = await openParts(opened, created)
  const sent = await findSentUnrecorded(opened)
  const foreign = sent.filter(({ planId }) => planId !== created.id)
  if (foreign.length > 0) throw unrecordedFault(foreign)
  return parts.filter((part) => !sent.some((attempt) => attempt.part === part))
}

async function openParts(opened: Opened, created: PayoutPlan): Promise<readonly number[]> {
  const unrecorded = await findOwnUnrecorded(opened, created)
  const recorded = await findRecordedParts(opened.database, created)
  const unpaid = created.parts.map((_, index) => index + 1).filter((part) => !recorded.has(part))
  await checkDebts(opened, created, unpaid)
  return unpaid.filter((part) => !unrecorded.some((listed) => paysPart(listed, created, part)))
}

/** Returns the payouts of the plan that are on chain and not in the ledger. Throws if there is one of another plan. */
async function findOwnUnrecorded(opened: Opened, created: PayoutPlan) {
  const { mint, network, paymentWallet } = opened.chain.terms
  if (created.mint !== mint || created.network !== network || created.paymentWallet !== paymentWallet)
    throw new Fault('the plan is for another mint, payment wallet or network', { retryable: false })
  const unrecorded = await findUnrecorded(opened, created.slot)
  const foreign = unrecorded.filter(({ memo }) => memo?.includes(created.id) !== true)
  if (foreign.length > 0) throw unrecordedFault(foreign)
  return unrecorded
}

async function checkDebts({ database }: Opened, created: PayoutPlan, unpaid: readonly number[]): Promise<void> {
  const { debts } = await readFreeDebts(database, created.mint, created.id)
  const owed = new Map(debts.map(({ account, baseUnits }) => [account, baseUnits]))
  for (const { account, baseUnits } of unpaid.flatMap((part) => created.parts[part - 1] ?? [])) {
    const leftBaseUnits = (owed.get(account) ?? 0n) - baseUnits
    if (leftBaseUnits < 0n)
      throw new Fault(`${account} is owed less than the plan pays; make a new plan`, { retryable: false })
    owed.set(account, leftBaseUnits)
  }
}

const pollMs = 1_000
// Maximum of polls: one minute, because finality takes about 13 s.
const pollsMax = 60

async function record(opened: Opened, created: PayoutPlan, signature: Signature): Promise<RecordedPart> {
  const { chain, database } = opened
  const { terms } = chain
  const found = await findWhenFinal(opened, signature)
  const event = matchPayout({
    record: found,
    plan: created,
    terms,
    tokenAccountOf: (wallet) => tokenAccountOf(terms, wallet),
  })
  if (typeof event === 'string') throw new Fault(`${signature} is not recorded: ${event}`, { retryable: false })
  const recordedParts = await findRecordedParts(database, created)
  if (recordedParts.has(event.part) && (await findRecorded(database, [signature])).size === 0)
    throw new Fault(`${signature} is not recorded: part ${event.part} was paid by another transaction before`, {
      retryable: false,
    })
  const blockTimeMs = found.blockTimeMs
  if (blockTimeMs === undefined)
    throw new Fault('the node does not know the time of the block yet', { retryable: true })
  const recorded = await recordPayout(database, event, blockTimeMs)
  if (recorded.outcome === 'more_than_owed') {
    throw new Fault(
      `${signature} is not recorded: it pays more than is owed. Another payout of the same debt has been recorded; the second payment has to be returned`,
      { retryable: false },
    )
  }
  const { position, leafHash } = recorded
  return { part: event.part, position, leafHash }
}

async function findWhenFinal({ chain, clock }: Opened, signature: Signature) {
  for (let poll = 0; poll < pollsMax; poll++) {
    const found = await chain.finality.findFinalized(signature)
    if (found !== undefined) return found
    await clock.sleep(pollMs)
  }
  throw new Fault(`${signature} is not on the finalized chain; record it again when it is`, { retryable: true })
}

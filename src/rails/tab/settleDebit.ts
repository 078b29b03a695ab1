import { timingSafeEqual } from 'node:crypto'
import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Clock } from '@tollbook/core/clock'
import { toBase64Url, toHex } from '@tollbook/core/bytes'
import type { ListedPrice } from '@tollbook/core/quote'
import { plainPrice } from '@tollbook/core/quote'
import { isRefusal, type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { debitMessage, tabTermsHash } from '@tollbook/core/tab'
import type { DebitFacts, Settlement } from '../../payment/settlement.ts'
import type { Tab } from '../../payment/tab.ts'
import type { TabLedger } from '../../payment/tabLedger.ts'
import { isDepositPrice } from '../../payment/tabSettlement.ts'
import type { MeteringDeps } from '../../paywall/chargeByUse.ts'
import type { SettleQuestion } from '../../paywall/rail.ts'
import type { Dollars } from '../sponsored/dollars.ts'
import { holdWithin } from './holdDebit.ts'
import type { TabProof } from './tabProof.ts'
import type { VerifySignature } from './verifySignature.ts'

export interface SettleDebitDeps extends MeteringDeps {
  readonly clock: Clock
  readonly tabs: Pick<TabLedger, 'find' | 'findAgain' | 'spentTodayBaseUnits'>
  /** Name of the ledger. Signatures of debits are valid for this ledger only. */
  readonly origin: string
  readonly currentPrice: (endpoint: string, mint?: Address) => ListedPrice | undefined
  /** Accepted dollar tokens. Undefined: only the service token is accepted. */
  readonly dollars?: Pick<Dollars, 'whyOff'> | undefined
  readonly verify: VerifySignature
}

/**
 * Checks that the tab may pay this order: its wallet, the signature or the key, its end, and its limits. The append
 * checks again that the tab is open, has the same keys and holds enough.
 */
export async function settleDebit(
  deps: SettleDebitDeps,
  { proof, order }: SettleQuestion<TabProof>,
): Promise<Settlement | Refusal> {
  const nowMs = deps.clock.nowMs()
  const held = await findHeldTab(deps, { proof, wallet: order.wallet, nowMs })
  if (isRefusal(held)) return held
  const { tab, signed } = held
  if (tab.lifecycle.isClosed || nowMs >= tab.terms.endsAtMs) return refuseProof('tab_closed')
  const listed = await findPrice(deps, tab, order.endpoint)
  if (isRefusal(listed)) return listed
  const bounds = {
    signedBaseUnits: signed?.maxBaseUnits,
    tabBaseUnits: tab.terms.maxPerRequestBaseUnits,
    maxMicroUsd: proof.maxMicroUsd,
  }
  const price = await holdWithin(deps, { order, price: listed, bounds })
  if (isRefusal(price)) return price
  const beyond = await judgeDay(deps, { tab, price, nowMs })
  if (beyond !== undefined) return beyond
  const { priceList, requiredBaseUnits } = price
  const isWithin =
    requiredBaseUnits <= bounds.tabBaseUnits && requiredBaseUnits <= (bounds.signedBaseUnits ?? requiredBaseUnits)
  assert(isWithin, 'a debit holds no more than its payer permits')
  const { deposit, evidence, lifecycle } = tab
  const { number, secretHash: bearerHash } = proof
  const debit = {
    tab: tab.id,
    number,
    deposit,
    signed,
    bearerHash,
    lifecycle: lifecycle.version,
    orderDigest: order.digest,
  }
  return {
    reference: proof.reference,
    wallet: tab.wallet,
    price: plainPrice(price),
    priceList,
    quoteId: undefined,
    memo: undefined,
    burnedBaseUnits: 0n,
    receivedBaseUnits: requiredBaseUnits,
    evidence: { kind: 'solana', slot: evidence.slot, blockTimeMs: evidence.blockTimeMs, transactionBase64: undefined },
    debit,
  }
}

const offRetrySeconds = 60

/**
 * Returns the price in the mint of the tab. Refuses the debit if the service does not sell in that mint now, so that
 * nothing is held.
 */
async function findPrice(
  { currentPrice, dollars }: SettleDebitDeps,
  { mint }: Tab,
  endpoint: string,
): Promise<ListedPrice | Refusal> {
  if (currentPrice(endpoint) === undefined) return refuse('ENDPOINT_UNAVAILABLE', 'the token has no current price', 5)
  const listed = currentPrice(endpoint, mint)
  if (listed === undefined) return refuse('ENDPOINT_UNAVAILABLE', unsold, offRetrySeconds)
  if (isDepositPrice(listed)) return refuseProof('tab_limit', 'a tab does not pay for this')
  const off = await dollars?.whyOff(listed)
  return off === undefined ? listed : refuse('ENDPOINT_UNAVAILABLE', `${off}; nothing was charged`, offRetrySeconds)
}

const unsold = 'nothing is sold in the mint of the tab any more; close the tab to get its rest'

interface HolderQuestion {
  readonly wallet: string
  readonly proof: TabProof
  readonly nowMs: number
}

interface HeldTab {
  readonly tab: Tab
  /** The statement that the session key signed. Undefined for a debit by the bearer key. */
  readonly signed: DebitFacts['signed']
}

/**
 * Finds the tab and checks the key of the debit. If the check fails, it reads the tab again, because its keys may just
 * have been replaced.
 */
async function findHeldTab(deps: SettleDebitDeps, question: HolderQuestion): Promise<HeldTab | Refusal> {
  const tab = await deps.tabs.find(question.proof.tab)
  const held = await judgeHolder(deps, tab, question)
  if (tab === undefined || !isRefusal(held) || held.reason !== 'tab_signature_invalid') return held
  const now = await deps.tabs.findAgain(tab)
  return now?.lifecycle.version === tab.lifecycle.version ? held : judgeHolder(deps, now, question)
}

// Maximum time until a signed debit expires, in milliseconds. Until then the payer, or a thief of the header, can
// present an unused debit.
const validMsMax = 10 * 60 * 1000

async function judgeHolder(
  { origin, verify }: SettleDebitDeps,
  tab: Tab | undefined,
  { wallet, proof, nowMs }: HolderQuestion,
): Promise<HeldTab | Refusal> {
  if (tab === undefined) return refuseProof('tab_unknown')
  if (tab.wallet !== wallet) return refuseProof('other_wallet')
  const { signed, secretHash, requestDigest } = proof
  const { sessionKey, bearerHash, mint } = tab
  if (signed === undefined)
    return isSameSecret(bearerHash, secretHash) ? { tab, signed } : refuseProof('tab_signature_invalid')
  if (sessionKey === undefined) return refuseProof('tab_signature_invalid', 'the tab has no session key')
  const message = debitMessage(signed, tabTermsHash({ origin, mint, sessionKey }), requestDigest)
  if (!(await verify(sessionKey, message, signed.signature))) return refuseProof('tab_signature_invalid')
  const { maxBaseUnits, validUntilMs, signature } = signed
  if (nowMs > validUntilMs || validUntilMs > nowMs + validMsMax) return refuseProof('tab_debit_expired')
  const digest = toHex(requestDigest)
  const statement = { sessionKey, maxBaseUnits, validUntilMs, requestDigest: digest, signature: toBase64Url(signature) }
  return { tab, signed: statement }
}

/** True if two hashes are equal, compared in constant time. False if either is absent. */
export function isSameSecret(expected: string | undefined, presented: string | undefined): boolean {
  if (expected === undefined || presented === undefined) return false
  return timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(presented, 'hex'))
}

interface DayQuestion {
  readonly tab: Tab
  readonly price: ListedPrice
  readonly nowMs: number
}

async function judgeDay({ tabs }: SettleDebitDeps, { tab, price, nowMs }: DayQuestion) {
  const { requiredBaseUnits: neededBaseUnits } = price
  const { maxPerDayBaseUnits } = tab.terms
  if (maxPerDayBaseUnits === undefined) return undefined
  const leftBaseUnits = maxPerDayBaseUnits - (await tabs.spentTodayBaseUnits(tab, nowMs))
  if (neededBaseUnits <= leftBaseUnits) return undefined
  return refuseProof(
    'tab_limit',
    `needs ${neededBaseUnits} base units, and the tab permits ${leftBaseUnits} for the rest of this UTC day`,
  )
}

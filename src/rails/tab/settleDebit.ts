import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '@tollbook/core/clock'
import { toBase64Url, toHex } from '@tollbook/core/bytes'
import type { ListedPrice } from '@tollbook/core/quote'
import { plainPrice } from '@tollbook/core/quote'
import { type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { debitMessage, tabTermsHash } from '@tollbook/core/tab'
import type { DebitFacts, Settlement } from '../../payment/settlement.ts'
import type { Tab } from '../../payment/tab.ts'
import type { TabLedger } from '../../payment/tabLedger.ts'
import { isDepositPrice } from '../../payment/tabSettlement.ts'
import type { SettleQuestion } from '../../paywall/rail.ts'
import type { TabProof } from './tabProof.ts'
import type { VerifySignature } from './verifySignature.ts'

export interface SettleDebitDeps {
  readonly clock: Clock
  readonly tabs: Pick<TabLedger, 'find' | 'spentTodayBaseUnits'>
  /** Name of the ledger, which signatures bind. */
  readonly origin: string
  readonly currentPrice: (endpoint: string) => ListedPrice | undefined
  readonly verify: VerifySignature
}

/**
 * Checks that the tab may pay this order: its wallet, the signature or the key, its end, and its limits. The append
 * checks again that it is open, has the same keys and holds enough.
 */
export async function settleDebit(
  deps: SettleDebitDeps,
  { proof, order }: SettleQuestion<TabProof>,
): Promise<Settlement | Refusal> {
  const nowMs = deps.clock.nowMs()
  const tab = await deps.tabs.find(proof.tab)
  if (tab === undefined) return refuseProof('tab_unknown')
  if (tab.wallet !== order.wallet) return refuseProof('other_wallet')
  const signed = await judgeHolder(deps, { tab, proof, nowMs })
  if (signed !== undefined && 'kind' in signed) return signed
  if (tab.lifecycle.isClosed || nowMs >= tab.terms.endsAtMs) return refuseProof('tab_closed')
  const price = deps.currentPrice(order.endpoint)
  if (price === undefined) return refuse('ENDPOINT_UNAVAILABLE', 'the token has no current price', 5)
  const { priceList, requiredBaseUnits } = price
  const limit = await judgeLimits(deps, { tab, price, maxBaseUnits: signed?.maxBaseUnits, nowMs })
  if (limit !== undefined) return limit
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

interface HolderQuestion {
  readonly tab: Tab
  readonly proof: TabProof
  readonly nowMs: number
}

// A signed debit that is not presented may be presented for this long, by its payer or by a thief of the header.
const validMsMax = 10 * 60 * 1000

/** Returns the statement that the session key signed. Undefined for the bearer key. */
async function judgeHolder(
  { origin, verify }: SettleDebitDeps,
  { tab, proof, nowMs }: HolderQuestion,
): Promise<DebitFacts['signed'] | Refusal> {
  const { signed, secretHash, requestDigest } = proof
  const { sessionKey, bearerHash, mint } = tab
  if (signed === undefined)
    return isSameSecret(bearerHash, secretHash) ? undefined : refuseProof('tab_signature_invalid')
  if (sessionKey === undefined) return refuseProof('tab_signature_invalid', 'the tab has no session key')
  const message = debitMessage(signed, tabTermsHash({ origin, mint, sessionKey }), requestDigest)
  if (!(await verify(sessionKey, message, signed.signature))) return refuseProof('tab_signature_invalid')
  const { maxBaseUnits, validUntilMs, signature } = signed
  if (nowMs > validUntilMs || validUntilMs > nowMs + validMsMax) return refuseProof('tab_debit_expired')
  const digest = toHex(requestDigest)
  return { sessionKey, maxBaseUnits, validUntilMs, requestDigest: digest, signature: toBase64Url(signature) }
}

/** Compares hashes in constant time. False if either is absent. */
export function isSameSecret(expected: string | undefined, presented: string | undefined): boolean {
  if (expected === undefined || presented === undefined) return false
  return timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(presented, 'hex'))
}

interface LimitQuestion {
  readonly tab: Tab
  readonly price: ListedPrice
  readonly maxBaseUnits: bigint | undefined
  readonly nowMs: number
}

async function judgeLimits({ tabs }: SettleDebitDeps, { tab, price, maxBaseUnits, nowMs }: LimitQuestion) {
  const { requiredBaseUnits: needed } = price
  const { maxPerRequestBaseUnits, maxPerDayBaseUnits } = tab.terms
  if (price.mint !== tab.mint || isDepositPrice(price)) return refuseProof('tab_limit', 'a tab does not pay for this')
  const over = (what: string, baseUnits: bigint) =>
    refuseProof('tab_limit', `needs ${needed} base units, and ${what} ${baseUnits}`)
  if (maxBaseUnits !== undefined && needed > maxBaseUnits) return over('the debit permits', maxBaseUnits)
  if (needed > maxPerRequestBaseUnits) return over('the tab permits per request', maxPerRequestBaseUnits)
  if (maxPerDayBaseUnits === undefined) return undefined
  const spentBaseUnits = await tabs.spentTodayBaseUnits(tab, nowMs)
  const leftBaseUnits = maxPerDayBaseUnits - spentBaseUnits
  return needed > leftBaseUnits ? over('the tab permits for the rest of this UTC day', leftBaseUnits) : undefined
}

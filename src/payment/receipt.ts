import { assert } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { displayNumber } from '@tollbook/core/money'
import type { receiptBody } from '@tollbook/core/wire'
import type { z } from 'zod'
import { requireSignature } from './paymentReference.ts'
import type { Usage } from './events/attemptEvents.ts'
import { isPaidWhole, type Settlement } from './settlement.ts'
import { isDepositPrice } from './tabSettlement.ts'

/**
 * The receipt depends on the ledger alone, so a repeated answer has the same receipt until the receipt key changes.
 * Amounts are base units as decimal strings; only `requiredTokens` is a number. If a tab paid, `signature`, `slot` and
 * `blockTime` are those of the deposit that opened the tab.
 */
export type Receipt = Omit<SignedReceipt, 'jws'>

export type SignedReceipt = Readonly<z.infer<typeof receiptBody>> & { readonly tab?: ReceiptTab }

/** `heldBaseUnits` minus the charge was returned to the tab. */
export type ReceiptTab = {
  readonly id: string
  readonly number: string
  /** `bearer`: the caller presented the bearer key, which leaves no evidence. */
  readonly authorization: 'signed' | 'bearer'
  readonly heldBaseUnits: string
  readonly usage?: Usage
}

export interface Fulfilment {
  readonly settlement: Settlement
  readonly endpoint: string
  readonly attemptId: string
  readonly position: number
  readonly leafHash: string
  readonly recordedAtMs: number
  /** Present for the first answer only. The receipt does not contain this balance. */
  readonly tabBalanceBaseUnits?: bigint
}

export interface ReceiptTerms {
  readonly split?: Split
  readonly dollarSplit?: Split
  readonly reissuedAtMs?: number
}

/**
 * Returns the receipt of a delivery. The id is derived from the leaf hash, so that a repeated request returns the same
 * id.
 */
export function receiptOf(fulfilment: Fulfilment, terms: ReceiptTerms = {}): Receipt {
  const { settlement, endpoint, position, leafHash, recordedAtMs } = fulfilment
  const { price, evidence, priceList } = settlement
  const { split, dollarSplit, reissuedAtMs } = terms
  assert(/^[0-9a-f]{64}$/.test(leafHash), 'a leaf hash is 32 bytes in hex')
  return {
    id: `receipt_${leafHash.slice(0, 32)}`,
    wallet: settlement.wallet,
    endpoint,
    quoteId: settlement.quoteId ?? null,
    signature: requireSignature(settlement.debit?.deposit ?? settlement.reference),
    slot: evidence.slot,
    blockTime: isoTime(evidence.blockTimeMs),
    requiredTokens: displayNumber(price.requiredBaseUnits, price.decimals),
    requiredBaseUnits: price.requiredBaseUnits.toString(),
    burned: settlement.burnedBaseUnits.toString(),
    ...burnFactsOf(settlement, dollarSplit),
    ...tabOf(settlement),
    distribution: Object.fromEntries(price.shares.map(({ account, baseUnits }) => [account, baseUnits.toString()])),
    ...(priceList === undefined || split === undefined ? {} : { priceList, split: splitOf(price, split) }),
    ledger: { position, leafHash },
    issuedAt: isoTime(recordedAtMs),
    ...(reissuedAtMs === undefined ? {} : { reissuedAt: isoTime(reissuedAtMs) }),
  }
}

function burnFactsOf(
  settlement: Settlement,
  split: Split | undefined,
): Pick<Receipt, 'burnOwed' | 'currency' | 'tokenBurn'> {
  const { mint, decimals, burnBaseUnits, tokenBurn } = settlement.price
  if (!isPaidWhole(settlement) || isDepositPrice(settlement.price)) return {}
  if (burnBaseUnits > 0n) return { burnOwed: burnBaseUnits.toString() }
  const currency = { mint, decimals, ...(split === undefined ? {} : { split }) }
  if (tokenBurn === undefined) return { currency }
  return { currency, tokenBurn: { ...tokenBurn, baseUnits: tokenBurn.baseUnits.toString(), source: 'treasury' } }
}

type Split = Readonly<Record<string, string>>

const depositSplit: Split = { burn: '0%', prepaid: '100%' }

/**
 * Returns the split that the receipt states. A deposit is wholly prepaid: nothing is burned or shared until it is
 * spent.
 */
function splitOf(price: Settlement['price'], split: Split): Split {
  return isDepositPrice(price) ? depositSplit : split
}

function tabOf({ debit, receivedBaseUnits, usage }: Settlement): Pick<Receipt, 'tab'> {
  if (debit === undefined) return {}
  const authorization = debit.signed === undefined ? 'bearer' : 'signed'
  const heldBaseUnits = receivedBaseUnits.toString()
  const used = usage === undefined ? {} : { usage }
  return { tab: { id: debit.tab, number: debit.number.toString(), authorization, heldBaseUnits, ...used } }
}

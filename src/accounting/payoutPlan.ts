import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { sha256Hex } from '@tollbook/core/digest'
import { parseBaseUnits } from '@tollbook/core/money'
import { type Address, readAddress } from '@tollbook/core/address'
import { shareName } from './account.ts'

/** Payouts by debt and receiver. Its id is a digest of all the rest, so a memo that names it names all of it. */
export interface PayoutPlan {
  readonly id: string
  /** CAIP-2: a plan for one chain is none for another. */
  readonly network: string
  readonly mint: Address
  readonly decimals: number
  readonly paymentWallet: Address
  /** The newest event that the debts were read at. */
  readonly position: number
  /** A slot that the chain had reached: nothing was paid by this plan before. */
  readonly slot: number
  /** One transaction each; part n is at index n - 1. */
  readonly parts: readonly (readonly PlannedTransfer[])[]
  /** Present in a plan that divides one debt among the holders of the token. */
  readonly holders?: HolderTerms
}

/** Terms from which, with the snapshot, the audit derives each line of the plan. */
export interface HolderTerms {
  readonly account: string
  readonly amountBaseUnits: bigint
  readonly snapshotSha256: string
  readonly snapshotSlot: number
  readonly excluded: readonly Address[]
  readonly minimumBaseUnits: bigint
  readonly openAccountsMax: number
}

/** A transfer that pays the debt of one ledger account to one wallet. */
export interface PlannedTransfer {
  readonly account: string
  readonly wallet: Address
  readonly baseUnits: bigint
}

/** Debt of an account; a positive amount. */
export interface Debt {
  readonly account: string
  readonly baseUnits: bigint
}

export interface PayoutQuestion extends Omit<PayoutPlan, 'id' | 'parts' | 'holders'> {
  readonly debts: readonly Debt[]
  readonly destinations: Destinations
  /** Smaller debts wait until they have grown: paying them would cost more than they are. */
  readonly leastBaseUnits: bigint
}

/** Wallets of the shares, by account of the split. A share without a wallet is not paid out this time. */
export type Destinations = ReadonlyMap<string, Address>

// With a token account to open for each, five take 900 of a transaction's 1,232 bytes.
const partMax = 5
// A part of a plan for holders has more lines, because its accounts need fewer words.
const linesMax = 8

/** Pure: the same debts and destinations yield the same plan, to its id. Undefined if there is nothing to pay. */
export function planPayout({ debts, destinations, leastBaseUnits, ...plan }: PayoutQuestion): PayoutPlan | undefined {
  assert(leastBaseUnits >= 0n, 'the least transfer is not a debt')
  assert(
    debts.every(({ baseUnits }) => baseUnits >= 0n),
    'a debt is what is owed, and not what is due to us',
  )
  const transfers = debts
    .filter(({ baseUnits }) => baseUnits > 0n && baseUnits >= leastBaseUnits)
    .flatMap(({ account, baseUnits }): PlannedTransfer[] => {
      const wallet = walletOf(account, destinations)
      // A debt of the payment wallet to itself needs no transfer.
      return wallet === undefined || wallet === plan.paymentWallet ? [] : [{ account, wallet, baseUnits }]
    })
    .toSorted((one, other) => (one.account < other.account ? -1 : 1))
  if (transfers.length === 0) return undefined
  const parts = Array.from({ length: Math.ceil(transfers.length / partMax) }, (_, index) =>
    transfers.slice(index * partMax, (index + 1) * partMax),
  )
  return identifiedPlan({ ...plan, parts })
}

/** The plan with the digest of its content as its id. */
export function identifiedPlan(content: Omit<PayoutPlan, 'id'>): PayoutPlan {
  return { ...content, id: idOf(content) }
}

const ofWallet = /^Liabilities:(?:Overpaid|RefundsDue|Unmatched):(.+)$/

/** Undefined for a debt to a wallet that is not known, and for a share without a destination. */
function walletOf(account: string, destinations: Destinations): Address | undefined {
  const share = shareName(account)
  if (share !== undefined) return destinations.get(share)
  return readAddress(ofWallet.exec(account)?.[1] ?? '')
}

const memoPrefix = 'tollbook-payout:'

/** Memo of the transaction that pays the part. */
export function payoutMemo(plan: Pick<PayoutPlan, 'id'>, part: number): string {
  assert(part >= 1, 'the parts of a plan count from 1')
  return `${memoPrefix}${plan.id}:${part}`
}

/** Recognises our own payouts on chain, of whichever plan. */
export function isPayoutMemo(memo: string): boolean {
  return memo.includes(memoPrefix)
}

const format = 'tollbook-payout-1'

/**
 * The content of a plan file. Amounts are decimal strings of base
 * units, because JSON numbers lose digits beyond 2^53.
 */
export function payoutPlanJson(plan: PayoutPlan): Json {
  return { format, id: plan.id, ...contentJson(plan) }
}

const address = z.string().transform((text, context): Address => {
  const read = readAddress(text)
  if (read !== undefined) return read
  context.addIssue('not an address')
  return z.NEVER
})
const planFile = z.object({
  format: z.literal(format),
  id: z.string(),
  network: z.string(),
  mint: address,
  decimals: z.int(),
  paymentWallet: address,
  position: z.int(),
  slot: z.int(),
  parts: z.array(
    z
      .array(z.object({ account: z.string(), wallet: address, baseUnits: z.string().transform(parseBaseUnits) }))
      .min(1)
      .max(linesMax),
  ),
  holders: z
    .object({
      account: z.string(),
      amountBaseUnits: z.string().transform(parseBaseUnits),
      snapshotSha256: z.string(),
      snapshotSlot: z.int(),
      excluded: z.array(address),
      minimumBaseUnits: z.string().transform(parseBaseUnits),
      openAccountsMax: z.int(),
    })
    .exactOptional(),
})

/** Undefined for a text that is not a plan, and for one that was changed since it was written. */
export function readPayoutPlan(json: unknown): PayoutPlan | undefined {
  const parsed = planFile.safeParse(json)
  if (!parsed.success) return undefined
  const { format: _format, ...plan } = parsed.data
  return idOf(plan) === plan.id && addsUp(plan) ? plan : undefined
}

/** A plan for holders pays its amount out of its account, and nothing else. */
function addsUp({ parts, holders }: PayoutPlan): boolean {
  if (holders === undefined) return true
  const lines = parts.flat()
  const sumBaseUnits = lines.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  return sumBaseUnits === holders.amountBaseUnits && lines.every(({ account }) => account === holders.account)
}

function idOf(content: Omit<PayoutPlan, 'id'>): string {
  return `payout_${sha256Hex(canonicalJson(contentJson(content))).slice(0, 32)}`
}

function contentJson(content: Omit<PayoutPlan, 'id'>): { readonly [key: string]: Json } {
  const { network, mint, decimals, paymentWallet, position, slot, parts, holders } = content
  assert(parts.length > 0, 'a plan has transfers')
  return {
    ...(holders === undefined ? {} : { holders: holdersJson(holders) }),
    network,
    mint,
    decimals,
    paymentWallet,
    position,
    slot,
    parts: parts.map((part) =>
      part.map(({ account, wallet, baseUnits }) => ({ account, wallet, baseUnits: baseUnits.toString() })),
    ),
  }
}

function holdersJson({ amountBaseUnits, minimumBaseUnits, ...terms }: HolderTerms): Json {
  return {
    ...terms,
    amountBaseUnits: amountBaseUnits.toString(),
    minimumBaseUnits: minimumBaseUnits.toString(),
  }
}

import type { Chain } from '../chain/openChain.ts'
import { buildPayout } from '../chain/payoutTransaction.ts'
import { payoutMemo, type PayoutPlan, type PlannedTransfer } from '../accounting/payoutPlan.ts'
import type { Address } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { type ReceiverDeps, readReceivers } from './receivers.ts'

/** `feePayer` pays the fee and the rent. */
export interface PartOrder {
  readonly plan: PayoutPlan
  readonly part: number
  readonly feePayer: Address
}

/** `leftOut`: lines that cannot be paid now, with their reasons. */
export interface PreparedPart {
  readonly payout: UnsignedPayout | undefined
  readonly leftOut: readonly LeftOut[]
}

/**
 * The payment wallet must sign the transaction, possibly offline or as a multisig. After block height
 * `lastValidBlockHeight`, the transaction can no longer land.
 */
export interface UnsignedPayout {
  readonly transaction: Uint8Array
  readonly memo: string
  readonly lastValidBlockHeight: number
}

/** The debt of an unpaid line stays owed. */
export interface LeftOut extends PlannedTransfer {
  readonly why: string
}

export interface PrepareDeps extends ReceiverDeps {
  readonly chain: Pick<Chain, 'terms' | 'readAccounts' | 'reader' | 'latestBlockhash'>
}

/** Builds and rehearses the transaction of a part. One line can make the whole part fail, so each such line is left out. */
export async function preparePart(deps: PrepareDeps, order: PartOrder): Promise<PreparedPart> {
  const lines = assertPresent(order.plan.parts[order.part - 1], 'the plan has the part')
  const refused = await findRefused(deps, order, lines)
  const payable = lines.filter((line) => !refused.has(line))
  const { payout, failed } = await rehearse(deps, order, payable)
  const whys = new Map([...refused, ...failed])
  const leftOut = lines.flatMap((line) => {
    const why = whys.get(line)
    return why === undefined ? [] : [{ ...line, why }]
  })
  return { payout, leftOut }
}

type Reasons = ReadonlyMap<PlannedTransfer, string>

/**
 * Finds the lines that cannot be paid. A receiving account must exist and accept the transfer, unless this part opens
 * the account.
 */
async function findRefused(
  deps: PrepareDeps,
  { plan, part }: PartOrder,
  lines: readonly PlannedTransfer[],
): Promise<Reasons> {
  const wallets = lines.map(({ wallet }) => wallet)
  const opens = openedBy(plan, part)
  const receivers = await readReceivers(deps, wallets, plan.slot)
  return new Map(
    lines.flatMap((line): (readonly [PlannedTransfer, string])[] => {
      const receiver = receivers.get(line.wallet)
      if (receiver?.kind === 'refusing') return [[line, receiver.why]]
      const isClosed = receiver?.kind === 'missing' && (receiver.wasPaid || !opens.includes(line.wallet))
      return isClosed ? [[line, `${line.wallet} has no token account, and this part does not open one`]] : []
    }),
  )
}

/**
 * Returns the wallets whose accounts this part opens. Only the first part with a wallet opens its account, because the
 * wallet could close the account before the next part, and the rent would be paid again.
 */
function openedBy({ parts, opens = [] }: PayoutPlan, part: number): readonly Address[] {
  const paidBefore = new Set(parts.slice(0, part - 1).flatMap((lines) => lines.map(({ wallet }) => wallet)))
  return opens.filter((wallet) => !paidBefore.has(wallet))
}

interface Rehearsed {
  readonly payout: UnsignedPayout | undefined
  readonly failed: Reasons
}

async function rehearse(deps: PrepareDeps, order: PartOrder, lines: readonly PlannedTransfer[]): Promise<Rehearsed> {
  if (lines.length === 0) return { payout: undefined, failed: new Map() }
  const whole = await rehearseLines(deps, order, lines)
  if (typeof whole !== 'string') return { payout: whole, failed: new Map() }
  const failed = new Map<PlannedTransfer, string>()
  for (const line of lines) {
    const alone = await rehearseLines(deps, order, [line])
    if (typeof alone === 'string') failed.set(line, alone)
  }
  const good = lines.filter((line) => !failed.has(line))
  const rest = good.length === 0 ? whole : await rehearseLines(deps, order, good)
  if (typeof rest !== 'string') return { payout: rest, failed }
  // Each line would succeed alone, but the lines fail together. For example, the fee payer has no SOL, or the wallet
  // holds less than the sum.
  return { payout: undefined, failed: new Map(lines.map((line) => [line, failed.get(line) ?? rest])) }
}

/** Builds the transaction and simulates it. A string is the reason why the transaction would fail. */
async function rehearseLines(
  { chain }: PrepareDeps,
  { plan, part, feePayer }: PartOrder,
  payments: readonly PlannedTransfer[],
): Promise<UnsignedPayout | string> {
  const memo = payoutMemo(plan, part)
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const opens = openedBy(plan, part)
  const transaction = buildPayout({ terms: chain.terms, memo, payments, opens, blockhash, feePayer })
  const rehearsed = await chain.reader.simulate({ bytes: transaction }, { withoutSignatures: true })
  // If no node could rehearse the part in its newest state, send the part. A failure on chain costs a fee and moves no
  // tokens.
  return rehearsed.outcome === 'would_fail' ? rehearsed.text : { transaction, memo, lastValidBlockHeight }
}

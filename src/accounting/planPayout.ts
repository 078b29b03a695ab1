import { assert } from '@tollbook/core/assert'
import { formatDecimal } from '@tollbook/core/money'
import { type Address, readAddress } from '@tollbook/core/address'
import { shareName } from './account.ts'
import { compare } from './holderShares.ts'
import { identifiedPlan, type PayoutPlan, type PlanHead, type PlannedTransfer, splitIntoParts } from './payoutPlan.ts'

export interface Debt {
  readonly account: string
  readonly baseUnits: bigint
}

export interface WaitingDebt extends Debt {
  readonly why: string
}

/** Wallet of each share. A share without a wallet is not paid. */
export type Destinations = ReadonlyMap<string, Address>

export type Receiver =
  | { readonly kind: 'ready' }
  /** `wasPaid`: the wallet had a token account at an earlier payout and has closed it since. */
  | { readonly kind: 'missing'; readonly wasPaid: boolean }
  | { readonly kind: 'refusing'; readonly why: string }

export interface PayoutQuestion extends PlanHead {
  readonly debts: readonly Debt[]
  readonly destinations: Destinations
  /** Smaller debts wait until they have grown. */
  readonly leastBaseUnits: bigint
  /** Has every wallet that `walletsToPay` returns. */
  readonly receivers: ReadonlyMap<Address, Receiver>
  /** Bounds the rent that the fee payer pays for wallets outside the split. */
  readonly openAccountsMax: number
}

export interface PlannedDebts {
  readonly plan: PayoutPlan | undefined
  readonly waiting: readonly WaitingDebt[]
}

// Five transfers that each open a token account take 900 of the 1,232 bytes of a transaction.
const partMax = 5

interface Line extends PlannedTransfer {
  readonly opens: boolean
}

/**
 * The same question returns the same plan with the same id. Shares come first and in separate parts, because a transfer
 * to any other wallet can make its part fail.
 */
export function planPayout(question: PayoutQuestion): PlannedDebts {
  const { debts, leastBaseUnits, openAccountsMax, destinations: _, receivers: _seen, ...plan } = question
  assert(leastBaseUnits >= 0n && openAccountsMax >= 0, 'the least transfer is not a debt')
  assert(
    debts.every(({ baseUnits }) => baseUnits >= 0n),
    'a debt is what is owed, and not what is due to us',
  )
  assert(new Set(debts.map(({ account }) => account)).size === debts.length, 'each debt is listed once')
  const judged = debts
    .filter(({ baseUnits }) => baseUnits > 0n)
    .toSorted((one, other) => compare(one.account, other.account))
    .map((debt) => judge(question, debt))
  const { lines, unopened } = boundOpenings(judged.filter(isLine), openAccountsMax)
  const waiting = [...judged.filter(isWaiting), ...unopened]
  assert(sumOf([...lines, ...waiting]) === sumOf(debts), 'each debt is paid or waits')
  if (lines.length === 0) return { plan: undefined, waiting }
  const shares = lines.filter(isShare)
  const parts = [...partsOf(shares), ...partsOf(lines.filter((line) => !isShare(line)))]
  const opens = [...new Set(lines.filter((line) => line.opens).map(({ wallet }) => wallet))].toSorted()
  return { plan: identifiedPlan({ ...plan, parts, ...(opens.length === 0 ? {} : { opens }) }), waiting }
}

function sumOf(debts: readonly Debt[]): bigint {
  return debts.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
}

function isLine(judged: Line | WaitingDebt): judged is Line {
  return 'wallet' in judged
}

function isWaiting(judged: Line | WaitingDebt): judged is WaitingDebt {
  return !isLine(judged)
}

function isShare({ account }: Debt): boolean {
  return shareName(account) !== undefined
}

function partsOf(lines: readonly Line[]): readonly (readonly PlannedTransfer[])[] {
  const transfers = lines.map(({ opens: _opens, ...transfer }) => transfer)
  return splitIntoParts(transfers, partMax)
}

function judge(question: PayoutQuestion, { account, baseUnits }: Debt): Line | WaitingDebt {
  const { destinations, leastBaseUnits, decimals, paymentWallet, receivers } = question
  const waits = (why: string): WaitingDebt => ({ account, baseUnits, why })
  const wallet = walletOf(account, destinations)
  if (wallet === undefined) return waits(whyNoWallet(account))
  if (wallet === paymentWallet) return waits('it is owed to the payment wallet itself, which has the tokens')
  if (baseUnits < leastBaseUnits)
    return waits(`it is less than the smallest payout, ${formatDecimal(leastBaseUnits, decimals)} (--min-tokens)`)
  const receiver = receivers.get(wallet)
  assert(receiver !== undefined, 'each wallet was looked at')
  if (receiver.kind === 'refusing') return waits(receiver.why)
  if (receiver.kind === 'missing' && receiver.wasPaid)
    return waits(`${wallet} closed its token account after an earlier payout; rent is not paid twice for one wallet`)
  return { account, wallet, baseUnits, opens: receiver.kind === 'missing' }
}

function whyNoWallet(account: string): string {
  const share = shareName(account)
  return share === undefined
    ? 'its wallet is not known'
    : `the share has no wallet: give --wallets ${share}:ADDRESS, or add it to PAYOUT_WALLETS`
}

/**
 * Limits the new token accounts, and prefers the largest debts. Accounts for shares do not count, because the operator
 * chooses their wallets.
 */
function boundOpenings(lines: readonly Line[], openAccountsMax: number) {
  const wanting = lines
    .filter((line) => line.opens && !isShare(line))
    .toSorted((one, other) => compare(other.baseUnits, one.baseUnits) || compare(one.account, other.account))
  const opened = new Set([...new Set(wanting.map(({ wallet }) => wallet))].slice(0, openAccountsMax))
  const isUnopened = (line: Line) => line.opens && !isShare(line) && !opened.has(line.wallet)
  const unopened = lines.filter(isUnopened).map(({ account, wallet, baseUnits }): WaitingDebt => {
    const why = `${wallet} has no token account; --open-accounts N opens up to N, for a rent of about 0.00204 SOL each`
    return { account, baseUnits, why }
  })
  return { lines: lines.filter((line) => !isUnopened(line)), unopened }
}

const ofWallet = /^Liabilities:(?:Overpaid|RefundsDue|Unmatched):(.+)$/

function walletOf(account: string, destinations: Destinations): Address | undefined {
  const share = shareName(account)
  if (share !== undefined) return destinations.get(share)
  return readAddress(ofWallet.exec(account)?.[1] ?? '')
}

export function walletsToPay(debts: readonly Debt[], destinations: Destinations): readonly Address[] {
  return [...new Set(debts.flatMap(({ account }) => walletOf(account, destinations) ?? []))]
}

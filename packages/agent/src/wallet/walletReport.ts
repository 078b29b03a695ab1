import { appendFile, readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { StoredSpending, TabState } from '@tollbook/client'
import { readBalance } from '@tollbook/client/node'
import { isoTime } from '@tollbook/core/clock'
import { parseJson } from '@tollbook/core/json'
import { divideRoundingDown, formatDecimal } from '@tollbook/core/money'
import { formatUsd, readUsd } from '../attoUsd.ts'
import type { Policy } from '../policy/policy.ts'

const dayMs = 86_400_000
const lamportsScale = 9

export interface SpendingQuestion {
  readonly policy: Policy
  readonly spendings: readonly StoredSpending[]
  readonly open: number
  readonly nowMs: number
}

/** Counts the amounts as the next payment will count them. */
export function spendingReport({ policy, spendings, open, nowMs }: SpendingQuestion) {
  const today = spendings.filter(({ atMs }) => atMs >= nowMs - (nowMs % dayMs))
  const { perDayUsd, totalUsd } = policy.limits
  const left = (limit: string, spent: readonly StoredSpending[]) => formatUsd(readUsd(limit) - usdOf(spent))
  const hosts = [...new Set(spendings.map(({ host }) => host))]
  return {
    day: isoTime(nowMs).slice(0, 10),
    spentTodayUsd: formatUsd(usdOf(today)),
    leftTodayUsd: left(perDayUsd, today),
    spentInAllUsd: formatUsd(usdOf(spendings)),
    leftInAllUsd: totalUsd && left(totalUsd, spendings),
    payments: spendings.length,
    openPayments: open,
    limits: { ...policy.limits, confirmAboveUsd: policy.confirmAboveUsd },
    hosts: Object.keys(policy.hosts),
    spentByHost: Object.fromEntries(
      hosts.map((host) => [host, formatUsd(usdOf(spendings.filter((spending) => spending.host === host)))]),
    ),
    spentByMint: Object.fromEntries(
      Object.entries(policy.mints).map(([mint, { name }]) => {
        const spent = spendings.filter((spending) => spending.mint === mint)
        return [mint, { name, baseUnits: spent.reduce((sum, { baseUnits }) => sum + baseUnits, 0n).toString() }]
      }),
    ),
    note: 'Only the owner can change limits and hosts, in the policy file.',
  }
}

function usdOf(spendings: readonly StoredSpending[]): bigint {
  return spendings.reduce((sum, { attoUsd }) => sum + attoUsd, 0n)
}

export interface Holdings {
  readonly wallet: string
  /** Tabs by host. A value is undefined if the service does not answer. */
  readonly tabs: ReadonlyMap<string, TabState | undefined>
}

export async function balanceReport({ rpcUrl, mints }: Policy, { wallet, tabs }: Holdings) {
  const balances = Object.entries(mints).map(async ([mint, { name, usdPerToken }]) => {
    const { heldBaseUnits, decimals, lamports } = await readBalance({ rpcUrl, wallet, mint })
    const worthAttoUsd = divideRoundingDown(heldBaseUnits * readUsd(usdPerToken), 10n ** BigInt(decimals))
    const token = { mint, name, tokens: formatDecimal(heldBaseUnits, decimals), worthUsd: formatUsd(worthAttoUsd) }
    return { token, lamports, decimals }
  })
  const held = await Promise.all(balances)
  const sol = formatDecimal(held[0]?.lamports ?? 0n, lamportsScale)
  const decimalsOf = (mint: string) => held.find(({ token }) => token.mint === mint)?.decimals ?? 0
  const onTab = [...tabs].map(([host, state]) => {
    if (state === undefined) return { host, state: 'unknown: the service does not answer' }
    const { tab, mint, balanceBaseUnits, endsAt } = state
    const tokens = formatDecimal(BigInt(balanceBaseUnits), decimalsOf(mint))
    return { host, tab, state: state.state, mint, tokens, endsAt }
  })
  return { wallet, sol, tokens: held.map(({ token }) => token), ...(onTab.length === 0 ? {} : { tabs: onTab }) }
}

const receiptLine = z.object({
  at: z.string(),
  method: z.string(),
  url: z.string(),
  signature: z.string(),
  mint: z.string(),
  baseUnits: z.string(),
  usd: z.string(),
  receipt: z.string().nullable(),
})
export type ReceiptLine = z.infer<typeof receiptLine>

/** Appends one line. The first line break ends a line that a crash cut off. */
export async function appendReceipt(path: string, line: ReceiptLine): Promise<void> {
  await appendFile(path, `\n${JSON.stringify(line)}\n`, { mode: 0o600 })
}

/**
 * Returns the receipts, newest first. A payment that was presented again after a crash has several lines, and is listed
 * once.
 */
export async function readReceipts(path: string, most: number): Promise<readonly ReceiptLine[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const lines = text.split('\n').flatMap((line) => receiptLine.safeParse(parseJson(line)).data ?? [])
  const latest = new Map(lines.map((line) => [line.signature, line]))
  return [...latest.values()].slice(-most).reverse()
}

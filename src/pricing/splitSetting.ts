import { assert } from '@tollbook/core/assert'
import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import { depositAccount } from '@tollbook/core/tab'
import { type ParsedList, parsedUnless, parseEntries, repeatedNames, type SettingEntry } from './commaList.ts'

/** The share of the account `burn` is destroyed. Every other share is owed to its account. */
export interface SplitShare {
  readonly account: string
  readonly perMille: number
}

const whole = 1_000
const percentDecimals = 1
export const burnAccount = 'burn'
// Bounded, because the record of each payment lists every share.
const accountsMax = 20
const accountPattern = /^[a-z][a-z0-9-]{0,30}$/

/** Shares of the specification, section 5.2. */
export const defaultSplit: readonly SplitShare[] = [
  { account: burnAccount, perMille: 300 },
  { account: 'provider', perMille: 500 },
  { account: 'holders', perMille: 150 },
  { account: 'treasury', perMille: 50 },
]

/** Parses `SPLIT`, such as `burn:30,provider:50,holders:15,treasury:5`: accounts and shares in per cent. */
export function parseSplit(setting: string): ParsedList<readonly SplitShare[]> {
  return parseShares(setting, (names) => {
    if (!names.includes(burnAccount)) return [`has no share for "${burnAccount}"; add one, such as ${burnAccount}:30`]
    const isAlone = names.every((name) => name === burnAccount)
    return isAlone ? ['names no account besides "burn"; add one, such as provider:70'] : []
  })
}

/** A share for the burn is refused, because dollar tokens are not burned. */
export function parseDollarSplit(setting: string): ParsedList<readonly SplitShare[]> {
  return parseShares(setting, (names) =>
    names.includes(burnAccount) ? [`names "${burnAccount}": nothing burns a dollar; give its share to treasury`] : [],
  )
}

function parseShares(
  setting: string,
  accountProblems: (names: readonly string[]) => readonly string[],
): ParsedList<readonly SplitShare[]> {
  const entries = parseEntries(setting, ':')
  const shares = entries.map(shareOf)
  const split = shares.filter((share) => typeof share !== 'string')
  const problems = shares.filter((share) => typeof share === 'string')
  for (const name of repeatedNames(entries)) problems.push(`names "${name}" more than once; keep one share for it`)
  const names = entries.map(({ name }) => name)
  problems.push(...accountProblems(names))
  if (names.includes(depositAccount))
    problems.push(`names "${depositAccount}", the share of deposits on tabs; choose another name`)
  if (entries.length > accountsMax) problems.push(`has ${entries.length} accounts; at most ${accountsMax} are possible`)
  const sum = split.reduce((total, { perMille }) => total + perMille, 0)
  // An unreadable share has its own message, and a sum without it would mislead.
  if (split.length === entries.length && sum !== whole)
    problems.push(`adds up to ${percentOf(sum)}; change the shares so that they add up to 100%`)
  return parsedUnless(problems, split)
}

export function distributionOf(split: readonly SplitShare[]): Readonly<Record<string, string>> {
  assert(
    split.reduce((sum, { perMille }) => sum + perMille, 0) === whole,
    'the shares of a split add up to the whole payment',
  )
  return Object.fromEntries(split.map(({ account, perMille }) => [account, percentOf(perMille)]))
}

/** 0 for the split of a dollar token, which has no burn. */
export function burnPerMilleOf(split: readonly SplitShare[]): number {
  return split.find(({ account }) => account === burnAccount)?.perMille ?? 0
}

export function burnPercentage(split: readonly SplitShare[]): number {
  const burn = split.find(({ account }) => account === burnAccount)
  assert(burn !== undefined, 'every split has a share for the burn')
  return burn.perMille / 10
}

function shareOf({ text, name, value }: SettingEntry): SplitShare | string {
  if (value === undefined || !accountPattern.test(name))
    return `has "${text}": write account:percent, such as provider:50, separated by commas; an account is 1 to 31 lower-case letters, digits and dashes, and starts with a letter`
  const perMille = parseDecimal(value, percentDecimals)
  if (perMille !== undefined && perMille > 0n && perMille <= BigInt(whole))
    return { account: name, perMille: Number(perMille) }
  return `has "${text}": the share must be a number from 0.1 to 100 with at most one digit after the point`
}

function percentOf(perMille: number): string {
  return `${formatDecimal(BigInt(perMille), percentDecimals)}%`
}

import { z } from 'zod'
import { readAddress } from '@tollbook/core/address'
import { type DollarSetting, haveOneMint, isKnownDollar } from '../payment/dollar.ts'
import { type ParsedList, parsedUnless } from '../pricing/commaList.ts'
import { parsePriceMicroUsd, priceRule } from '../pricing/parsePrices.ts'
import { parseDollarSplit } from '../pricing/splitSetting.ts'
import { integerFrom, parsedBy, solanaAddress, variable } from './variables.ts'

const noCurrencies: readonly DollarSetting[] = []

/** The signer reads this variable too. */
export const currencies = variable('CURRENCIES', parsedBy(parseCurrencies, noCurrencies))

export const currencyConfig = z.object({
  accepted: currencies,
  /**
   * Maximum number of whole tokens that may be promised before the treasury delivers them. 0: the treasury must deliver
   * first.
   */
  burnDebtMaxTokens: variable('BURN_DEBT_MAX_TOKENS', integerFrom(0, 9_999_999_999, 0)),
  /** Wallet of the treasury. Its transfers of tokens to the payment wallet count as deliveries. */
  treasuryWallet: variable('TREASURY_WALLET', solanaAddress),
})

export type CurrencyConfig = z.infer<typeof currencyConfig>

const dollarRails = ['x402', 'mpp'] as const
const minimumStandardMicroUsd = 10_000n
// Matches a colon that starts an option. A colon before a number belongs to the shares of a split.
const optionStart = /:(?!\s*[\d.])/
const symbolPattern = /^[A-Z][A-Z0-9]{0,9}$/

/**
 * Parses `CURRENCIES`: the dollars that are accepted in addition to the service token. Examples: `usdc:wallet=ADDRESS`
 * and `usdc:minimum=0.005,XUSD=MINT:burn=none:split=provider:90+treasury:10`.
 */
export function parseCurrencies(setting: string): ParsedList<readonly DollarSetting[]> {
  const read = setting.split(',').map((entry) => currencyOf(entry.trim()))
  const problems = read.filter((each) => typeof each === 'string')
  const currencies = read.filter((each) => typeof each !== 'string')
  const symbols = currencies.map(({ symbol }) => symbol)
  for (const symbol of new Set(symbols.filter((each, at) => symbols.indexOf(each) !== at)))
    problems.push(`names ${symbol} more than once; keep one of them`)
  problems.push(...sharedMints(currencies))
  return parsedUnless(problems, currencies)
}

/** Finds different symbols with one mint, because each payment in a shared mint would have two wallets and two splits. */
function sharedMints(currencies: readonly DollarSetting[]): readonly string[] {
  return currencies.flatMap((dollar, at) =>
    currencies
      .slice(0, at)
      .filter((earlier) => earlier.symbol !== dollar.symbol && haveOneMint(earlier, dollar))
      .map(({ symbol }) => `${symbol} and ${dollar.symbol} have one mint; keep one of them`),
  )
}

/** Parses one entry. Returns a text with the mistake if the entry is invalid. */
function currencyOf(text: string): DollarSetting | string {
  const [head = '', ...options] = text.split(optionStart)
  const [name = '', mintText] = head.split('=')
  const symbol = name.trim().toUpperCase()
  const mint = mintText === undefined ? undefined : readAddress(mintText.trim())
  if (mintText === undefined ? !isKnownDollar(symbol) : mint === undefined || !symbolPattern.test(symbol))
    return `has "${text}": write usdc or usdt, or SYMBOL=MINT with the address of the mint`
  const read = options.map(optionOf)
  const names = options.map((option) => option.split('=')[0]?.trim())
  const repeated = names.find((each, at) => names.indexOf(each) !== at)
  const problem =
    read.find((option) => typeof option === 'string') ?? (repeated && `${repeated} is given more than once; keep one`)
  if (problem !== undefined) return `has "${text}": ${problem}`
  const given = read.reduce<Partial<DollarSetting>>((all, option) => Object.assign(all, option), {})
  return { symbol, mint, minimumMicroUsd: minimumStandardMicroUsd, burn: 'token', rails: dollarRails, ...given }
}

function optionOf(option: string): Partial<DollarSetting> | string {
  const [name = '', value = ''] = option.split('=').map((part) => part.trim())
  if (name === 'split') {
    const split = parseDollarSplit(value.replaceAll('+', ','))
    return split.ok ? { split: split.value } : `of split, ${split.problems.join('; ')}`
  }
  if (name === 'wallet') {
    const wallet = readAddress(value)
    return wallet === undefined
      ? `of wallet, write the Solana address of the wallet that receives payments in it (got "${value}")`
      : { wallet }
  }
  if (name === 'minimum') {
    const minimumMicroUsd = parsePriceMicroUsd(value)
    return minimumMicroUsd === undefined ? `of minimum, ${priceRule}` : { minimumMicroUsd }
  }
  if (name === 'burn') return value === 'token' || value === 'none' ? { burn: value } : 'burn must be token or none'
  if (name !== 'rails') return `"${name}" is not one of wallet, minimum, burn, rails and split`
  const rails = value.split('+')
  const isKnown = rails.every((rail) => dollarRails.some((known) => known === rail))
  return isKnown ? { rails } : `rails must be ${dollarRails.join(' or ')}, joined by +`
}

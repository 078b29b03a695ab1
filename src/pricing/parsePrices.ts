import { parseDecimal } from '@tollbook/core/money'
import { usdDecimals } from './priceList.ts'
import { type ParsedList, parsedUnless, parseEntries, repeatedNames, type SettingEntry } from './commaList.ts'

const pathPattern = /^(\/([A-Za-z0-9._-]+|\{\w+\}))+$/
/** 10,000 US dollars for a request or a million units. A higher price is probably a typing mistake. */
export const priceMaxMicroUsd = 10_000n * 10n ** BigInt(usdDecimals)

/** Parses `PRICES_USD`, such as `/api/data/crypto=0.03,/api/tools/pdf=0.1`. */
export function parsePrices(setting: string): ParsedList<ReadonlyMap<string, bigint>> {
  return parsePriced(setting, priceOf)
}

export function parsePriced<Price extends bigint | object>(
  setting: string,
  read: (entry: SettingEntry) => Price | string,
): ParsedList<ReadonlyMap<string, Price>> {
  const prices = new Map<string, Price>()
  const problems: string[] = []
  const entries = parseEntries(setting, '=')
  for (const entry of entries) {
    const price = read(entry)
    if (typeof price === 'string') problems.push(price)
    else prices.set(entry.name, price)
  }
  for (const name of repeatedNames(entries)) problems.push(`names "${name}" more than once; keep one price for it`)
  return parsedUnless(problems, prices)
}

/** Parses `PRODUCTS_OFF`, such as `/api/ai/chat,/api/tools/pdf`: the paths that are not sold. */
export function parseProductsOff(setting: string): ParsedList<ReadonlySet<string>> {
  const entries = parseEntries(setting, '=')
  const problems = entries
    .filter(({ text }) => !pathPattern.test(text))
    .map(({ text }) => `has "${text}": write paths such as /api/ai/chat, separated by commas`)
  return parsedUnless(problems, new Set(entries.map(({ text }) => text)))
}

function priceOf({ text, name, value }: SettingEntry): bigint | string {
  if (value === undefined || !pathPattern.test(name))
    return `has "${text}": write path=price, such as /api/data/crypto=0.03, separated by commas`
  return parsePriceMicroUsd(value) ?? `has "${text}": ${priceRule}`
}

export const priceRule = 'the price must be a decimal number of US dollars from 0.000001 to 10000, such as 0.03'

export function parsePriceMicroUsd(text: string): bigint | undefined {
  const priceMicroUsd = parseDecimal(text, usdDecimals)
  const isPrice = priceMicroUsd !== undefined && priceMicroUsd > 0n && priceMicroUsd <= priceMaxMicroUsd
  return isPrice ? priceMicroUsd : undefined
}

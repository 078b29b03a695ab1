import { parseDecimal } from '@tollbook/core/money'
import type { ParsedList, SettingEntry } from './commaList.ts'
import type { MeteredPrice } from './meteredPrice.ts'
import { parsePriced, priceRule } from './parsePrices.ts'
import { usdDecimals } from './priceList.ts'

export type MeteredPrices = ReadonlyMap<string, MeteredPrice>

/** Parses US dollars per million tokens of input and output, and the minimum: `small=0.2:0.8,large=3:12:0.001`. */
export function parseMeteredPrices(setting: string): ParsedList<MeteredPrices> {
  return parsePriced(setting, readMetered)
}

/** 10,000 dollars per million units. A higher price is probably a typing mistake. */
export const perMillionMaxMicroUsd = 10_000n * 1_000_000n

function readMetered({ text, name, value = '' }: SettingEntry): MeteredPrice | string {
  const [input = '', output = '', minimum = '0.000001', ...rest] = value.split(':')
  const [inputPerMillionMicroUsd, outputPerMillionMicroUsd] = [perMillion(input), perMillion(output)]
  if (name === '' || rest.length > 0 || inputPerMillionMicroUsd === undefined || outputPerMillionMicroUsd === undefined)
    return `has "${text}": write model=input:output or model=input:output:minimum, such as large=3:12:0.001, in US dollars per million tokens`
  const minimumMicroUsd = parseDecimal(minimum, usdDecimals)
  if (minimumMicroUsd === undefined || minimumMicroUsd === 0n) return `has "${text}": ${priceRule}`
  return { inputPerMillionMicroUsd, outputPerMillionMicroUsd, minimumMicroUsd }
}

function perMillion(text: string): bigint | undefined {
  const priceMicroUsd = parseDecimal(text, usdDecimals)
  const isPrice = priceMicroUsd !== undefined && priceMicroUsd > 0n && priceMicroUsd <= perMillionMaxMicroUsd
  return isPrice ? priceMicroUsd : undefined
}

import { z } from 'zod'
import { parseDecimal } from '@tollbook/core/money'
import { parsePriceMicroUsd, priceMaxMicroUsd, priceRule } from '../pricing/parsePrices.ts'
import { usdDecimals } from '../pricing/priceList.ts'

/** Accepts numbers too, because YAML reads an unquoted price as a number. */
export const priceText = z.union([z.string(), z.number()], priceRule).transform((value, context) => {
  const priceMicroUsd = parsePriceMicroUsd(String(value))
  if (priceMicroUsd !== undefined) return priceMicroUsd
  context.addIssue(priceRule)
  return z.NEVER
})

const rateRule = 'must be a decimal number of US dollars from 0 to 10000, such as 3'

/** US dollars per million units. Unlike `priceText`, it may be 0. */
export const rateText = z.union([z.string(), z.number()], rateRule).transform((value, context) => {
  const rate = parseDecimal(String(value), usdDecimals)
  if (rate !== undefined && rate <= priceMaxMicroUsd) return rate
  context.addIssue(rateRule)
  return z.NEVER
})

// Equal to the highest value of HANDLER_TIMEOUT_MS, which ends every attempt.
const durationMsMax = 300_000
const msOfUnit: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 }

export const durationText = quantityText('must be a time such as 500ms, 10s or 2m, at most 5m', msOfUnit, durationMsMax)

// Maximum of configurable sizes, because an answer is held in memory until it is committed.
const sizeBytesMax = 64 * 1024 * 1024
const bytesOfUnit: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 * 1024 }

export const sizeText = quantityText(
  'must be a size such as 512B, 256KiB or 8MiB, at most 64MiB',
  bytesOfUnit,
  sizeBytesMax,
)

function quantityText(rule: string, units: Readonly<Record<string, number>>, max: number) {
  return z.string(rule).transform((text, context) => {
    const [, count = '', unit = ''] = /^([1-9]\d{0,8})([A-Za-z]+)$/.exec(text) ?? []
    const quantity = Number(count) * (units[unit] ?? 0)
    if (quantity > 0 && quantity <= max) return quantity
    context.addIssue(rule)
    return z.NEVER
  })
}

/** Schema of a JSON pointer (RFC 6901), read as a list of names. */
export const pointerText = z
  .string()
  .regex(/^(\/([^~/]|~[01])+)+$/, 'must be a JSON pointer such as /model')
  .transform((text) => text.split('/').slice(1).map(unescapeName))

const unescapeName = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~')

export const statusCode = z.int('must be a status').min(200).max(599)

// Headers that only the upstream client may set, because they control the framing of messages and the connection.
const reserved =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|keep-alive)$/

export const headerName = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be a header name in lower case')
  .refine((name) => !reserved.test(name), 'is a header that the client of the upstream sets')

export const headerValue = z.string().regex(/^[\x20-\x7e]{0,4096}$/, 'must be printable ASCII')

// Headers that are never forwarded. They contain credentials, payments or the caller's address, or are set by this
// service. Cookies would connect different callers.
const privateNames =
  /^(authorization|cookie|set-cookie2?|proxy-.*|x-payment.*|payment-.*|x-wallet-address|x-forwarded-.*|forwarded|tollbook-.*|x-tollbook-.*|idempotency-key|x-request-id|content-type|content-encoding)$/

export const forwardedName = headerName.refine(
  (name) => !privateNames.test(name),
  'is a header of credentials, payments or proxies, and is not passed on',
)

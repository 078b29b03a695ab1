import { Fault } from '@tollbook/core/fault'

/*
 * A program may call another with up to 10 KiB of data, which is at most 13,985 characters of base58. The library
 * behind base58.ts stops at 4,096 characters and takes quadratic time. A transaction may contain 63 such calls, so this
 * code joins parts in pairs.
 */
const charactersMax = 13_985

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
// Digits per step: the most base58 digits that a double holds exactly (58^9 < 2^53).
const digitsAtOnce = 9

export function decodeInstructionData(text: string): Uint8Array {
  if (text.length > charactersMax) throw new Fault('the node gave instruction data of impossible length', healing)
  const value = valueOf(text)
  const hex = value === 0n ? '' : value.toString(16)
  const rest = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.alloc(leadingZeros(text)), rest])
}

/** Joins neighbouring parts in pairs, then the pairs, so that only the last few products have long factors. */
function valueOf(text: string): bigint {
  let parts: bigint[] = []
  for (let end = text.length; end > 0; end -= digitsAtOnce)
    parts.push(BigInt(numberOf(text, Math.max(0, end - digitsAtOnce), end)))
  // The least significant part comes first. Each part except the last has as many digits as the step.
  for (let digits = digitsAtOnce; parts.length > 1; digits *= 2) {
    const power = powerOf58(digits)
    const joined: bigint[] = []
    for (let at = 0; at < parts.length; at += 2) joined.push((parts[at + 1] ?? 0n) * power + (parts[at] ?? 0n))
    parts = joined
  }
  return parts[0] ?? 0n
}

const powers = new Map<number, bigint>()

function powerOf58(digits: number): bigint {
  const power = powers.get(digits) ?? 58n ** BigInt(digits)
  powers.set(digits, power)
  return power
}

const notADigit = 255
const digitOfCode = new Uint8Array(128).fill(notADigit)
for (let digit = 0; digit < alphabet.length; digit++) digitOfCode[alphabet.charCodeAt(digit)] = digit

function numberOf(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = digitOfCode[text.charCodeAt(at)] ?? notADigit
    if (digit === notADigit) throw new Fault('the node gave instruction data that is not base58', healing)
    value = value * 58 + digit
  }
  return value
}

/** Each leading 1 character encodes a zero byte. */
function leadingZeros(text: string): number {
  return text.length - text.replace(/^1+/, '').length
}

const healing = { retryable: true }

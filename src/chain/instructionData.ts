import { Fault } from '@tollbook/core/fault'

/*
 * A program may call another with up to 10 KiB of data, which base58 spells with at most 13,985 characters; the library
 * behind primitives/base58.ts stops at 4,096. This takes 2 ms for the longest.
 */
const charactersMax = 13_985

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
// The most digits of which a number keeps all: 58^9 < 2^53.
const digitsAtOnce = 9

/** Data of an instruction as encoded by a node. Text that is not base58 of that length was never on a chain. */
export function decodeInstructionData(text: string): Uint8Array {
  if (text.length > charactersMax) throw new Fault('the node gave instruction data of impossible length', healing)
  let value = 0n
  for (let at = 0; at < text.length; at += digitsAtOnce) {
    const digits = text.slice(at, at + digitsAtOnce)
    value = value * 58n ** BigInt(digits.length) + BigInt(numberOf(digits))
  }
  const hex = value === 0n ? '' : value.toString(16)
  const rest = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.alloc(leadingZeros(text)), rest])
}

function numberOf(digits: string): number {
  let value = 0
  for (const character of digits) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) throw new Fault('the node gave instruction data that is not base58', healing)
    value = value * 58 + digit
  }
  return value
}

/** Each leading 1 stands for a byte of zero. */
function leadingZeros(text: string): number {
  return text.length - text.replace(/^1+/, '').length
}

const healing = { retryable: true }

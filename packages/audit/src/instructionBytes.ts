import { base58 } from '@scure/base'

// Maximum of characters that the library decodes. A program may pass up to 13,985 to another program.
const libraryMax = 4_096
const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
// The most digits that a number holds exactly (58^9 < 2^53).
const digitsAtOnce = 9

export function instructionBytes(text: string): Buffer {
  if (text.length <= libraryMax) return Buffer.from(base58.decode(text))
  let value = 0n
  for (let at = 0; at < text.length; at += digitsAtOnce) {
    const part = text.slice(at, at + digitsAtOnce)
    let number = 0
    for (const digit of part) number = number * digits.length + digits.indexOf(digit)
    value = value * BigInt(digits.length) ** BigInt(part.length) + BigInt(number)
  }
  const hex = value === 0n ? '' : value.toString(16)
  // Each leading 1 is a zero byte.
  const zeros = text.length - text.replace(/^1+/, '').length
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')])
}

import { ed25519 } from '@noble/curves/ed25519'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { decodeBase58, encodeBase58 } from '@tollbook/core/base58'
import { concatBytes, utf8Bytes } from '@tollbook/core/bytes'
import { sha256 } from '@tollbook/core/digest'
import { Fault } from '@tollbook/core/fault'
import { associatedTokenProgram } from '@tollbook/core/programs'

export interface TokenAccountOwner {
  readonly wallet: string
  readonly mint: string
  readonly tokenProgram: string
}

/** Returns the account that wallets and services use for the mint by default. */
export function associatedTokenAccount({ wallet, tokenProgram, mint }: TokenAccountOwner): Address {
  return programAddress(associatedTokenProgram, [wallet, tokenProgram, mint].map(keyBytes))
}

/** Returns the first hash that is not on the curve, counting the bump down from 255. No private key can sign for it. */
function programAddress(program: string, seeds: readonly Uint8Array[]): Address {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = sha256(concatBytes([...seeds, Uint8Array.of(bump), keyBytes(program), marker]))
    if (!isOnCurve(hash)) return assertPresent(readAddress(encodeBase58(hash)), '32 bytes are an address')
  }
  throw new Fault(`the program ${program} has no address for these seeds`, { retryable: false })
}

const marker = utf8Bytes('ProgramDerivedAddress')

export function keyBytes(text: string): Uint8Array {
  const bytes = decodeBase58(text, 32)
  if (bytes === undefined) throw new Fault(`${text} is not base58 of 32 bytes`, { retryable: false })
  return bytes
}

function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.ExtendedPoint.fromHex(bytes)
    return true
  } catch {
    // The library throws if the bytes are not a point of the curve.
    return false
  }
}

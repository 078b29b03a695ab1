import type { Keypair } from '@solana/web3.js'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { toBase64Url } from '@tollbook/core/bytes'
import { ed25519Signer } from '@tollbook/core/ed25519'

export function signerKey({ secretKey }: Keypair) {
  const [d, x] = [secretKey.subarray(0, 32), secretKey.subarray(32)].map(toBase64Url)
  return ed25519Signer({ kty: 'OKP', crv: 'Ed25519', d: d ?? '', x: x ?? '' })
}

export function addressOf(text: string) {
  return assertPresent(readAddress(text), 'it is an address')
}

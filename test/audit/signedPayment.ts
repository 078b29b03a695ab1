import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { encodeBase58, decodeBase58 } from '@tollbook/core/base58'
import { assertPresent } from '@tollbook/core/assert'
import { randomBytesOf } from '@tollbook/core/id'
import { readAddress } from '@tollbook/core/address'
import type { Settlement } from '../../src/payment/settlement.ts'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import { transactionReference } from '../../src/payment/paymentReference.ts'
import { samplePrice, sampleSettlement } from '../store/samplePayment.ts'

/* A payment with a real signed transaction behind it, built byte by byte: a library would take a millisecond for each. */

export interface PayingWallet {
  readonly address: string
  readonly publicKey: Buffer
  readonly privateKey: KeyObject
}

export function makeWallet(): PayingWallet {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const bytes = Buffer.from(assertPresent(publicKey.export({ format: 'jwk' }).x, 'a JWK has x'), 'base64url')
  return { address: encodeBase58(bytes), publicKey: bytes, privateKey }
}

const tokenProgram = decode('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const memoProgram = decode('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const paymentTokenAccount = Buffer.from(randomBytesOf(32))

type GivenPayment = Partial<Settlement> & { readonly blockTimeMs: number }

/** The settlement of a burn and a transfer that this wallet has signed. */
export function signedSettlement(wallet: PayingWallet, { blockTimeMs, ...given }: GivenPayment): Settlement {
  const settlement = sampleSettlement({
    wallet: assertPresent(readAddress(wallet.address), 'a public key is an address'),
    ...given,
  })
  const { signature, transactionBase64 } = signedTransaction(wallet, messageOf(wallet, settlement))
  const evidence = { kind: 'solana', slot: 1_000, blockTimeMs, transactionBase64 } as const
  return { ...settlement, reference: transactionReference(signature), evidence }
}

interface SignedTransaction {
  readonly signature: Signature
  readonly transactionBase64: string
}

/** The transaction of a round of burning: this wallet burns, and sends nothing. */
export function signedBurn(
  wallet: PayingWallet,
  { mint, baseUnits }: { readonly mint: string; readonly baseUnits: bigint },
): SignedTransaction {
  const price = { ...samplePrice(), mint: assertPresent(readAddress(mint), 'a mint is an address') }
  return signedTransaction(wallet, messageOf(wallet, { price, burnedBaseUnits: baseUnits, receivedBaseUnits: 0n }))
}

function signedTransaction(wallet: PayingWallet, message: Buffer): SignedTransaction {
  const bytes = sign(null, message, wallet.privateKey)
  const signature = assertPresent(signatureOfBytes(bytes), '64 bytes are a signature')
  return { signature, transactionBase64: Buffer.concat([Buffer.of(1), bytes, message]).toString('base64') }
}

const [burnChecked, transferChecked] = [15, 12]

type Paid = Pick<Settlement, 'price' | 'burnedBaseUnits' | 'receivedBaseUnits'> & { readonly memo?: string | undefined }

function messageOf({ publicKey }: PayingWallet, settlement: Paid): Buffer {
  const { price, burnedBaseUnits, receivedBaseUnits, memo } = settlement
  const mint = decode(price.mint)
  const source = Buffer.alloc(32, publicKey[0])
  // Signer and source are writable, so is the account that is paid; mint and programs are read.
  const keys = [publicKey, source, paymentTokenAccount, mint, tokenProgram, memoProgram]
  const amount = (instruction: number, baseUnits: bigint): Buffer => {
    const data = Buffer.alloc(10)
    data[0] = instruction
    data.writeBigUInt64LE(baseUnits, 1)
    data[9] = price.decimals
    return data
  }
  const note = Buffer.from(memo ?? `nonce ${Buffer.from(randomBytesOf(6)).toString('hex')}`)
  return Buffer.concat([
    Buffer.of(1, 0, 3, keys.length),
    ...keys,
    randomBytesOf(32),
    Buffer.of(3),
    instruction(4, [1, 3, 0], amount(burnChecked, burnedBaseUnits)),
    instruction(4, [1, 3, 2, 0], amount(transferChecked, receivedBaseUnits)),
    instruction(5, [], note),
  ])
}

function instruction(program: number, accounts: readonly number[], data: Buffer): Buffer {
  return Buffer.concat([Buffer.of(program, accounts.length, ...accounts, data.length), data])
}

function decode(address: string): Buffer {
  return Buffer.from(assertPresent(decodeBase58(address, 32), 'an address has 32 bytes'))
}

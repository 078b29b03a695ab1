import {
  AccountType,
  ACCOUNT_SIZE,
  ExtensionType,
  getTransferFeeConfig,
  MINT_SIZE,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  unpackAccount,
  unpackMint,
} from '@solana/spl-token'
import { type AccountInfo, PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readMintState, readTokenAccountState } from '@tollbook/client/solana/tokenState'

/** The client reads mints and token accounts itself; @solana/spl-token says what is in them. */

const extension = fc
  .tuple(fc.constantFrom(0, ExtensionType.TransferFeeConfig, 3, 19), fc.oneof(fc.constant(108), fc.nat(120)))
  .chain(([type, length]) =>
    fc.uint8Array({ minLength: length, maxLength: length }).map((data) => {
      const head = Buffer.alloc(4)
      head.writeUInt16LE(type)
      head.writeUInt16LE(length, 2)
      return Buffer.concat([head, data])
    }),
  )

/** Account data with the layout of Token-2022, and data of other lengths and kinds. */
function accountData(plainBytes: number): fc.Arbitrary<Buffer> {
  const kind = fc.constantFrom(AccountType.Uninitialized, AccountType.Mint, AccountType.Account)
  const plain = fc.uint8Array({ minLength: plainBytes, maxLength: plainBytes }).map((data) => Buffer.from(data))
  const extended = fc.tuple(plain, kind, fc.array(extension, { maxLength: 4 })).map(([base, kind, extensions]) => {
    const padding = Buffer.alloc(ACCOUNT_SIZE - base.length)
    return Buffer.concat([base, padding, Buffer.of(kind), ...extensions])
  })
  const other = fc.uint8Array({ maxLength: 400 }).map((data) => Buffer.from(data))
  const cut = fc.tuple(extended, fc.nat(500)).map(([data, length]) => data.subarray(0, length))
  const multisig = fc.uint8Array({ minLength: 355, maxLength: 355 }).map((data) => Buffer.from(data))
  return fc.oneof(plain, { weight: 4, arbitrary: extended }, cut, multisig, other)
}

const program = fc.constantFrom(TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID)

function info(data: Buffer, owner: PublicKey): AccountInfo<Buffer> {
  return { data, owner, executable: false, lamports: 0 }
}

function unlessThrown<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function feeOf({ maximumFee, transferFeeBasisPoints }: { maximumFee: bigint; transferFeeBasisPoints: number }) {
  return { maximumBaseUnits: maximumFee, basisPoints: transferFeeBasisPoints }
}

test('a mint has the decimals and the transfer fee that @solana/spl-token reads, or is not a mint to either', () => {
  fc.assert(
    fc.property(accountData(MINT_SIZE), program, (data, program) => {
      const expected = unlessThrown(() => {
        const mint = unpackMint(PublicKey.default, info(data, program), program)
        const config = getTransferFeeConfig(mint)
        if (config === null) return { decimals: mint.decimals, transferFee: undefined }
        const { olderTransferFee: older, newerTransferFee: newer } = config
        const transferFee = { older: feeOf(older), newer: feeOf(newer), newerEpoch: newer.epoch }
        return { decimals: mint.decimals, transferFee }
      })
      expect(readMintState(data)).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})

test('a token account has the owner, tokens and state that @solana/spl-token reads, or is not a token account to either', () => {
  fc.assert(
    fc.property(accountData(ACCOUNT_SIZE), program, (data, program) => {
      const unpack = () => {
        const { owner, amount, isFrozen } = unpackAccount(PublicKey.default, info(data, program), program)
        return { owner: owner.toBase58(), heldBaseUnits: amount, isFrozen }
      }
      expect(readTokenAccountState(data)).toEqual(unlessThrown(unpack))
    }),
    { numRuns: 500 },
  )
})

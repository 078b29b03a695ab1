import {
  AuthorityType,
  createApproveInstruction,
  createBurnCheckedInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createInitializeAccount2Instruction,
  createInitializeAccount3Instruction,
  createInitializeAccountInstruction,
  createMintToCheckedInstruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  createTransferCheckedWithFeeInstruction,
  createTransferInstruction,
} from '@solana/spl-token'
import { PublicKey, TransactionInstruction } from '@solana/web3.js'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readTokenInstruction, type TokenEffect } from '../../src/chain/tokenInstruction.ts'
import { addressOf } from './chainFixture.ts'

function key(byte: number): PublicKey {
  return new PublicKey(Buffer.alloc(32, byte))
}

const [source, destination, mint, authority, owner] = [key(1), key(2), key(3), key(4), key(5)]
const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })

function read({ keys, data }: Pick<TransactionInstruction, 'keys' | 'data'>): readonly TokenEffect[] {
  return readTokenInstruction(
    keys.map(({ pubkey }) => addressOf(pubkey)),
    data,
  )
}

const at = {
  source: addressOf(source),
  destination: addressOf(destination),
  mint: addressOf(mint),
  authority: addressOf(authority),
  owner: addressOf(owner),
}

const withFee = createTransferCheckedWithFeeInstruction(source, mint, destination, authority, 1n, 6, 1n)

/** Each instruction that moves tokens, as the wallet library writes it, and what it has to be read as. */
function movements(amount: bigint): readonly (readonly [string, TransactionInstruction, TokenEffect])[] {
  const base = { authority: at.authority, amountBaseUnits: amount }
  const transfer = { ...base, kind: 'transfer', source: at.source, destination: at.destination } as const
  const burn = { ...base, kind: 'burn', source: at.source, destination: undefined, mint: at.mint } as const
  const mintTo = { ...base, kind: 'mintTo', source: undefined, destination: at.destination, mint: at.mint } as const
  return [
    ['Transfer', createTransferInstruction(source, destination, authority, amount), { ...transfer, mint: undefined }],
    [
      'TransferChecked',
      createTransferCheckedInstruction(source, mint, destination, authority, amount, 6),
      { ...transfer, mint: at.mint },
    ],
    [
      'TransferCheckedWithFee',
      createTransferCheckedWithFeeInstruction(source, mint, destination, authority, amount, 6, 1n),
      { ...transfer, mint: at.mint },
    ],
    ['Burn', createBurnInstruction(source, mint, authority, amount), burn],
    ['BurnChecked', createBurnCheckedInstruction(source, mint, authority, amount, 6), burn],
    ['MintTo', createMintToInstruction(mint, destination, authority, amount), mintTo],
    ['MintToChecked', createMintToCheckedInstruction(mint, destination, authority, amount, 6), mintTo],
  ]
}

const opening = { kind: 'open', tokenAccount: at.source, mint: at.mint, owner: at.owner } as const
const openings: readonly (readonly [string, TransactionInstruction])[] = [
  ['InitializeAccount', createInitializeAccountInstruction(source, mint, owner)],
  ['InitializeAccount2', createInitializeAccount2Instruction(source, mint, owner)],
  ['InitializeAccount3', createInitializeAccount3Instruction(source, mint, owner)],
]

const silent: readonly (readonly [string, TransactionInstruction])[] = [
  ['Approve', createApproveInstruction(source, authority, owner, 5n)],
  ['SetAuthority', createSetAuthorityInstruction(source, owner, AuthorityType.AccountOwner, authority)],
  ['CloseAccount', createCloseAccountInstruction(source, destination, owner)],
]

describe('one instruction', () => {
  test('is read as what the wallet library wrote, whatever the amount', () => {
    fc.assert(
      fc.property(u64, (amount) => {
        for (const [name, instruction, effect] of movements(amount)) expect(read(instruction), name).toEqual([effect])
      }),
    )
  })

  for (const [name, instruction] of openings) {
    test(`${name} shows whose account it opens`, () => {
      expect(read(instruction)).toEqual([opening])
    })
  }

  for (const [name, instruction] of silent) {
    test(`${name} moves nothing`, () => {
      expect(read(instruction)).toEqual([])
    })
  }

  test('that is cut short, or lacks an account, moves nothing', () => {
    for (const [name, { keys, data }] of movements(7n)) {
      const amountEnd = name === 'TransferCheckedWithFee' ? 10 : 9
      expect(read({ keys, data: data.subarray(0, amountEnd - 1) }), name).toEqual([])
      const authorityAt = keys.findIndex(({ pubkey }) => pubkey.equals(authority))
      expect(read({ keys: keys.slice(0, authorityAt), data }), name).toEqual([])
    }
  })

  test('of the transfer fee extension that is not a transfer moves nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ minLength: 17, maxLength: 17 }), (second, rest) => {
        fc.pre(second !== 1)
        expect(read({ keys: withFee.keys, data: Buffer.from([26, second, ...rest]) })).toEqual([])
      }),
    )
  })
})

describe('a Batch', () => {
  const some = u64.chain((amount) => fc.array(fc.constantFrom(...movements(amount)), { maxLength: 6 }))

  test('is read as its instructions one after the other, each with its own accounts', () => {
    fc.assert(
      fc.property(some, (inside) => {
        const instructions = inside.map(([, instruction]) => instruction)
        expect(read(batchOf(instructions))).toEqual(inside.map(([, , effect]) => effect))
      }),
    )
  })

  test('within a Batch is not followed, because the program refuses it, and shifts nothing behind it', () => {
    const inner = batchOf([createBurnInstruction(source, mint, authority, 9n)])
    const behind = createBurnInstruction(destination, mint, authority, 8n)

    expect(read(batchOf([inner, behind]))).toEqual(read(behind))
  })

  test('that is cut short gives what stands before the cut', () => {
    const instructions = movements(9n).map(([, instruction]) => instruction)
    const { keys, data } = batchOf(instructions)

    for (let length = 0; length <= data.length; length++) {
      const effects = read({ keys, data: data.subarray(0, length) })
      expect(effects).toEqual(
        movements(9n)
          .slice(0, effects.length)
          .map(([, , effect]) => effect),
      )
    }
  })
})

test('arbitrary bytes neither crash the reader nor make it name an account or an amount that is not there', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    // Biased to what means something, because most first bytes mean nothing.
    fc
      .tuple(fc.constantFrom(1, 3, 7, 8, 12, 14, 15, 16, 18, 26, 255), fc.uint8Array({ maxLength: 80 }))
      .map(([first, rest]) => Uint8Array.from([first, ...rest])),
  )
  const someAccounts = fc.array(fc.constantFrom(source, destination, mint, authority, owner), { maxLength: 6 })
  fc.assert(
    fc.property(someAccounts, bytes, (accounts, data) => {
      const known = new Set(accounts.map(addressOf))
      const effects = readTokenInstruction(accounts.map(addressOf), data)
      expect(effects.length).toBeLessThanOrEqual(data[0] === 255 ? data.length / 2 : 1)
      for (const effect of effects) {
        if (effect.kind === 'open') expect(known.has(effect.tokenAccount) && known.has(effect.mint)).toBe(true)
        else {
          expect(known.has(effect.authority)).toBe(true)
          expect(hexOf(data)).toContain(amountHex(effect.amountBaseUnits))
        }
      }
    }),
    { numRuns: 5_000 },
  )
})

function batchOf(instructions: readonly TransactionInstruction[]): TransactionInstruction {
  const parts = instructions.map(({ keys, data }) => Buffer.concat([Buffer.from([keys.length, data.length]), data]))
  return new TransactionInstruction({
    programId: source,
    keys: instructions.flatMap(({ keys }) => keys),
    data: Buffer.concat([Buffer.from([255]), ...parts]),
  })
}

function hexOf(data: Uint8Array): string {
  return Buffer.from(data).toString('hex')
}

function amountHex(amount: bigint): string {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(amount)
  return bytes.toString('hex')
}

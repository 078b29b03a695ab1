import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeInstructionData } from '../../src/chain/instructionData.ts'
import { callsOf, parseEffects } from '../../src/chain/transferParser.ts'
import { memoProgram, splTokenProgram, token2022Program } from '@tollbook/core/programs'
import { encodeBase58 } from '@tollbook/core/base58'
import { Fault } from '@tollbook/core/fault'

function address(byte: number): string {
  return encodeBase58(Buffer.alloc(32, byte))
}

const [wallet, source, destination, mint] = [address(1), address(2), address(3), address(4)]
const accountKeys = [wallet, source, destination, mint, splTokenProgram, token2022Program, memoProgram, address(9)]
const at = { wallet: 0, source: 1, destination: 2, mint: 3, token: 4, memo: 6, unknown: 7 }

function amountBytes(first: number, amount: bigint): Uint8Array {
  const data = Buffer.alloc(9)
  data[0] = first
  data.writeBigUInt64LE(amount, 1)
  return data
}

interface Placed {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: Uint8Array
}

function parse(instructions: readonly Placed[], balances: readonly Reported[] = []) {
  const raw = instructions.map(({ programIdIndex, accounts, data }) => ({
    programIdIndex,
    accounts: [...accounts],
    data: encodeBase58(data),
  }))
  return parseEffects({
    accountKeys,
    calls: callsOf(accountKeys, raw),
    preTokenBalances: balances.map(({ before, ...reported }) => balanceOf(reported, before)),
    postTokenBalances: balances.map(({ after, ...reported }) => balanceOf(reported, after)),
  })
}

interface Reported {
  readonly accountIndex: number
  readonly before: bigint
  readonly after: bigint
}

function balanceOf({ accountIndex }: Pick<Reported, 'accountIndex'>, amount: bigint) {
  return { accountIndex, mint, owner: wallet, uiTokenAmount: { amount: amount.toString() } }
}

const burn = { programIdIndex: at.token, accounts: [at.source, at.mint, at.wallet], data: amountBytes(8, 30n) }
const plainTransfer = {
  programIdIndex: at.token,
  accounts: [at.source, at.destination, at.wallet],
  data: amountBytes(3, 70n),
}

describe('movements', () => {
  test('of a Transfer, which names no mint, have the mint that the balances show', () => {
    const reported = [{ accountIndex: at.source, before: 100n, after: 30n }]
    const expected = { kind: 'transfer', mint, source, destination, authority: wallet, amountBaseUnits: 70n }

    expect(parse([plainTransfer], reported).movements).toEqual([{ ...expected, tokenProgram: splTokenProgram }])
  })

  test('of a Transfer have the mint that shows only at its destination', () => {
    const reported = [{ accountIndex: at.destination, before: 0n, after: 70n }]

    expect(parse([plainTransfer], reported).movements).toMatchObject([{ mint, source, destination }])
  })

  test('of a Transfer whose mint nothing shows are none', () => {
    expect(parse([plainTransfer]).movements).toEqual([])
  })

  test('of a Transfer have the mint of another instruction that names the source', () => {
    expect(parse([burn, plainTransfer]).movements).toMatchObject([{ kind: 'burn' }, { kind: 'transfer', mint }])
  })

  test('are not read from programs that are not token programs', () => {
    expect(parse([{ ...burn, programIdIndex: at.unknown }]).movements).toEqual([])
  })

  test('keep all the digits of the largest amounts', () => {
    const most = (1n << 64n) - 1n
    const reported = [{ accountIndex: at.source, before: most, after: 0n }]
    const { movements, balances } = parse([{ ...burn, data: amountBytes(8, most) }], reported)

    expect(movements).toMatchObject([{ amountBaseUnits: 18_446_744_073_709_551_615n }])
    expect(balances).toMatchObject([{ beforeBaseUnits: 18_446_744_073_709_551_615n }])
  })
})

describe('arbitrary answers', () => {
  const instruction = fc.record({
    programIdIndex: fc.integer({ min: 0, max: 8 }),
    accounts: fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 5 }),
    data: fc.uint8Array({ maxLength: 40 }),
  })
  const reported = fc.record({
    accountIndex: fc.integer({ min: 0, max: 8 }),
    before: fc.bigInt({ min: 0n, max: 1n << 64n }),
    after: fc.bigInt({ min: 0n, max: 1n << 64n }),
  })

  test('are read or are a fault, and never anything else', () => {
    fc.assert(
      fc.property(
        fc.array(instruction, { maxLength: 6 }),
        fc.array(reported, { maxLength: 4 }),
        (instructions, balances) => {
          const parsed = readOrFault(() => parse(instructions, balances))
          if (parsed instanceof Fault) return
          const tokenCalls = instructions.filter(({ programIdIndex }) => programIdIndex === 4 || programIdIndex === 5)
          if (tokenCalls.length === 0) expect(parsed.movements).toEqual([])
          for (const movement of parsed.movements) expect(accountKeys).toContain(movement.authority)
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('leave what was read before them as it was', () => {
    fc.assert(
      fc.property(fc.array(instruction, { maxLength: 6 }), (instructions) => {
        const parsed = readOrFault(() => parse([burn, ...instructions]))
        if (parsed instanceof Fault) return
        expect(parsed.movements[0]).toMatchObject({ kind: 'burn', source, mint, amountBaseUnits: 30n })
      }),
    )
  })
})

function readOrFault<T>(read: () => T): T | Fault {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

describe('instruction data', () => {
  test('is decoded as the base58 library decodes it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_300 }), (data) => {
        expect(Buffer.from(decodeInstructionData(encodeBase58(data)))).toEqual(Buffer.from(data))
      }),
    )
  })

  test('of the 10 KiB that one program may hand to another is decoded', () => {
    const data = Buffer.alloc(10_240, 0xa7)

    expect(decodeInstructionData(longBase58(data))).toEqual(data)
  })

  test.each([
    ['a character that is none of base58', '2VfUX0'],
    ['a line break', '2VfUX\n'],
    ['more than a chain can hold', '2'.repeat(13_986)],
  ])('with %s is a fault', (_name, text) => {
    expect(() => decodeInstructionData(text)).toThrow(Fault)
  })

  test('of a memo that no quote can have is not decoded, however often it is called (I31)', () => {
    // Not base58, so that decoding it would be a fault.
    const long = { programIdIndex: at.memo, accounts: [], data: 'O'.repeat(13_985) }

    const calls = callsOf(
      accountKeys,
      Array.from({ length: 63 }, () => long),
    )

    expect(calls).toHaveLength(63)
    expect(calls[0]).toEqual({ program: memoProgram, effects: [], memo: undefined })
  })

  test('of a memo as long as a transaction is decoded', () => {
    const memo = 'x'.repeat(1_232)
    const calls = callsOf(accountKeys, [{ programIdIndex: at.memo, accounts: [], data: longBase58(Buffer.from(memo)) }])

    expect(calls).toEqual([{ program: memoProgram, effects: [], memo }])
  })
})

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** By long division, for data without leading zeros. */
function longBase58(data: Uint8Array): string {
  const digits: string[] = []
  for (let rest = BigInt(`0x${Buffer.from(data).toString('hex')}`); rest > 0n; rest /= 58n) {
    digits.push(alphabet[Number(rest % 58n)] ?? '')
  }
  return digits.toReversed().join('')
}

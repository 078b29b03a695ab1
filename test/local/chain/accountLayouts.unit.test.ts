import { expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { memoText, parsedInstructionJson } from '@tollbook/localnet/parsedInstruction'
import { accountFilters, matchesFilters } from '@tollbook/localnet/programFilter'
import { type ProgramName, programBytes } from '@tollbook/localnet/programs'
import { RequestWatch } from '@tollbook/localnet/requestWatch'
import { parseMint, parseTokenAccount } from '@tollbook/localnet/tokenAccount'
import { tokenAmountJson } from '@tollbook/localnet/tokenAmount'

/* Bytes of accounts and instructions, without a chain. */

const [mint, owner] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]

/** A token account or a mint of this length, with these bytes at these places. */
function account(program: ProgramName, length: number, bytes: Readonly<Record<number, number>>) {
  const data = new Uint8Array(length)
  data.set(mint, 0)
  data.set(owner, 32)
  for (const [place, byte] of Object.entries(bytes)) data[Number(place)] = byte
  return { lamports: 1n, owner: programBytes(program), data, executable: false }
}

test.each([
  ['not initialised', account('token', 165, { 108: 0 }), undefined],
  ['initialised', account('token', 165, { 64: 5, 65: 1, 108: 1 }), 261n],
  ['frozen', account('token', 165, { 64: 5, 108: 2 }), 5n],
  ['with extensions', account('token2022', 200, { 64: 7, 108: 1, 165: 2 }), 7n],
  ['a mint with extensions', account('token2022', 200, { 108: 1, 165: 1 }), undefined],
  ['a multisig', account('token2022', 355, { 108: 1, 165: 2 }), undefined],
  ['with extensions, but of the older program', account('token', 200, { 108: 1, 165: 2 }), undefined],
  ['of another program', account('system', 165, { 108: 1 }), undefined],
])('a token account that is %s', (_name, given, amount) => {
  expect(parseTokenAccount(given)).toEqual(amount === undefined ? undefined : { mint, owner, amount })
})

test.each([
  ['not initialised', account('token', 82, { 45: 0 }), undefined],
  ['initialised', account('token', 82, { 44: 6, 45: 1 }), 6],
  ['with extensions', account('token2022', 200, { 44: 9, 45: 1, 165: 1 }), 9],
  ['a token account with extensions', account('token2022', 200, { 45: 1, 165: 2 }), undefined],
])('a mint that is %s', (_name, given, decimals) => {
  expect(parseMint(given)?.decimals).toBe(decimals)
})

test('an account matches all filters, and no comparison beyond its end', () => {
  const data = Uint8Array.of(1, 2, 3)
  const compared = (offset: number, ...bytes: readonly number[]) => ({
    memcmp: { offset, bytes: Uint8Array.of(...bytes) },
  })
  expect(matchesFilters(data, [{ dataSize: 3 }, compared(1, 2, 3)])).toBe(true)
  expect(matchesFilters(data, [{ dataSize: 3 }, compared(1, 3)])).toBe(false)
  expect(matchesFilters(data, [{ dataSize: 4 }, compared(1, 2)])).toBe(false)
  expect(matchesFilters(data, [compared(2, 3, 0)])).toBe(false)
})

test('a filter compares 128 bytes at most', () => {
  const isAccepted = (length: number) => {
    const bytes = encodeBase58(new Uint8Array(length).fill(9))
    return accountFilters.safeParse([{ memcmp: { offset: 0, bytes } }]).success
  }
  expect([isAccepted(128), isAccepted(129)]).toEqual([true, false])
})

const addresses = [3, 4, 5, 6, 7].map((byte) => new Uint8Array(32).fill(byte))
const accountNames = addresses.map(encodeBase58)

/** An instruction of the program with all addresses as its accounts. */
function shown(program: ProgramName, data: Uint8Array): unknown {
  const keys = [programBytes(program), ...addresses].map((address) => {
    return { address, signer: false, writable: false, source: 'transaction' as const }
  })
  const instruction = { programIndex: 0, accountIndexes: Uint8Array.of(1, 2, 3, 4, 5), data }
  return parsedInstructionJson({ instruction, keys, stackHeight: 1 })
}

const u64 = (amount: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(amount)
  return bytes
}

test('a transfer with a fee shows amount, fee and the signers of a multisig', () => {
  const data = Buffer.concat([Buffer.of(26, 1), u64(500n), Buffer.of(2), u64(5n)])
  expect(shown('token2022', data)).toMatchObject({
    program: 'spl-token',
    parsed: {
      type: 'transferCheckedWithFee',
      info: {
        source: accountNames[0],
        mint: accountNames[1],
        destination: accountNames[2],
        multisigAuthority: accountNames[3],
        signers: [accountNames[4]],
        tokenAmount: { amount: '500', decimals: 2 },
        feeAmount: { amount: '5', decimals: 2 },
      },
    },
  })
})

test('a new account shows lamports, space and owner', () => {
  const data = Buffer.concat([Buffer.of(0, 0, 0, 0), u64(10n), u64(165n), owner])
  expect(shown('system', data)).toMatchObject({
    parsed: {
      type: 'createAccount',
      info: {
        source: accountNames[0],
        newAccount: accountNames[1],
        lamports: 10,
        space: 165,
        owner: encodeBase58(owner),
      },
    },
  })
})

test.each<[string, ProgramName, Uint8Array]>([
  ['a transfer without its decimals', 'token', Buffer.concat([Buffer.of(12), u64(1n)])],
  ['a fee without its amount', 'token2022', Buffer.concat([Buffer.of(26, 1), u64(1n), Buffer.of(2)])],
  ['an unknown instruction', 'token', Buffer.of(99)],
  ['an account without its owner', 'system', Buffer.concat([Buffer.of(0, 0, 0, 0), u64(1n), u64(1n)])],
  ['a memo that is not UTF-8', 'memo', Buffer.of(0xff)],
  ['a program without decoder', 'computeBudget', Buffer.of(2)],
])('%s is shown as bytes', (_name, program, data) => {
  expect(shown(program, data)).toEqual({
    programId: encodeBase58(programBytes(program)),
    accounts: accountNames,
    data: encodeBase58(data),
    stackHeight: 1,
  })
})

test('a memo keeps its byte order mark, and an amount with 20 decimals has no number', () => {
  expect(memoText(Buffer.from('\ufeffa'))).toBe('\ufeffa')
  expect(tokenAmountJson(1n, 19).uiAmount).toBe(1e-19)
  expect(tokenAmountJson(1n, 20)).toEqual({
    amount: '1',
    decimals: 20,
    uiAmount: null,
    uiAmountString: '0.00000000000000000001',
  })
})

test('rules for failing calls apply one after the other, each to its number of calls of its method', () => {
  const watch = new RequestWatch()
  watch.fail({ method: 'getSlot', times: 2, outcome: 'hang' })
  watch.fail({ method: 'getSlot', times: 1, outcome: 'disconnect' })
  expect(watch.note('getHealth')).toBeUndefined()
  const outcomes = Array.from({ length: 4 }, () => watch.note('getSlot')?.outcome)
  expect(outcomes).toEqual(['hang', 'hang', 'disconnect', undefined])
  watch.note('localnet_nodes')
  expect(Object.fromEntries(watch.counts())).toEqual({ getHealth: 1, getSlot: 4 })
  watch.forgetCounts()
  expect(watch.counts().size).toBe(0)
})

import { base58 } from '@scure/base'
import { instructionBytes } from './instructionBytes.ts'

/* Reads token movements from instructions, by the public layouts of the token programs. */

export interface TokenMove {
  readonly kind: 'burn' | 'transfer' | 'mint'
  readonly source: string | undefined
  readonly destination: string | undefined
  /** Mint of the tokens. Undefined for a plain transfer, which does not name it. */
  readonly mint: string | undefined
  readonly authority: string
  readonly amountBaseUnits: bigint
}

const tokenPrograms = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
])
const memoPrograms = new Set([
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
])
// Programs whose usual instructions move no tokens. Any other program may call a token program to move tokens.
const quietPrograms = new Set([
  '11111111111111111111111111111111',
  'ComputeBudget111111111111111111111111111111',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
])

/**
 * True if the instructions of the program show all their token moves, so that the stored bytes suffice to check the
 * amounts.
 */
export function showsItsMoves(program: string): boolean {
  return tokenPrograms.has(program) || memoPrograms.has(program) || quietPrograms.has(program)
}

interface Layout {
  readonly kind: TokenMove['kind']
  /** Indexes into the accounts of the instruction. */
  readonly source?: number
  readonly destination?: number
  readonly mint?: number
  readonly authority: number
}

const transferChecked = 12
const batch = 255
// The transfer fee extension of Token-2022. Its instruction 1, TransferCheckedWithFee, has the accounts of
// TransferChecked.
const feeExtension = 26
// 3: Transfer, 7: MintTo, 8: Burn, 12: TransferChecked, 14: MintToChecked, 15: BurnChecked.
const layouts = new Map<number, Layout>([
  [3, { kind: 'transfer', source: 0, destination: 1, authority: 2 }],
  [7, { kind: 'mint', mint: 0, destination: 1, authority: 2 }],
  [8, { kind: 'burn', source: 0, mint: 1, authority: 2 }],
  [transferChecked, { kind: 'transfer', source: 0, mint: 1, destination: 2, authority: 3 }],
  [14, { kind: 'mint', mint: 0, destination: 1, authority: 2 }],
  [15, { kind: 'burn', source: 0, mint: 1, authority: 2 }],
])

/** The opening of a token account. For a temporary account, the opening is the only record of the owner. */
export interface TokenOpening {
  readonly account: string
  readonly mint: string
  readonly owner: string
}

export interface ProgramCall {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Buffer
}

type TokenCall = Pick<ProgramCall, 'accounts' | 'data'>

// Maximum of cached addresses: programs, mints, and accounts of callers who pay repeatedly.
const addressesMax = 10_000
const addresses = new Map<string, string>()

/** Returns an address in base58. The result is cached, because consecutive transactions often use the same addresses. */
export function addressOf(bytes: Buffer): string {
  const name = bytes.toString('latin1')
  const known = addresses.get(name)
  if (known !== undefined) return known
  const address = base58.encode(bytes)
  if (addresses.size >= addressesMax) addresses.clear()
  addresses.set(name, address)
  return address
}

// Maximum length of a memo that is decoded, in characters. The service ignores a longer memo. The memo of a quote has
// 52 bytes.
const memoCharactersMax = 1_700
const unread = Buffer.alloc(0)

/** Decodes only instructions that can contain a move or a memo of Tollbook, because others may be long. */
export function dataOf(program: string, text: string): Buffer {
  const isMemo = memoPrograms.has(program) && text.length <= memoCharactersMax
  return isMemo || tokenPrograms.has(program) ? instructionBytes(text) : unread
}

const memoPrefix = 'tollbook:'

/** Returns the memos of Tollbook, which bind a payment to a quote. */
export function memosOf(calls: readonly ProgramCall[]): readonly string[] {
  return calls
    .filter(({ program }) => memoPrograms.has(program))
    .map(({ data }) => data.toString('utf8'))
    .filter((text) => text.startsWith(memoPrefix))
}

/** Returns the moves of all instructions. A Batch instruction can contain several moves. */
export function movesIn(calls: readonly ProgramCall[]): readonly TokenMove[] {
  return tokenCallsIn(calls).flatMap((call) => moveOf(call) ?? [])
}

export function openingsIn(calls: readonly ProgramCall[]): readonly TokenOpening[] {
  return tokenCallsIn(calls).flatMap((call) => openingOf(call) ?? [])
}

export function sumOf(moves: readonly TokenMove[]): bigint {
  return moves.reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
}

function tokenCallsIn(calls: readonly ProgramCall[]): readonly TokenCall[] {
  return calls
    .filter(({ program }) => tokenPrograms.has(program))
    .flatMap((call) => (call.data[0] === batch ? batchedCalls(call) : [call]))
}

function moveOf({ accounts, data }: TokenCall): TokenMove | undefined {
  const withFee = data[0] === feeExtension && data[1] === 1
  const layout = layouts.get(withFee ? transferChecked : (data[0] ?? batch))
  const amountAt = withFee ? 2 : 1
  if (layout === undefined || data.length < amountAt + 8) return undefined
  const at = (index: number | undefined) => (index === undefined ? undefined : accounts[index])
  const authority = at(layout.authority)
  if (authority === undefined) return undefined
  const [source, destination, mint] = [layout.source, layout.destination, layout.mint].map(at)
  return { kind: layout.kind, source, destination, mint, authority, amountBaseUnits: data.readBigUInt64LE(amountAt) }
}

const initializeAccount = 1
// Numbers of InitializeAccount2 and InitializeAccount3, which have the owner in their data.
const initializeWithOwner = new Set([16, 18])
const addressBytes = 32

function openingOf({ accounts, data }: TokenCall): TokenOpening | undefined {
  const [account, mint, third] = accounts
  if (account === undefined || mint === undefined) return undefined
  if (data[0] === initializeAccount) return third === undefined ? undefined : { account, mint, owner: third }
  if (!initializeWithOwner.has(data[0] ?? batch) || data.length < 1 + addressBytes) return undefined
  return { account, mint, owner: addressOf(data.subarray(1, 1 + addressBytes)) }
}

/**
 * Splits a Batch instruction into its inner instructions. After the byte 255, each inner instruction has its number of
 * accounts, its length and its data. The accounts of all inner instructions follow one another in one list.
 */
function batchedCalls({ accounts, data }: TokenCall): readonly TokenCall[] {
  const calls: TokenCall[] = []
  let taken = 0
  for (let at = 1; at + 1 < data.length;) {
    const count = data.readUInt8(at)
    const length = data.readUInt8(at + 1)
    const inner = data.subarray(at + 2, at + 2 + length)
    // Skip a nested Batch, because the token program rejects it.
    if (inner[0] !== batch) calls.push({ accounts: accounts.slice(taken, taken + count), data: inner })
    taken += count
    at += 2 + length
  }
  return calls
}

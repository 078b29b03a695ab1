import { addressOf } from './base58Text.ts'

/* Token movements of one instruction, from the public layouts of the token programs. */

export interface TokenMove {
  readonly kind: 'burn' | 'transfer' | 'mint'
  readonly source: string | undefined
  readonly destination: string | undefined
  /** A plain transfer does not name it. */
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
// These move no tokens. Any other program may call a token program.
const quietPrograms = new Set([
  '11111111111111111111111111111111',
  'ComputeBudget111111111111111111111111111111',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
])

export function isTokenProgram(program: string): boolean {
  return tokenPrograms.has(program)
}

export function isMemoProgram(program: string): boolean {
  return memoPrograms.has(program)
}

/** Does the instruction itself show all that it does with tokens? */
export function showsItsMoves(program: string): boolean {
  return tokenPrograms.has(program) || memoPrograms.has(program) || quietPrograms.has(program)
}

interface Layout {
  readonly kind: TokenMove['kind']
  /** Which account of the instruction is what. */
  readonly source?: number
  readonly destination?: number
  readonly mint?: number
  readonly authority: number
}

const transfer = 3
const batch = 255
const feeExtension = 26
const layouts = new Map<number, Layout>([
  [transfer, { kind: 'transfer', source: 0, destination: 1, authority: 2 }],
  [7, { kind: 'mint', mint: 0, destination: 1, authority: 2 }],
  [8, { kind: 'burn', source: 0, mint: 1, authority: 2 }],
  [12, { kind: 'transfer', source: 0, mint: 1, destination: 2, authority: 3 }],
  [14, { kind: 'mint', mint: 0, destination: 1, authority: 2 }],
  [15, { kind: 'burn', source: 0, mint: 1, authority: 2 }],
])
const transferWithFee: Layout = { kind: 'transfer', source: 0, mint: 1, destination: 2, authority: 3 }

/** The opening of a token account: the only trace of its owner where the account does not outlive the transaction. */
export interface TokenOpening {
  readonly account: string
  readonly mint: string
  readonly owner: string
}

/** One instruction of a token program. */
export interface TokenCall {
  readonly accounts: readonly string[]
  readonly data: Buffer
}

/** The moves of one instruction; a Batch holds several. */
export function tokenMovesOf(accounts: readonly string[], data: Buffer): readonly TokenMove[] {
  if (data[0] === batch) return batchedCalls({ accounts, data }).flatMap((call) => moveOf(call) ?? [])
  const move = moveOf({ accounts, data })
  return move === undefined ? [] : [move]
}

/** The token accounts that one instruction opens; a Batch holds several. */
export function tokenOpeningsOf(accounts: readonly string[], data: Buffer): readonly TokenOpening[] {
  const calls = data[0] === batch ? batchedCalls({ accounts, data }) : [{ accounts, data }]
  return calls.flatMap((call) => openingOf(call) ?? [])
}

function moveOf({ accounts, data }: TokenCall): TokenMove | undefined {
  const withFee = data[0] === feeExtension && data[1] === 1
  const layout = withFee ? transferWithFee : layouts.get(data[0] ?? batch)
  const amountAt = withFee ? 2 : 1
  if (layout === undefined || data.length < amountAt + 8) return undefined
  const at = (index: number | undefined) => (index === undefined ? undefined : accounts[index])
  const authority = at(layout.authority)
  if (authority === undefined) return undefined
  const { kind } = layout
  const amountBaseUnits = data.readBigUInt64LE(amountAt)
  return {
    kind,
    source: at(layout.source),
    destination: at(layout.destination),
    mint: at(layout.mint),
    authority,
    amountBaseUnits,
  }
}

const initializeAccount = 1
// InitializeAccount2 and 3 name the owner in their data.
const initializeWithOwner = new Set([16, 18])
const addressBytes = 32

function openingOf({ accounts, data }: TokenCall): TokenOpening | undefined {
  const [account, mint, third] = accounts
  if (account === undefined || mint === undefined) return undefined
  if (data[0] === initializeAccount) return third === undefined ? undefined : { account, mint, owner: third }
  if (!initializeWithOwner.has(data[0] ?? batch) || data.length < 1 + addressBytes) return undefined
  return { account, mint, owner: addressOf(data.subarray(1, 1 + addressBytes)) }
}

/** 255, then for each inner instruction: its number of accounts, its length, its data. Accounts follow each other. */
function batchedCalls({ accounts, data }: TokenCall): readonly TokenCall[] {
  const calls: TokenCall[] = []
  let taken = 0
  for (let at = 1; at + 1 < data.length;) {
    const count = data.readUInt8(at)
    const length = data.readUInt8(at + 1)
    const inner = data.subarray(at + 2, at + 2 + length)
    // The token program refuses a Batch within a Batch.
    if (inner[0] !== batch) calls.push({ accounts: accounts.slice(taken, taken + count), data: inner })
    taken += count
    at += 2 + length
  }
  return calls
}

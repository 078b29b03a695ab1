/* Token movements of one instruction, from the public layouts of the token programs. */

export interface TokenMove {
  readonly kind: 'burn' | 'transfer' | 'mint'
  readonly source: string | undefined
  readonly destination: string | undefined
  /** A plain transfer does not name it. */
  readonly mint: string | undefined
  readonly authority: string
  readonly amount: bigint
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

/** The moves of one instruction; a Batch holds several. */
export function tokenMovesOf(accounts: readonly string[], data: Buffer): readonly TokenMove[] {
  if (data[0] === batch) return batchMoves(accounts, data)
  const withFee = data[0] === feeExtension && data[1] === 1
  const layout = withFee ? transferWithFee : layouts.get(data[0] ?? batch)
  const amountAt = withFee ? 2 : 1
  if (layout === undefined || data.length < amountAt + 8) return []
  const at = (index: number | undefined) => (index === undefined ? undefined : accounts[index])
  const authority = at(layout.authority)
  if (authority === undefined) return []
  const { kind } = layout
  const amount = data.readBigUInt64LE(amountAt)
  return [
    { kind, source: at(layout.source), destination: at(layout.destination), mint: at(layout.mint), authority, amount },
  ]
}

/** 255, then for each inner instruction: its number of accounts, its length, its data. Accounts follow each other. */
function batchMoves(accounts: readonly string[], data: Buffer): readonly TokenMove[] {
  const moves: TokenMove[] = []
  let taken = 0
  for (let at = 1; at + 1 < data.length;) {
    const count = data.readUInt8(at)
    const length = data.readUInt8(at + 1)
    const inner = data.subarray(at + 2, at + 2 + length)
    if (inner[0] !== batch) moves.push(...tokenMovesOf(accounts.slice(taken, taken + count), inner))
    taken += count
    at += 2 + length
  }
  return moves
}

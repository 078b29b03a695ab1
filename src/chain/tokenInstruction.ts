import { encodeBase58 } from '@tollbook/core/base58'
import { type Address, readAddress } from '@tollbook/core/address'

/** Effect of one token instruction. A plain Transfer does not name its mint, so `mint` is then undefined. */
export type TokenEffect =
  | {
      readonly kind: 'burn' | 'transfer' | 'mintTo'
      readonly source: Address | undefined
      readonly destination: Address | undefined
      readonly mint: Address | undefined
      readonly authority: Address
      readonly amountBaseUnits: bigint
    }
  | { readonly kind: 'open'; readonly tokenAccount: Address; readonly mint: Address; readonly owner: Address }

/** The positions are in the instruction's account list. `amountAt` is a position in its data. */
interface Layout {
  readonly kind: 'burn' | 'transfer' | 'mintTo'
  readonly source?: number
  readonly destination?: number
  readonly mint?: number
  readonly authority: number
  readonly amountAt: number
}

// Layouts by instruction number. Token-2022 uses the numbers of SPL Token and adds its own from 25 on.
const layouts: ReadonlyMap<number, Layout> = new Map<number, Layout>([
  [3, { kind: 'transfer', source: 0, destination: 1, authority: 2, amountAt: 1 }],
  [7, { kind: 'mintTo', mint: 0, destination: 1, authority: 2, amountAt: 1 }],
  [8, { kind: 'burn', source: 0, mint: 1, authority: 2, amountAt: 1 }],
  [12, { kind: 'transfer', source: 0, mint: 1, destination: 2, authority: 3, amountAt: 1 }],
  [14, { kind: 'mintTo', mint: 0, destination: 1, authority: 2, amountAt: 1 }],
  [15, { kind: 'burn', source: 0, mint: 1, authority: 2, amountAt: 1 }],
])
const transferCheckedWithFee: Layout = {
  kind: 'transfer',
  source: 0,
  mint: 1,
  destination: 2,
  authority: 3,
  amountAt: 2,
}
const transferFeeExtension = 26
const initializeAccount = 1
const initializeAccountsWithOwner = new Set([16, 18])
const batch = 255

/**
 * Returns the token moves and account openings of an instruction. A Batch can contain several. Empty for any other
 * instruction.
 */
export function readTokenInstruction(accounts: readonly Address[], data: Uint8Array): readonly TokenEffect[] {
  if (data[0] === batch) return readBatch(accounts, data)
  const effect = readOpening(accounts, data) ?? readMovement(accounts, data)
  return effect === undefined ? [] : [effect]
}

function readMovement(accounts: readonly Address[], data: Uint8Array): TokenEffect | undefined {
  const layout =
    data[0] === transferFeeExtension && data[1] === 1 ? transferCheckedWithFee : layouts.get(data[0] ?? batch)
  if (layout === undefined || data.length < layout.amountAt + 8) return undefined
  const authority = accounts[layout.authority]
  if (authority === undefined) return undefined
  return {
    kind: layout.kind,
    source: accountAt(accounts, layout.source),
    destination: accountAt(accounts, layout.destination),
    mint: accountAt(accounts, layout.mint),
    authority,
    amountBaseUnits: new DataView(data.buffer, data.byteOffset).getBigUint64(layout.amountAt, true),
  }
}

function accountAt(accounts: readonly Address[], at: number | undefined): Address | undefined {
  return at === undefined ? undefined : accounts[at]
}

/**
 * Reads an instruction that opens a token account. It states the owner of the account. If the transaction also closes
 * the account, no other record shows the owner.
 */
function readOpening(accounts: readonly Address[], data: Uint8Array): TokenEffect | undefined {
  const [tokenAccount, mint, third] = accounts
  if (tokenAccount === undefined || mint === undefined) return undefined
  if (data[0] === initializeAccount && third !== undefined) return { kind: 'open', tokenAccount, mint, owner: third }
  if (!initializeAccountsWithOwner.has(data[0] ?? batch) || data.length < 33) return undefined
  const owner = readAddress(encodeBase58(data.subarray(1, 33)))
  return owner === undefined ? undefined : { kind: 'open', tokenAccount, mint, owner }
}

/**
 * Reads the instructions in a Batch. The data is 255, then for each instruction the number of accounts, the length of
 * the data, and the data. The accounts follow each other in the account list.
 */
function readBatch(accounts: readonly Address[], data: Uint8Array): readonly TokenEffect[] {
  const effects: TokenEffect[] = []
  let accountsTaken = 0
  let offset = 1
  while (offset + 1 < data.length) {
    const accountCount = data[offset] ?? 0
    const dataLength = data[offset + 1] ?? 0
    const inner = data.subarray(offset + 2, offset + 2 + dataLength)
    // Ignore a Batch within a Batch, because the program refuses it too.
    if (inner[0] !== batch)
      effects.push(...readTokenInstruction(accounts.slice(accountsTaken, accountsTaken + accountCount), inner))
    accountsTaken += accountCount
    offset += 2 + dataLength
  }
  return effects
}

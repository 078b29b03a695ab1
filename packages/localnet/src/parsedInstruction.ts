import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { type AccountKey, keyAt } from './accountKeys.ts'
import type { CompiledInstruction } from './chainTransaction.ts'
import { type ProgramName, programNameOf } from './programs.ts'
import { tokenAmountJson } from './tokenAmount.ts'

export interface LocatedInstruction {
  readonly instruction: CompiledInstruction
  readonly keys: readonly AccountKey[]
  readonly stackHeight: number
}

/**
 * Decodes memos, transfers of SOL, transfers, mints and burns of tokens, and the instructions that create an account.
 * Any other instruction shows its accounts and data, as nodes show instructions of unknown programs.
 */
export function parsedInstructionJson({ instruction, keys, stackHeight }: LocatedInstruction): Json {
  const program = keyAt(keys, instruction.programIndex).address
  const programId = encodeBase58(program)
  const accounts = [...instruction.accountIndexes].map((index) => encodeBase58(keyAt(keys, index).address))
  const known = decode(programNameOf(program), instruction.data, accounts)
  if (known !== undefined) return { ...known, programId, stackHeight }
  return { programId, accounts, data: encodeBase58(instruction.data), stackHeight }
}

interface Decoded {
  readonly program: string
  readonly parsed: Json
}

/** Undefined if the instruction is unsupported or malformed. */
function decode(name: ProgramName | undefined, data: Uint8Array, accounts: readonly string[]): Decoded | undefined {
  if (name === 'memo' || name === 'memoV1') return labelled('spl-memo', memoText(data))
  const source = { data: Buffer.from(data.buffer, data.byteOffset, data.length), accounts }
  // Both token programs have the same label, as on nodes.
  if (name === 'token' || name === 'token2022') return labelled('spl-token', decodeToken(source))
  if (name === 'system') return labelled('system', decodeSystem(source))
  // Empty data means `create`, which was once the only instruction of the program.
  const type = associatedTokenKinds[data[0] ?? 0]
  if (name !== 'associatedToken' || type === undefined) return undefined
  const parts = partsOf({ type, accounts: associatedTokenAccounts }, accounts, {})
  return labelled('spl-associated-token-account', parts)
}

function labelled(program: string, parsed: Json | undefined): Decoded | undefined {
  return parsed === undefined ? undefined : { program, parsed }
}

interface Source {
  readonly data: Buffer
  readonly accounts: readonly string[]
}

interface AccountNames {
  readonly type: string
  /** Agave's names for the accounts, in the order of the instruction. */
  readonly accounts: readonly string[]
}

/** Undefined if the instruction has fewer accounts than names. */
function partsOf({ type, accounts }: AccountNames, addresses: readonly string[], fields: object): Json | undefined {
  if (addresses.length < accounts.length) return undefined
  return {
    type,
    info: { ...Object.fromEntries(accounts.map((name, index) => [name, addresses[index] ?? ''])), ...fields },
  }
}

const associatedTokenKinds = ['create', 'createIdempotent']
const associatedTokenAccounts = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram']

const systemTransfer = { type: 'transfer', accounts: ['source', 'destination'] }
const createAccount = { type: 'createAccount', accounts: ['source', 'newAccount'] }

function decodeSystem({ data, accounts }: Source): Json | undefined {
  if (data.length < 12) return undefined
  const kind = data.readUInt32LE(0)
  const lamports = Number(data.readBigUInt64LE(4))
  if (kind === 2) return partsOf(systemTransfer, accounts, { lamports })
  if (kind !== 0 || data.length < 52) return undefined
  const space = Number(data.readBigUInt64LE(12))
  return partsOf(createAccount, accounts, { lamports, space, owner: encodeBase58(data.subarray(20, 52)) })
}

interface TokenLayout extends AccountNames {
  /**
   * Data after the kind of the instruction: `amount` is a u64, `tokenAmount` a u64 and a byte of decimals, and `owner`
   * an address.
   */
  readonly data?: 'amount' | 'tokenAmount' | 'owner'
}

/** Layouts of the supported instructions of both token programs, by their first byte. */
const tokenLayouts: ReadonlyMap<number, TokenLayout> = new Map<number, TokenLayout>([
  [1, { type: 'initializeAccount', accounts: ['account', 'mint', 'owner', 'rentSysvar'] }],
  [3, { type: 'transfer', accounts: ['source', 'destination'], data: 'amount' }],
  [7, { type: 'mintTo', accounts: ['mint', 'account'], data: 'amount' }],
  [8, { type: 'burn', accounts: ['account', 'mint'], data: 'amount' }],
  [12, { type: 'transferChecked', accounts: ['source', 'mint', 'destination'], data: 'tokenAmount' }],
  [14, { type: 'mintToChecked', accounts: ['mint', 'account'], data: 'tokenAmount' }],
  [15, { type: 'burnChecked', accounts: ['account', 'mint'], data: 'tokenAmount' }],
  [16, { type: 'initializeAccount2', accounts: ['account', 'mint', 'rentSysvar'], data: 'owner' }],
  [18, { type: 'initializeAccount3', accounts: ['account', 'mint'], data: 'owner' }],
  [21, { type: 'getAccountDataSize', accounts: ['mint'] }],
  [22, { type: 'initializeImmutableOwner', accounts: ['account'] }],
])

const transferWithFee: TokenLayout = {
  type: 'transferCheckedWithFee',
  accounts: ['source', 'mint', 'destination'],
  data: 'tokenAmount',
}

function decodeToken(source: Source): Json | undefined {
  const [first, second] = source.data
  // Instructions of the transfer fee extension have a second byte for their kind. The fee follows the decimals.
  if (first === 26 && second === 1) {
    if (source.data.length < 19) return undefined
    const feeAmount = tokenAmountJson(source.data.readBigUInt64LE(11), source.data.readUInt8(10))
    return decodeTokenParts(transferWithFee, { ...source, data: source.data.subarray(2) }, { feeAmount })
  }
  const layout = first === undefined ? undefined : tokenLayouts.get(first)
  return layout === undefined ? undefined : decodeTokenParts(layout, { ...source, data: source.data.subarray(1) }, {})
}

const partBytes = { amount: 8, tokenAmount: 9, owner: 32 }

function decodeTokenParts(layout: TokenLayout, { data, accounts }: Source, fields: object): Json | undefined {
  const { data: part } = layout
  if (part === undefined) return partsOf(layout, accounts, fields)
  if (data.length < partBytes[part]) return undefined
  if (part === 'owner') return partsOf(layout, accounts, { ...fields, owner: encodeBase58(data.subarray(0, 32)) })
  const amountBaseUnits = data.readBigUInt64LE(0)
  const amount =
    part === 'amount'
      ? { amount: amountBaseUnits.toString() }
      : { tokenAmount: tokenAmountJson(amountBaseUnits, data.readUInt8(8)) }
  const authority = authorityOf(layout.type, accounts.slice(layout.accounts.length))
  return authority === undefined ? undefined : partsOf(layout, accounts, { ...fields, ...amount, ...authority })
}

/**
 * Names the authority as nodes do. Signers after the authority mean that it is a multisig. Undefined without an
 * authority.
 */
function authorityOf(type: string, [authority, ...signers]: readonly string[]): object | undefined {
  const name = type.startsWith('mintTo') ? 'mintAuthority' : 'authority'
  if (authority === undefined || signers.length === 0)
    return authority === undefined ? undefined : { [name]: authority }
  return { [name === 'authority' ? 'multisigAuthority' : 'multisigMintAuthority']: authority, signers }
}

/** Undefined for invalid UTF-8, because replacement characters could make two memos look equal. */
export function memoText(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    return undefined
  }
}

import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { type AccountKey, keyAt } from './accountKeys.ts'
import { ByteReader, MalformedBytes } from './byteReader.ts'
import type { CompiledInstruction } from './chainTransaction.ts'
import { type InstructionLayout, readInstruction } from './instructionLayout.ts'
import { type ProgramName, programNameOf } from './programs.ts'
import { systemInstructions } from './systemInstructions.ts'
import { tokenAmountJson } from './tokenAmount.ts'
import {
  setAuthorityByte,
  setAuthorityLayout,
  tokenInstructions,
  transferFeeByte,
  transferFeeInstructions,
} from './tokenInstructions.ts'

export interface LocatedInstruction {
  readonly instruction: CompiledInstruction
  readonly keys: readonly AccountKey[]
  readonly stackHeight: number
}

/** An instruction for `jsonParsed`: named fields for a supported program, otherwise its accounts and data. */
export function parsedInstructionJson({ instruction, keys, stackHeight }: LocatedInstruction): Json {
  const program = keyAt(keys, instruction.programIndex).address
  const programId = encodeBase58(program)
  const known = parseKnown(programNameOf(program), { instruction, keys })
  if (known !== undefined) return { program: known.program, programId, parsed: known.parsed, stackHeight }
  const accounts = [...instruction.accountIndexes].map((index) => encodeBase58(keyAt(keys, index).address))
  return { programId, accounts, data: encodeBase58(instruction.data), stackHeight }
}

interface Parsed {
  readonly program: string
  readonly parsed: Json
}

interface Source {
  readonly instruction: CompiledInstruction
  readonly keys: readonly AccountKey[]
}

/** Undefined for unsupported programs and instructions. */
function parseKnown(name: ProgramName | undefined, source: Source): Parsed | undefined {
  const program = name === undefined ? undefined : parsers.get(name)
  if (program === undefined) return undefined
  try {
    const parsed = program.parse(source)
    return parsed === undefined ? undefined : { program: program.label, parsed }
  } catch (error) {
    // The program itself would refuse this data. The failed transaction is still on chain and must be shown.
    if (error instanceof MalformedBytes) return undefined
    throw error
  }
}

interface ProgramParser {
  readonly label: string
  readonly parse: (source: Source) => Json | undefined
}

/** Both token programs have the name `spl-token` here, but not in account data, as on nodes. */
const parsers: ReadonlyMap<ProgramName, ProgramParser> = new Map<ProgramName, ProgramParser>([
  ['system', { label: 'system', parse: parseSystem }],
  ['token', { label: 'spl-token', parse: parseToken }],
  ['token2022', { label: 'spl-token', parse: parseToken }],
  ['associatedToken', { label: 'spl-associated-token-account', parse: parseAssociatedToken }],
  ['memo', { label: 'spl-memo', parse: parseMemo }],
  ['memoV1', { label: 'spl-memo', parse: parseMemo }],
])

function parseSystem(source: Source): Json | undefined {
  const layout = systemInstructions.get(new ByteReader(source.instruction.data).u32())
  return layout === undefined ? undefined : readInstruction(layout, { ...source, offset: 4 })
}

function parseToken(source: Source): Json | undefined {
  const [first, second] = source.instruction.data
  if (first === undefined) return undefined
  if (first === setAuthorityByte) return readInstruction(setAuthorityLayout(second), { ...source, offset: 1 })
  if (first === transferFeeByte) return parseTransferFee(second, source)
  const layout = tokenInstructions.get(first)
  return layout === undefined ? undefined : readInstruction(layout, { ...source, offset: 1 })
}

function parseTransferFee(second: number | undefined, source: Source): Json | undefined {
  const layout = second === undefined ? undefined : transferFeeInstructions.get(second)
  const instruction = layout === undefined ? undefined : readInstruction(layout, { ...source, offset: 2 })
  if (instruction?.type !== 'transferCheckedWithFee') return instruction
  // The fee follows the decimals, which apply to both amounts.
  const reader = new ByteReader(source.instruction.data.subarray(10))
  const decimals = reader.u8()
  return { ...instruction, info: { ...instruction.info, feeAmount: tokenAmountJson(reader.u64(), decimals) } }
}

function parseAssociatedToken(source: Source): Json | undefined {
  // Empty data means the program's first instruction. It dates from before the program had a second one.
  const layout = associatedTokenInstructions[source.instruction.data[0] ?? 0]
  return layout === undefined ? undefined : readInstruction(layout, { ...source, offset: 1 })
}

const associatedTokenAccounts = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram']

const associatedTokenInstructions: readonly InstructionLayout[] = [
  { type: 'create', accounts: associatedTokenAccounts },
  { type: 'createIdempotent', accounts: associatedTokenAccounts },
  {
    type: 'recoverNested',
    accounts: ['nestedSource', 'nestedMint', 'destination', 'nestedOwner', 'ownerMint', 'wallet', 'tokenProgram'],
  },
]

/** A memo that is not UTF-8 fails on chain, so it is never shown as text. */
function parseMemo({ instruction }: Source): string | undefined {
  return memoText(instruction.data)
}

/** Undefined for bytes that are not UTF-8, because replacement characters could make two memos look equal. */
export function memoText(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    return undefined
  }
}

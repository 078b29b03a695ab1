import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import type { Address } from '@tollbook/core/address'
import { memoPrograms, tokenPrograms } from '@tollbook/core/programs'
import type { TokenEffect } from './tokenInstruction.ts'
import { addressOf, type Call, readCall } from './transferParser.ts'

/*
 * Inner instructions as a simulation returns them. Nodes decode the instructions of programs that they support and
 * return the other instructions raw. The request has no option to get all of them raw.
 */

const parsedInstruction = z.object({ programId: z.string(), parsed: z.unknown() })
const bareInstruction = z.object({ programId: z.string(), accounts: z.array(z.string()), data: z.string() })

export const shownInstructionJson = z.union([bareInstruction, parsedInstruction])
type ShownInstruction = z.infer<typeof shownInstructionJson>

export function readShown(instruction: ShownInstruction): Call {
  const program = addressOf(instruction.programId)
  if (!('parsed' in instruction)) return readCall(program, instruction.accounts.map(addressOf), instruction.data)
  if (memoPrograms.has(program)) return { program, effects: [], memo: z.string().parse(instruction.parsed) }
  const effects = tokenPrograms.has(program) ? readDecoded(decodedInstruction.parse(instruction.parsed)) : []
  return { program, effects, memo: undefined }
}

const amountText = z.string().regex(/^\d{1,20}$/)

const decodedInstruction = z.object({ type: z.string(), info: z.record(z.string(), z.unknown()) })
type InstructionNames = z.infer<typeof decodedInstruction>

/** Each kind of instruction has only some of these members. */
const parts = z.object({
  source: z.string().optional(),
  destination: z.string().optional(),
  account: z.string().optional(),
  mint: z.string().optional(),
  owner: z.string().optional(),
  authority: z.string().optional(),
  multisigAuthority: z.string().optional(),
  mintAuthority: z.string().optional(),
  multisigMintAuthority: z.string().optional(),
  amount: amountText.optional(),
  tokenAmount: z.object({ amount: amountText }).optional(),
})
type Parts = z.infer<typeof parts>

const readers: ReadonlyMap<string, (parts: Parts) => TokenEffect> = new Map([
  ['transfer', readTransfer],
  ['transferChecked', readTransfer],
  ['transferCheckedWithFee', readTransfer],
  ['burn', readBurn],
  ['burnChecked', readBurn],
  ['mintTo', readMintTo],
  ['mintToChecked', readMintTo],
  ['initializeAccount', readOpening],
  ['initializeAccount2', readOpening],
  ['initializeAccount3', readOpening],
])

const batchParts = z.object({ instructions: z.array(decodedInstruction) })

function readDecoded({ type, info }: InstructionNames): readonly TokenEffect[] {
  // Do not read a Batch within a Batch, because the program refuses it.
  if (type === 'batch') return batchParts.parse(info).instructions.flatMap((inner) => readSingle(inner))
  return readSingle({ type, info })
}

function readSingle({ type, info }: InstructionNames): readonly TokenEffect[] {
  const read = readers.get(type)
  return read === undefined ? [] : [read(parts.parse(info))]
}

function readTransfer({ source, destination, mint, ...rest }: Parts): TokenEffect {
  return {
    kind: 'transfer',
    source: required(source, 'source'),
    destination: required(destination, 'destination'),
    mint: mint === undefined ? undefined : addressOf(mint),
    authority: required(rest.authority ?? rest.multisigAuthority, 'authority'),
    amountBaseUnits: amountOf(rest),
  }
}

function readBurn({ account, mint, ...rest }: Parts): TokenEffect {
  return {
    kind: 'burn',
    source: required(account, 'account'),
    destination: undefined,
    mint: required(mint, 'mint'),
    authority: required(rest.authority ?? rest.multisigAuthority, 'authority'),
    amountBaseUnits: amountOf(rest),
  }
}

function readMintTo({ account, mint, ...rest }: Parts): TokenEffect {
  return {
    kind: 'mintTo',
    source: undefined,
    destination: required(account, 'account'),
    mint: required(mint, 'mint'),
    authority: required(rest.mintAuthority ?? rest.multisigMintAuthority, 'mintAuthority'),
    amountBaseUnits: amountOf(rest),
  }
}

function readOpening({ account, mint, owner }: Parts): TokenEffect {
  return {
    kind: 'open',
    tokenAccount: required(account, 'account'),
    mint: required(mint, 'mint'),
    owner: required(owner, 'owner'),
  }
}

function amountOf({ amount, tokenAmount }: Parts): bigint {
  const text = amount ?? tokenAmount?.amount
  if (text === undefined) throw missing('amount')
  return BigInt(text)
}

function required(text: string | undefined, part: string): Address {
  if (text === undefined) throw missing(part)
  return addressOf(text)
}

function missing(part: string): Fault {
  return new Fault(`the node names no ${part} of a token instruction`, { retryable: true })
}

import { type ByteReader, MalformedBytes } from './byteReader.ts'
import type { ByteWriter } from './byteWriter.ts'
import type { InstructionError, TransactionError } from './transactionError.ts'

/*
 * Errors are stored by name and not by litesvm's number: a newer litesvm
 * may renumber them, and an old journal must still name the error.
 */

/** One byte for the kind, followed by its fields. Kinds are never renumbered: users' state files contain them. */
const errorKinds = { none: 0, name: 1, instruction: 2, duplicate: 3, rent: 4, restricted: 5 } as const
const instructionErrorKinds = { name: 0, custom: 1, borsh: 2 } as const

export function writeTransactionError(writer: ByteWriter, error: TransactionError | null): void {
  if (error === null) {
    writer.u8(errorKinds.none)
  } else if (typeof error === 'string') {
    writer.u8(errorKinds.name).text(error)
  } else if ('InstructionError' in error) {
    const [index, inner] = error.InstructionError
    writer.u8(errorKinds.instruction).u8(index)
    writeInstructionError(writer, inner)
  } else if ('DuplicateInstruction' in error) {
    writer.u8(errorKinds.duplicate).u8(error.DuplicateInstruction)
  } else if ('InsufficientFundsForRent' in error) {
    writer.u8(errorKinds.rent).u8(error.InsufficientFundsForRent.account_index)
  } else {
    writer.u8(errorKinds.restricted).u8(error.ProgramExecutionTemporarilyRestricted.account_index)
  }
}

export function readTransactionError(reader: ByteReader): TransactionError | null {
  const kind = reader.u8()
  switch (kind) {
    case errorKinds.none:
      return null
    case errorKinds.name:
      return reader.text()
    case errorKinds.instruction:
      return { InstructionError: [reader.u8(), readInstructionError(reader)] }
    case errorKinds.duplicate:
      return { DuplicateInstruction: reader.u8() }
    case errorKinds.rent:
      return { InsufficientFundsForRent: { account_index: reader.u8() } }
    case errorKinds.restricted:
      return { ProgramExecutionTemporarilyRestricted: { account_index: reader.u8() } }
    default:
      throw new MalformedBytes(`${kind} is not a kind of transaction error`)
  }
}

function writeInstructionError(writer: ByteWriter, error: InstructionError): void {
  if (typeof error === 'string') {
    writer.u8(instructionErrorKinds.name).text(error)
  } else if ('Custom' in error) {
    writer.u8(instructionErrorKinds.custom).u32(error.Custom)
  } else {
    writer.u8(instructionErrorKinds.borsh).text(error.BorshIoError)
  }
}

function readInstructionError(reader: ByteReader): InstructionError {
  const kind = reader.u8()
  switch (kind) {
    case instructionErrorKinds.name:
      return reader.text()
    case instructionErrorKinds.custom:
      return { Custom: reader.u32() }
    case instructionErrorKinds.borsh:
      return { BorshIoError: reader.text() }
    default:
      throw new MalformedBytes(`${kind} is not a kind of instruction error`)
  }
}

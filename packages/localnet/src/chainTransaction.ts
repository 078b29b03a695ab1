import { ByteReader, MalformedBytes } from './byteReader.ts'

export interface CompiledInstruction {
  readonly programIndex: number
  readonly accountIndexes: Uint8Array
  readonly data: Uint8Array
}

export interface AddressTableLookup {
  readonly table: Uint8Array
  readonly writableIndexes: Uint8Array
  readonly readonlyIndexes: Uint8Array
}

export interface MessageHeader {
  readonly requiredSignatures: number
  readonly readonlySigned: number
  readonly readonlyUnsigned: number
}

export interface Message {
  readonly version: 'legacy' | 0
  readonly header: MessageHeader
  readonly staticKeys: readonly Uint8Array[]
  readonly recentBlockhash: Uint8Array
  readonly instructions: readonly CompiledInstruction[]
  readonly lookups: readonly AddressTableLookup[]
}

/** All byte strings are views of `wire`. */
export interface ChainTransaction {
  /** Wire form of the transaction, without trailing bytes. */
  readonly wire: Uint8Array
  readonly signatures: readonly Uint8Array[]
  readonly messageBytes: Uint8Array
  readonly message: Message
}

/** Maximum size of a transaction in bytes, because a transaction must fit into one packet between nodes. */
export const transactionBytesMax = 1_232

/**
 * Parses a signed transaction strictly. litesvm 1.5.0 aborts the whole process on unreadable bytes, with a panic that
 * `catch` cannot handle. Every transaction must therefore pass this check before the engine receives it.
 */
export function parseChainTransaction(bytes: Uint8Array): ChainTransaction {
  const reader = new ByteReader(bytes)
  const signatures = reader.list(reader.compactU16(), (from) => from.take(64))
  const messageStart = reader.position
  const message = readMessage(reader)
  if (signatures.length !== message.header.requiredSignatures) {
    throw new MalformedBytes(
      `has ${signatures.length} signatures, but its message requires ${message.header.requiredSignatures}`,
    )
  }
  return {
    wire: bytes.subarray(0, reader.position),
    signatures,
    messageBytes: bytes.subarray(messageStart, reader.position),
    message,
  }
}

function readMessage(reader: ByteReader): Message {
  const first = reader.u8()
  // Versioned messages have the high bit set. In a legacy message, this byte is the number of signatures.
  const version = first < 0x80 ? 'legacy' : first & 0x7f
  if (version !== 'legacy' && version !== 0) throw new MalformedBytes(`message version ${version} is not supported`)
  const requiredSignatures = version === 'legacy' ? first : reader.u8()
  const message: Message = {
    version,
    header: { requiredSignatures, readonlySigned: reader.u8(), readonlyUnsigned: reader.u8() },
    staticKeys: reader.list(reader.compactU16(), (from) => from.take(32)),
    recentBlockhash: reader.take(32),
    instructions: reader.list(reader.compactU16(), readInstruction),
    lookups: version === 'legacy' ? [] : reader.list(reader.compactU16(), readLookup),
  }
  checkMessage(message)
  return message
}

/** The program index has one byte, because a program is one of the first 256 accounts. */
function readInstruction(reader: ByteReader): CompiledInstruction {
  return {
    programIndex: reader.u8(),
    accountIndexes: reader.take(reader.compactU16()),
    data: reader.take(reader.compactU16()),
  }
}

function readLookup(reader: ByteReader): AddressTableLookup {
  return {
    table: reader.take(32),
    writableIndexes: reader.take(reader.compactU16()),
    readonlyIndexes: reader.take(reader.compactU16()),
  }
}

/** Applies the runtime's sanity rules. After this check, all indexes in the message are valid. */
function checkMessage(message: Message): void {
  const { header, staticKeys, lookups } = message
  const loaded = lookups.reduce((sum, each) => sum + each.writableIndexes.length + each.readonlyIndexes.length, 0)
  const keyCount = staticKeys.length + loaded
  const programIsStaticAndNotThePayer = (each: CompiledInstruction): boolean =>
    each.programIndex > 0 && each.programIndex < staticKeys.length
  const rules: readonly (readonly [boolean, string])[] = [
    [header.readonlySigned < header.requiredSignatures, 'has no writable signer to pay the fee'],
    [
      header.requiredSignatures + header.readonlyUnsigned <= staticKeys.length,
      'has fewer accounts than its header says',
    ],
    [keyCount <= accountKeysMax, `names more than ${accountKeysMax} accounts`],
    [lookups.every((each) => each.writableIndexes.length + each.readonlyIndexes.length > 0), 'has an empty lookup'],
    [message.instructions.every(programIsStaticAndNotThePayer), 'has an instruction without a program'],
    [
      message.instructions.every((each) => each.accountIndexes.every((index) => index < keyCount)),
      'has an instruction that names an account beyond its list',
    ],
  ]
  for (const [holds, complaint] of rules) if (!holds) throw new MalformedBytes(complaint)
}

/** Maximum number of accounts, because an instruction refers to an account by one byte. */
const accountKeysMax = 256

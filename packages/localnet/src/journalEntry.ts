import { assertNever } from '@tollbook/core/assert'
import { type ByteReader, ByteReader as Reader, MalformedBytes } from './byteReader.ts'
import { ByteWriter } from './byteWriter.ts'
import type { Branch } from './slots.ts'
import type { AccountAt } from './svm.ts'

/** Identity of the chain: the seed of all its blockhashes and of its faucet. */
export interface Genesis {
  readonly hash: Uint8Array
  readonly createdAtSeconds: number
}

/** Entries of the journal, in the order in which they happened. */
export type JournalEntry =
  | { readonly kind: 'genesis'; readonly genesis: Genesis }
  | { readonly kind: 'landed'; readonly record: Uint8Array; readonly changed: readonly AccountAt[] }
  | { readonly kind: 'program'; readonly address: Uint8Array; readonly elf: Uint8Array }
  | { readonly kind: 'branch'; readonly branch: Branch }
  | { readonly kind: 'account'; readonly account: AccountAt }

/** Do not renumber the kinds, because users' state files contain them. */
const kinds = { genesis: 1, landed: 2, program: 3, branch: 4, account: 5 } as const

/** Increase this number if an older reader would misread the new format. */
const formatVersion = 2

export function encodeJournalEntry(entry: JournalEntry): Uint8Array {
  const writer = new ByteWriter().u8(kinds[entry.kind])
  switch (entry.kind) {
    case 'genesis':
      return writer.u16(formatVersion).raw(entry.genesis.hash).u64(BigInt(entry.genesis.createdAtSeconds)).finish()
    case 'landed':
      writer.sized(entry.record).u16(entry.changed.length)
      for (const account of entry.changed) writeAccount(writer, account)
      return writer.finish()
    case 'program':
      return writer.raw(entry.address).sized(entry.elf).finish()
    case 'branch':
      return writer.u64(BigInt(entry.branch.fromSlot)).sized(entry.branch.salt).finish()
    case 'account':
      writeAccount(writer, entry.account)
      return writer.finish()
    default:
      return assertNever(entry)
  }
}

export function decodeJournalEntry(bytes: Uint8Array): JournalEntry {
  const reader = new Reader(bytes)
  const kind = reader.u8()
  switch (kind) {
    case kinds.genesis:
      return { kind: 'genesis', genesis: readGenesis(reader) }
    case kinds.landed:
      return { kind: 'landed', record: reader.sized(), changed: reader.list(reader.u16(), readAccount) }
    case kinds.program:
      return { kind: 'program', address: reader.take(32), elf: reader.sized() }
    case kinds.branch:
      return { kind: 'branch', branch: { fromSlot: Number(reader.u64()), salt: reader.sized() } }
    case kinds.account:
      return { kind: 'account', account: readAccount(reader) }
    default:
      throw new MalformedBytes(`${kind} is not a kind of journal entry`)
  }
}

function readGenesis(reader: ByteReader): Genesis {
  const version = reader.u16()
  if (version !== formatVersion) throw new MalformedBytes(`was written in format ${version}, not ${formatVersion}`)
  return { hash: reader.take(32), createdAtSeconds: Number(reader.u64()) }
}

/** Writes the whole state each time. It is only a few hundred bytes, and each entry is then complete in itself. */
function writeAccount(writer: ByteWriter, { address, state }: AccountAt): void {
  writer.raw(address).u8(state === undefined ? 0 : 1)
  if (state === undefined) return
  writer
    .u64(state.lamports)
    .raw(state.owner)
    .u8(state.executable ? 1 : 0)
    .sized(state.data)
}

function readAccount(reader: ByteReader): AccountAt {
  const address = reader.take(32)
  if (reader.u8() === 0) return { address, state: undefined }
  const lamports = reader.u64()
  const owner = reader.take(32)
  const executable = reader.u8() === 1
  return { address, state: { lamports, owner, executable, data: reader.sized() } }
}

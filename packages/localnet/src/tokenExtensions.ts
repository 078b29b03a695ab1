import type { Json } from '@tollbook/core/canonicalJson'
import { ByteReader, MalformedBytes } from './byteReader.ts'
import { type FieldLayout, readFields } from './fieldLayout.ts'
import type { TokenExtension } from './tokenAccount.ts'

interface ExtensionLayout {
  readonly name: string
  readonly fields: FieldLayout
}

/**
 * A Token-2022 extension as `jsonParsed` shows it. Extensions that are missing in the table become
 * `unparseableExtension`, as on a node older than the extension.
 */
export function extensionJson({ type, value }: TokenExtension): Json {
  if (type === transferFeeConfigType) return { extension: 'transferFeeConfig', state: transferFeeConfigJson(value) }
  const layout = layouts.get(type)
  if (layout === undefined) return unparseable
  if (layout.fields.length === 0) return { extension: layout.name }
  try {
    return { extension: layout.name, state: readFields(new ByteReader(value), layout.fields) }
  } catch (error) {
    if (error instanceof MalformedBytes) return unparseable
    throw error
  }
}

/** The only extension with nested structures: the older fee, and the newer fee that applies from an epoch on. */
function transferFeeConfigJson(value: Uint8Array): Json {
  const reader = new ByteReader(value)
  const authorities = readFields(reader, [
    ['transferFeeConfigAuthority', 'addressOrNull'],
    ['withdrawWithheldAuthority', 'addressOrNull'],
    ['withheldAmount', 'u64'],
  ])
  return {
    ...authorities,
    olderTransferFee: readFields(reader, feeLayout),
    newerTransferFee: readFields(reader, feeLayout),
  }
}

/** The current epoch decides which of the two fees applies. A client compares it with `epoch`. */
const feeLayout: FieldLayout = [
  ['epoch', 'u64'],
  ['maximumFee', 'u64'],
  ['transferFeeBasisPoints', 'u16'],
]

const unparseable = { extension: 'unparseableExtension' }
const transferFeeConfigType = 1

/** Layouts by the numbers of Token-2022's `ExtensionType`. */
const layouts: ReadonlyMap<number, ExtensionLayout> = new Map<number, ExtensionLayout>([
  [2, { name: 'transferFeeAmount', fields: [['withheldAmount', 'u64']] }],
  [7, { name: 'immutableOwner', fields: [] }],
])

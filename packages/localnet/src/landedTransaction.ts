import type { Json } from '@tollbook/core/canonicalJson'
import { RpcError, rpcErrorCodes } from './rpcError.ts'
import { transactionMetaJson } from './transactionMeta.ts'
import { type TransactionEncoding, transactionJson } from './transactionJson.ts'
import type { TransactionRecord } from './transactionRecord.ts'

export interface LandedStyle {
  readonly encoding: TransactionEncoding
  /** The newest version that the client can read. Absent for a client from before versioned transactions. */
  readonly versionMax: number | null | undefined
}

/** The members `transaction`, `meta` and `version`, which are equal in `getTransaction` and in blocks. */
export function landedTransactionJson(record: TransactionRecord, style: LandedStyle): Readonly<Record<string, Json>> {
  const { transaction } = record
  return {
    transaction: transactionJson(transaction, style.encoding),
    meta: transactionMetaJson(record, style.encoding),
    ...versionJson(transaction.message.version, style.versionMax),
  }
}

/**
 * A client without a maximum version gets no `version` member, and an error for a v0 transaction, which it would
 * misread.
 */
export function versionJson(
  version: 'legacy' | 0,
  versionMax: number | null | undefined,
): { readonly version?: 'legacy' | 0 } {
  if (versionMax !== null && versionMax !== undefined) return { version }
  if (version === 'legacy') return {}
  throw new RpcError(
    rpcErrorCodes.unsupportedTransactionVersion,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  )
}

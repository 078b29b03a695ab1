import { Fault } from '@tollbook/core/fault'
import { readAddress } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionFailure, TransactionRecord } from '../payment/transactionRecord.ts'
import { callsOf, parseEffects } from './transferParser.ts'
import { rebuildTransaction } from './transactionBytes.ts'
import type { TransactionJson } from './transactionJson.ts'
import { failureOf } from './transactionFailure.ts'

export function recordOf(json: TransactionJson, signature: Signature): TransactionRecord {
  const { slot, blockTime, transaction, meta } = json
  if (transaction.signatures[0] !== signature)
    throw new Fault('the node answered with another transaction', { retryable: true })
  const bytes = rebuildTransaction(json)
  if (bytes === false)
    throw new Fault('the signatures of the transaction do not hold over what the node answered', { retryable: true })

  const { accountKeys, header, instructions } = transaction.message
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {}
  const { innerInstructions, preTokenBalances, postTokenBalances } = meta
  const keys = [...accountKeys, ...writable, ...readonly]
  const calls = callsOf(keys, [...instructions, ...innerInstructions.flatMap((inner) => inner.instructions)])
  const effects = parseEffects({ accountKeys: keys, calls, preTokenBalances, postTokenBalances })
  const signers = accountKeys.slice(0, header.numRequiredSignatures).flatMap((key) => readAddress(key) ?? [])
  const failure: TransactionFailure | undefined = failureOf(meta.err, { keys, instructions })
  const blockTimeMs = blockTime === undefined || blockTime === null ? undefined : blockTime * 1000
  return { signature, slot, blockTimeMs, failure, signers, bytes, ...effects, balances: effects.balances ?? [] }
}

import { z } from 'zod'
import type { Checkpoint } from '@tollbook/core/checkpoint'
import {
  type ClosingStatement,
  closingType,
  findCarryProblem,
  findClosingProblem,
  signedClosing,
} from '@tollbook/core/closingStatement'
import { encodeBase64 } from '@tollbook/core/base64'
import { utf8Text } from '@tollbook/core/bytes'
import { canonicalText } from '@tollbook/core/canonicalJson'
import { openWithKeys } from './verifyInclusion.ts'
import { plainData } from './plainData.ts'
import { findSigned, isInPeriod, readHeader, readKeys } from './serviceKeys.ts'

export interface ClosingQuestion {
  readonly closing: unknown
  /** Public keys of the service, as a JWK or a JWKS. */
  readonly keys: unknown
  /** Statement of the previous month. Its closing balances must equal the opening balances. */
  readonly previous?: unknown
  readonly expectedOrigin?: string
}

/** The first check that failed. */
export type ClosingProblem =
  | 'malformed'
  | 'keys_malformed'
  | 'signature_invalid'
  /** The signing key was not valid when the statement was issued. */
  | 'key_out_of_period'
  /** None of the given keys signed the checkpoint. */
  | 'checkpoint_unsigned'
  /** The statement refers to another checkpoint than the one next to it. */
  | 'other_checkpoint'
  | 'other_log'
  | 'figures_wrong'
  /** The opening balances differ from the closing balances of the previous statement. */
  | 'not_carried_over'

export type ClosingVerdict =
  | { readonly valid: true; readonly statement: ClosingStatement; readonly checkpoint: Checkpoint }
  | { readonly valid: false; readonly problem: ClosingProblem; readonly message: string }

/**
 * Checks a closing statement with the service's public key: its signature, its checkpoint and its figures. With
 * `previous`, also checks that the statement continues the previous one. Makes no request, and never throws.
 *
 * @example
 *   import { readFile } from 'node:fs/promises'
 *   import { verifyClosing } from '@tollbook/client'
 *
 *   const read = async (path: string) => JSON.parse(await readFile(path, 'utf8'))
 *   const verdict = await verifyClosing({ closing: await read('2026-11.json'), keys: await read('jwks.json') })
 *   if (!verdict.valid) throw new Error(`${verdict.problem}: ${verdict.message}`)
 */
export async function verifyClosing(question: ClosingQuestion): Promise<ClosingVerdict> {
  const verdict = await verifyOne(question)
  if (!verdict.valid || question.previous === undefined) return verdict
  const before = await verifyOne({ ...question, closing: question.previous })
  if (!before.valid) return invalid(before.problem, `the previous statement: ${before.message}`)
  const problem = findCarryProblem(verdict.statement, before.statement)
  return problem === undefined ? verdict : invalid('not_carried_over', problem)
}

// Larger than the default of `plainData`, because a statement lists every account.
const charactersMax = 2_000_000

async function verifyOne({ closing, keys, expectedOrigin }: ClosingQuestion): Promise<ClosingVerdict> {
  const plain = plainData(closing, charactersMax)
  const { data: read } = signedClosing.safeParse(plain)
  if (read === undefined) return invalid('malformed', 'it is not a closing statement of this service')
  const known = await readKeys(keys)
  if (known === undefined) return invalid('keys_malformed', 'the key is not an Ed25519 JWK or a set of them')
  const { statement } = read
  const isClosing = jwsHeader.safeParse(readHeader(read.jws)).success
  const signed = isClosing ? await findSigned(read.jws, known) : undefined
  // Require that every given field is signed, including fields that this version does not read.
  if (signed === undefined || utf8Text(signed.payload) !== textOf(plain))
    return invalid('signature_invalid', 'the signature does not hold for these figures')
  const issuedAtMs = Date.parse(statement.issuedAt)
  if (!isInPeriod(signed.key, issuedAtMs))
    return invalid('key_out_of_period', `the key ${signed.key.kid} was not valid at ${statement.issuedAt}`)
  const checkpoint = openWithKeys(read.checkpoint, known)
  if (checkpoint === undefined)
    return invalid('checkpoint_unsigned', 'its checkpoint is not signed with a key of the service')
  if (
    checkpoint.origin !== statement.origin ||
    checkpoint.size !== statement.treeSize ||
    encodeBase64(checkpoint.root) !== statement.root
  )
    return invalid('other_checkpoint', 'the statement names another checkpoint than the one that comes with it')
  if (expectedOrigin !== undefined && checkpoint.origin !== expectedOrigin)
    return invalid('other_log', `it is of the log ${checkpoint.origin}, and ${expectedOrigin} is expected`)
  const problem = findClosingProblem(statement)
  return problem === undefined ? { valid: true, statement, checkpoint } : invalid('figures_wrong', problem)
}

const jwsHeader = z.object({ alg: z.literal('EdDSA'), typ: z.literal(closingType) })

const anyStatement = z.object({ statement: z.unknown() })

function textOf(plain: unknown): string | undefined {
  try {
    return canonicalText(anyStatement.parse(plain).statement)
  } catch {
    // Text with half of a surrogate pair has no canonical form, so it cannot have been signed.
    return undefined
  }
}

function invalid(problem: ClosingProblem, message: string): ClosingVerdict {
  return { valid: false, problem, message }
}

import type { PayoutPlan } from '../accounting/payoutPlan.ts'
import type { Chain } from '../chain/openChain.ts'
import { assertNever, assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import type { Database } from '../store/database.ts'
import {
  type PayoutAttempt,
  readAttempts,
  readUnrecordedAttempts,
  recordAttempt,
  type UnrecordedAttempt,
} from '../store/holderPayoutStore.ts'
import { judgeAttempts } from './attemptStanding.ts'

/*
 * Each transaction is stored before it is sent, because no node shows it until it lands. A second transaction of the
 * same part would pay the debts twice.
 */

export interface SentPartsDeps {
  readonly database: Database
  readonly chain: Chain
}

export interface SignedPart {
  readonly part: number
  readonly signature: Signature
  readonly transaction: Uint8Array
  readonly lastValidBlockHeight: number
}

/**
 * Records a part, which the caller must do before it sends the part. Throws while another transaction of the part has
 * landed or may still land.
 */
export async function recordSignedPart(
  deps: SentPartsDeps,
  { id }: PayoutPlan,
  signed: SignedPart,
): Promise<PayoutAttempt> {
  const { database, chain } = deps
  const { part, signature, transaction: bytes, lastValidBlockHeight } = signed
  const earlier = (await readAttempts(database, id)).filter((attempt) => attempt.part === part)
  if ((await landedOf(deps, earlier)).length > 0) throw alreadySent(part)
  // Use the higher of two heights, because a single node stated the first one. The blockhash is not newer than the
  // nodes' newest slot.
  await chain.nodes.poll()
  const lastValidHeight = Math.max(lastValidBlockHeight, chain.nodes.boundAt(chain.nodes.newestSlot()).lastValidHeight)
  const attempt = { part, signature, lastValidHeight, bytes }
  if (!(await recordAttempt(database, id, { attempt, replaced: earlier[0]?.signature }))) throw alreadySent(part)
  return attempt
}

const pollMs = 1_000
// A transaction is confirmed, or proven absent, within about three minutes.
const pollsMax = 400

/**
 * Sends a part until it lands. Undefined once the part is on chain, or the reason if it failed or can never land.
 * Throws if none of this is proven.
 */
export async function landPart(
  { chain, clock }: Pick<SentPartsDeps, 'chain'> & { readonly clock: Clock },
  attempt: PayoutAttempt,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { part, signature } = attempt
  for (let poll = 0; poll < pollsMax; poll++) {
    signal.throwIfAborted()
    const standing = assertPresent((await judgeAttempts(chain, [attempt])).get(signature), 'the attempt is judged')
    switch (standing.kind) {
      case 'final':
        return undefined
      case 'waiting':
        if (!standing.hasFailed) return undefined
        break
      case 'failed':
        return `${signature} failed on chain: ${standing.why}`
      case 'absent':
        return `${signature} did not land in time`
      case 'unproven':
        throw unprovenFault(part, standing.why)
      case 'unseen':
        // Send the same bytes again, because this cannot pay twice.
        await chain.reader.broadcast(attempt)
        break
      default:
        assertNever(standing)
    }
    await clock.sleep(pollMs, signal)
  }
  throw new Fault(`part ${part} is not confirmed yet; run the command again`, { retryable: true })
}

function unprovenFault(part: number, why: string): Fault {
  return new Fault(`part ${part}: ${why}`, { retryable: false })
}

function alreadySent(part: number): Fault {
  return new Fault(`part ${part} was sent by another process; run the command again to see what became of it`, {
    retryable: false,
  })
}

/**
 * Returns the sent parts that are on chain and not in the ledger. Throws while a part could still land, or if only one
 * node reports that a part is absent or has failed, because the part may be on chain.
 */
export async function findSentUnrecorded(
  deps: SentPartsDeps,
  exceptPlan?: string,
): Promise<readonly UnrecordedAttempt[]> {
  const attempts = await readUnrecordedAttempts(deps.database)
  return landedOf(
    deps,
    attempts.filter(({ planId }) => planId !== exceptPlan),
  )
}

async function landedOf<Attempt extends PayoutAttempt>(
  { chain }: SentPartsDeps,
  attempts: readonly Attempt[],
): Promise<readonly Attempt[]> {
  const standings = await judgeAttempts(chain, attempts)
  return attempts.filter(({ part, signature }) => {
    const standing = assertPresent(standings.get(signature), 'each attempt is judged')
    if (standing.kind === 'unseen')
      throw new Fault(
        `part ${part} was signed, and ${signature} could still land; run the command again in two minutes`,
        {
          retryable: true,
        },
      )
    if (standing.kind === 'unproven') throw unprovenFault(part, standing.why)
    return standing.kind === 'final' || standing.kind === 'waiting'
  })
}

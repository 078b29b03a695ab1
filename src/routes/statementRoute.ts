import type { Readable } from 'node:stream'
import { readAddress } from '@tollbook/core/address'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import { refusalAnswer } from '../paywall/answer.ts'
import { hasBegun } from '../reports/reportQuestion.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { parseQuery } from '../transport/parseQuery.ts'
import { invalidRequest } from '../transport/transportError.ts'
import { unavailable, unlessSilent } from './unlessSilent.ts'
import { createUsedProofs, type UsedProofs } from './usedProofs.ts'
import { askForSignature, readWallet } from './walletChallenge.ts'

/** Writes the statement of a wallet. Undefined while the reports are behind the ledger. */
export type WriteStatement = (question: {
  readonly wallet: string
  readonly month: string
}) => Promise<Readable | undefined>

export interface StatementRouteDeps {
  readonly clock: Clock
  readonly log: Log
  /** Name of the service in the text that a wallet signs. Without it, another service could reuse the signature. */
  readonly origin: string
  readonly writeStatement: WriteStatement
}

/**
 * Creates the route that shows the payments of a wallet to its owner, who signs a challenge with the wallet. Each
 * instance accepts a signature for one download.
 */
export function statementRoute(deps: StatementRouteDeps): FreeRoute {
  const used = createUsedProofs()
  return { path: '/api/statements/:wallet', serve: (request) => serveStatement(deps, used, request) }
}

async function serveStatement(deps: StatementRouteDeps, used: UsedProofs, request: FreeRequest): Promise<FreeAnswer> {
  const parsed = parseQuery(request.query)
  if (!parsed.ok) return invalidRequest([parsed.problem])
  const nowMs = deps.clock.nowMs()
  const { month, ...strays } = parsed.values
  if (month === undefined || !hasBegun(month, nowMs) || Object.keys(strays).length > 0)
    return invalidRequest([
      { field: 'month', message: 'must be a month such as 2026-11, not after this one, and alone' },
    ])
  const wallet = readAddress(request.segment)
  if (wallet === undefined) return invalidRequest([{ field: 'wallet', message: 'must be the address of a wallet' }])
  const question = { origin: deps.origin, purpose: `list the payments of ${wallet} in ${month}`, nowMs }
  const proven = readWallet({ ...question, authorization: request.header('authorization') })
  if (proven?.wallet !== wallet) return askForSignature(question, 'this wallet')
  // Limit the lookups, because one address could otherwise fill the memory of used proofs with wallets that it
  // generates. All wallets would then be refused.
  const limited = request.limits.limitLookups()
  if (limited !== undefined) return refusalAnswer(limited)
  if (!used.use(proven, nowMs)) return askForSignature(question, 'this wallet')
  const again = 'sign a new challenge in 2 s'
  const silence = { log: deps.log, event: 'statement_unreadable', error: `the ledger did not answer; ${again}` }
  return unlessSilent(silence, async () => {
    const body = await deps.writeStatement({ wallet, month })
    return body === undefined
      ? unavailable(`the statement is being brought up to date; ${again}`)
      : csvAnswer(body, month)
  })
}

function csvAnswer(body: Readable, month: string): FreeAnswer {
  const headers = {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="tollbook-${month}.csv"`,
    'cache-control': 'private, no-store',
  }
  return { status: 200, headers, body }
}

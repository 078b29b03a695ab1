import type { Json } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { jsonAnswer } from '../paywall/answer.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { errorAnswer, invalidRequest } from '../transport/transportError.ts'
import { askForSignature, readWallet } from './walletChallenge.ts'

/** A tab with the keys that may close it. */
export interface ShownTab {
  readonly wallet: string
  readonly sessionKey: string | undefined
  readonly facts: Readonly<Record<string, Json>>
}

/** Tabs for HTTP. Every method throws a `Fault` while the ledger does not answer. */
export interface TabAccounts {
  show(tab: string): Promise<ShownTab | undefined>
  /** Returns the rest that is owed to the wallet, in base units. Undefined if the tab was closed before. */
  close(tab: string, by: 'wallet' | 'session_key'): Promise<string | undefined>
  custody(): Promise<Readonly<Record<string, Json>>>
}

export interface TabRouteDeps {
  readonly clock: Clock
  readonly log: Log
  readonly origin: string
  readonly accounts: TabAccounts
}

/** Shows a tab, closes it for its wallet or its session key, and shows what the wallet for tabs holds. */
export function tabRoutes(deps: TabRouteDeps): readonly FreeRoute[] {
  const guarded = (answer: (request: FreeRequest) => Promise<FreeAnswer>) => (request: FreeRequest) =>
    request.query === ''
      ? unlessSilent(deps, () => answer(request))
      : Promise.resolve(invalidRequest([{ field: 'query', message: 'must be empty' }]))
  return [
    { path: '/api/tabs/custody', serve: guarded(async () => found(await deps.accounts.custody())) },
    {
      path: '/api/tabs/:tab',
      serve: guarded(async ({ segment }) => {
        const tab = await deps.accounts.show(segment)
        return tab === undefined ? unknownTab() : found(tab.facts)
      }),
      remove: guarded((request) => closeTab(deps, request)),
    },
  ]
}

/** The rest goes to the wallet that paid, also if the session key asks, and never to an address in the request. */
async function closeTab({ clock, origin, accounts }: TabRouteDeps, request: FreeRequest): Promise<FreeAnswer> {
  const { segment } = request
  const question = { origin, purpose: `close the tab ${segment}`, nowMs: clock.nowMs() }
  const given = readWallet({ ...question, authorization: request.header('authorization') })
  const tab = await accounts.show(segment)
  if (tab === undefined) return unknownTab()
  const by = given?.wallet === tab.wallet ? 'wallet' : 'session_key'
  const isHolder = given !== undefined && (by === 'wallet' || given.wallet === tab.sessionKey)
  if (!isHolder) return askForSignature(question, 'the wallet or the session key of the tab')
  const restBaseUnits = await accounts.close(segment, by)
  return found({ tab: segment, closed: true, wallet: tab.wallet, restBaseUnits: restBaseUnits ?? '0' })
}

function found(data: Readonly<Record<string, Json>>): FreeAnswer {
  return jsonAnswer(200, JSON.stringify({ success: true, data }))
}

function unknownTab(): FreeAnswer {
  return errorAnswer('NOT_FOUND', 'no deposit on record opened this tab')
}

async function unlessSilent({ log }: TabRouteDeps, answer: () => Promise<FreeAnswer>): Promise<FreeAnswer> {
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    log.warn({ event: 'tab_unreadable', error: describeError(error) })
    const body = { error: 'the ledger or the chain did not answer; try again in 2 s', code: 'ENDPOINT_UNAVAILABLE' }
    return jsonAnswer(503, JSON.stringify(body), { 'retry-after': '2' })
  }
}

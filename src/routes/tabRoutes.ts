import { z } from 'zod'
import { type Address, readAddress } from '@tollbook/core/address'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import { jsonAnswer } from '../paywall/answer.ts'
import type { FreeAction, FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { errorAnswer, invalidRequest } from '../transport/transportError.ts'
import { unlessSilent } from './unlessSilent.ts'
import { askForSignature, readWallet } from './walletChallenge.ts'

export interface ShownTab {
  readonly wallet: string
  readonly sessionKey: string | undefined
  /** True if the tab was opened for a bearer key. The tab then has the daily limit of bearer keys. */
  readonly hasBearerKey: boolean
  /**
   * Number of changes so far. The signed text of a key replacement contains the number of the new change, so that the
   * signature is not valid for a later replacement.
   */
  readonly changes: number
  readonly facts: Readonly<Record<string, Json>>
}

/** The operations on tabs that HTTP routes use. Every method throws a `Fault` while the ledger does not answer. */
export interface TabAccounts {
  show(tab: string): Promise<ShownTab | undefined>
  /**
   * Closes the tab. Returns the unspent balance that is owed to the wallet, in base units, also if the tab was already
   * closed.
   */
  close(tab: string, by: 'wallet' | 'session_key'): Promise<string>
  /** Replaces both keys. Returns false if the tab was closed, or changed at the same time. */
  replaceKeys(tab: string, keys: NewKeys): Promise<boolean>
  custody(): Promise<Readonly<Record<string, Json>>>
}

/** The new keys of a tab. A key that is missing here is no longer valid. */
export interface NewKeys {
  readonly sessionKey: Address
  readonly bearerHash: string | undefined
}

export interface TabRouteDeps {
  readonly clock: Clock
  readonly log: Log
  readonly origin: string
  readonly accounts: TabAccounts
}

export function tabRoutes(deps: TabRouteDeps): readonly FreeRoute[] {
  const error = 'the ledger or the chain did not answer; try again in 2 s'
  const silence = { log: deps.log, event: 'tab_unreadable', error }
  const guarded =
    <Given extends FreeRequest>(answer: (request: Given) => Promise<FreeAnswer>) =>
    async (request: Given) =>
      request.query === ''
        ? unlessSilent(silence, () => answer(request))
        : invalidRequest([{ field: 'query', message: 'must be empty' }])
  return [
    { path: '/api/tabs/custody', serve: guarded(async () => found(await deps.accounts.custody())) },
    {
      path: '/api/tabs/:tab',
      serve: guarded(async ({ segment }: FreeRequest) => {
        const tab = await deps.accounts.show(segment)
        return tab === undefined ? unknownTab() : found(tab.facts)
      }),
      post: guarded((action: FreeAction) => replaceKeys(deps, action)),
      remove: guarded((request: FreeRequest) => closeTab(deps, request)),
    },
  ]
}

/**
 * Closes a tab. The unspent balance goes to the wallet that paid, even if the session key closes the tab, and never to
 * an address in the request.
 */
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
  return found({ tab: segment, closed: true, wallet: tab.wallet, restBaseUnits })
}

const newKeys = z.strictObject({
  sessionKey: z.string().transform((text, context) => {
    const key = readAddress(text)
    if (key === undefined) context.addIssue({ code: 'custom', message: 'must be an Ed25519 key in base58' })
    return key ?? z.NEVER
  }),
  bearerSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be SHA-256 in hex')
    .exactOptional(),
})

/** Replaces the keys of a tab. Only the wallet may do this, because the session key may have been stolen. */
async function replaceKeys({ clock, origin, accounts }: TabRouteDeps, action: FreeAction): Promise<FreeAnswer> {
  const { segment, body, header } = action
  const read = newKeys.safeParse(body)
  if (!read.success)
    return invalidRequest(read.error.issues.map(({ path, message }) => ({ field: path.join('.') || 'body', message })))
  const { sessionKey, bearerSha256: bearerHash } = read.data
  const tab = await accounts.show(segment)
  if (tab === undefined) return unknownTab()
  if (bearerHash !== undefined && !tab.hasBearerKey)
    return invalidRequest([{ field: 'bearerSha256', message: 'is for tabs that were opened with a bearer key' }])
  const replacement = bearerHash === undefined ? sessionKey : `${sessionKey} and the bearer key ${bearerHash}`
  const purpose = `replace the keys of the tab ${segment} by ${replacement} as change ${tab.changes + 1}`
  const question = { origin, purpose, nowMs: clock.nowMs() }
  const given = readWallet({ ...question, authorization: header('authorization') })
  if (given?.wallet !== tab.wallet) return askForSignature(question, 'the wallet that opened the tab')
  const isReplaced = await accounts.replaceKeys(segment, { sessionKey, bearerHash })
  if (!isReplaced) return errorAnswer('NOT_FOUND', 'the tab is closed, or was changed at the same moment')
  return found({ tab: segment, sessionKey, bearerSha256: bearerHash ?? null })
}

function found(data: Readonly<Record<string, Json>>): FreeAnswer {
  return jsonAnswer(200, JSON.stringify({ success: true, data }))
}

function unknownTab(): FreeAnswer {
  return errorAnswer('NOT_FOUND', 'no deposit on record opened this tab')
}

import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { decodeBase58 } from '@tollbook/core/base58'
import { readSignature } from '@tollbook/core/signature'
import { readTabId, tabIdOf } from '@tollbook/core/tab'
import { PayerFault } from '../errorCode.ts'
import type { Payer } from '../payer.ts'
import { parseJson, readBody } from '../readBody.ts'
import { addressText } from '../sponsored/offerText.ts'
import { withinTime } from '../timeLimit.ts'
import type { OpenedRecord } from './tabRecords.ts'

export const answerBytesMax = 64 * 1024

/** Reads an answer about a tab. Another body may come from a proxy, so the same question may succeed later. */
export function readAnswer<T>(service: string, schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const message = `the answer of ${service} about its tab cannot be read (${issue?.path.join('.')}: ${issue?.message})`
  throw new PayerFault('SERVICE_UNAVAILABLE', message, { retryable: true })
}

// Refuse half of a surrogate pair, because debits and closings sign the UTF-8 bytes of this text.
const originText = z.string().refine((text) => text.isWellFormed())
const openedBody = z.object({
  data: z.object({
    tab: z.string().refine((text) => readTabId(text) !== undefined, 'it is not an id of a tab'),
    deposit: z.string(),
    mint: addressText,
    origin: originText,
    terms: z.object({ endsAt: z.iso.datetime() }),
  }),
})

export function readOpened(service: string, body: unknown): OpenedRecord['opened'] {
  const { terms, ...opened } = readAnswer(service, openedBody, body).data
  return { ...opened, endsAtMs: Date.parse(terms.endsAt) }
}

export async function readFromService(payer: Payer, question: Omit<TabPlace, 'tab'>, signature: string) {
  const { service } = question
  const bytes = assertPresent(decodeBase58(assertPresent(readSignature(signature), 'a signature'), 64), '64 bytes')
  const tab = tabIdOf(bytes)
  const { mint, endsAt } = await readTab(payer, { service, tab, signal: question.signal })
  const { challenge } = await askForChallenge(payer, { service, tab, signal: question.signal })
  const [origin = ''] = challenge.split(' asks: ', 1)
  return { tab, deposit: signature, mint, origin, endsAtMs: Date.parse(endsAt) }
}

export interface TabPlace {
  readonly service: string
  readonly tab: string
  readonly signal: AbortSignal
}

export const balanceText = z.string().regex(/^(0|[1-9]\d{0,19})$/)
// Accept a short word only, because a wallet shows it to a model.
const stateText = z.string().regex(/^[a-z_]{1,32}$/)
const shownTab = z.object({
  data: z.object({ mint: addressText, endsAt: z.iso.datetime(), state: stateText, balanceBaseUnits: balanceText }),
})
const challengeBody = z.object({ challenge: originText, expiresAt: z.string() })

export async function readTab(payer: Payer, place: TabPlace) {
  return readAnswer(place.service, shownTab, await askAboutTab(payer, place, {})).data
}

export async function askForChallenge(payer: Payer, place: TabPlace) {
  return readAnswer(place.service, challengeBody, await askAboutTab(payer, place, { method: 'DELETE' }))
}

export function askAboutTab({ fetch, clock, retry }: Payer, place: TabPlace, init: RequestInit): Promise<unknown> {
  const { service, tab, signal } = place
  return withinTime({ clock, timeoutMs: retry.attemptTimeoutMs, signal }, async (signal) => {
    const response = await fetch(`${service}/api/tabs/${tab}`, { ...init, redirect: 'manual', signal })
    const body = parseJson(await readBody(response, answerBytesMax))
    if (response.status === 200 || response.status === 401) return body
    const message =
      response.status === 404
        ? `${service} does not know the tab ${tab}: another service or ledger sold it. Give its URL, or use another store`
        : `the service answered ${response.status} about the tab ${tab}`
    // The error is retryable unless the status is 404, because only a 404 proves that the service has no such tab. A
    // rate limit or a proxy in between proves nothing.
    throw new PayerFault('SERVICE_UNAVAILABLE', message, { retryable: response.status !== 404 })
  })
}

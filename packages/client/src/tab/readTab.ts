import { z } from 'zod'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { decodeBase58 } from '@tollbook/core/base58'
import { readSignature } from '@tollbook/core/signature'
import { tabIdOf } from '@tollbook/core/tab'
import { PayerFault } from '../errorCode.ts'
import type { Payer } from '../payer.ts'
import { parseJson, readBody } from '../readBody.ts'
import { withinTime } from '../timeLimit.ts'
import type { OpenedRecord } from './tabRecords.ts'

export const answerBytesMax = 64 * 1024

const openedBody = z.object({
  data: z.object({
    tab: z.string(),
    deposit: z.string(),
    mint: z.string(),
    origin: z.string(),
    terms: z.object({ endsAt: z.iso.datetime() }),
  }),
})

export function readOpened(body: unknown): OpenedRecord['opened'] {
  const { data } = openedBody.parse(body)
  return openedBy({ ...data, endsAt: data.terms.endsAt })
}

function openedBy(facts: { tab: string; deposit: string; mint: string; origin: string; endsAt: string }) {
  const { tab, deposit, mint, origin, endsAt } = facts
  return { tab, deposit, mint: assertPresent(readAddress(mint), 'a mint'), origin, endsAtMs: Date.parse(endsAt) }
}

export async function readFromService(payer: Payer, question: Omit<TabPlace, 'tab'>, signature: string) {
  const { service } = question
  const bytes = assertPresent(decodeBase58(assertPresent(readSignature(signature), 'a signature'), 64), '64 bytes')
  const tab = tabIdOf(bytes)
  const { mint, endsAt } = await readTab(payer, { service, tab, signal: question.signal })
  const { challenge } = await askForChallenge(payer, { service, tab, signal: question.signal })
  const [origin = ''] = challenge.split(' asks: ', 1)
  return openedBy({ tab, deposit: signature, mint, origin, endsAt })
}

export interface TabPlace {
  readonly service: string
  readonly tab: string
  readonly signal: AbortSignal
}

const shownTab = z.object({
  data: z.object({ mint: z.string(), endsAt: z.iso.datetime(), state: z.string(), balanceBaseUnits: z.string() }),
})
const challengeBody = z.object({ challenge: z.string(), expiresAt: z.string() })

export async function readTab(payer: Payer, place: TabPlace) {
  return shownTab.parse(await askAboutTab(payer, place, {})).data
}

export async function askForChallenge(payer: Payer, place: TabPlace) {
  return challengeBody.parse(await askAboutTab(payer, place, { method: 'DELETE' }))
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

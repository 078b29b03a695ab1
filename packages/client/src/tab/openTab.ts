import { ed25519 } from '@noble/curves/ed25519'
import { z } from 'zod'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { concatBytes } from '@tollbook/core/bytes'
import { randomBytesOf, randomToken } from '@tollbook/core/id'
import { readSignature } from '@tollbook/core/signature'
import { decodeBase58 } from '@tollbook/core/base58'
import { tabIdOf } from '@tollbook/core/tab'
import { attoUsdOf, type PayableQuote } from '../checkQuote.ts'
import { PayerFault } from '../errorCode.ts'
import { InsufficientFunds } from '../insufficientFunds.ts'
import { type PayableRequest, readRequest } from '../payableRequest.ts'
import type { Payer, TabOption } from '../payer.ts'
import { PaymentNotSent, PaymentRefused } from '../paymentError.ts'
import type { PendingPayment } from '../pendingPayment.ts'
import { quoteProblem, QuoteRefused } from '../quoteProblem.ts'
import { parseJson, readBody } from '../readBody.ts'
import { readSecretKey } from '../solana/keypair.ts'
import { SpendingLimitExceeded } from '../spendingLimit.ts'
import { withinTime } from '../timeLimit.ts'
import type { OpenedRecord, TabRecord } from './tabRecords.ts'

/** Pays a request as every other request is paid. */
export type Pay = (payer: Payer, request: PayableRequest) => Promise<Response>

export interface TabQuestion {
  readonly service: string
  readonly option: TabOption
  readonly signal: AbortSignal
  readonly pay: Pay
  /** Throws where a limit or the offer does not permit the deposit. Default: the request is paid by itself. */
  readonly isRequired?: true
}

/** The open tab at the service. Opens one at the first call. Undefined if the request has to be paid by itself. */
export async function findTab(payer: Payer, question: TabQuestion): Promise<OpenedRecord | undefined> {
  const { service, signal } = question
  const { tabs } = payer
  if (tabs.without.has(service)) return undefined
  const found = await tabs.read(service)
  if (found !== undefined && isCurrent(found, payer)) return usable(found)
  return tabs.exclusively(service, signal, async () => {
    const record = await tabs.read(service)
    return record !== undefined && isCurrent(record, payer)
      ? usable(record)
      : openTab(payer, question, record?.opened === undefined ? record : undefined)
  })
}

/** A tab that its holder closed is not replaced before its end: a service could otherwise take deposit after deposit. */
function isCurrent({ opened }: TabRecord, { clock }: Payer): boolean {
  return opened !== undefined && clock.nowMs() < opened.endsAtMs
}

function usable(record: TabRecord): OpenedRecord | undefined {
  const { opened, isClosed } = record
  return opened === undefined || isClosed ? undefined : { ...record, opened }
}

/** Buys the tab, or goes on with the purchase that an earlier process began. */
async function openTab(payer: Payer, question: TabQuestion, begun: TabRecord | undefined) {
  const { service, option } = question
  const record = begun ?? newRecord(payer, service, option)
  if (begun === undefined) await payer.tabs.write(record)
  const { address } = readSecretKey(assertPresent(readBase64(record.secretKey), 'a record holds base64'))
  const order = { depositUsd: record.depositUsd, sessionKey: address }
  const answered: PendingPayment[] = []
  try {
    const response = await buyDeposit(payer, question, { record, order, answered })
    if (response.status !== 200) {
      if (record.deposit === undefined) await payer.tabs.forget(service)
      if ([400, 404, 405].includes(response.status)) payer.tabs.without.add(service)
      return undefined
    }
    const opened = readOpened(parseJson(await readBody(response, answerBytesMax)))
    return await keepOpened(payer, { ...record, opened }, answered)
  } catch (error) {
    // A later call may present the deposit again.
    for (const payment of answered) await payer.open.leave(payment)
    if (error instanceof DepositFound) return keepOpened(payer, { ...record, opened: error.opened }, [])
    return recover(payer, { record, question, error })
  }
}

function newRecord({ wallet }: Payer, service: string, { depositUsd }: TabOption): TabRecord {
  const seed = randomBytesOf(32)
  return {
    format: 'tollbook-tab-1',
    service,
    wallet: wallet.address,
    secretKey: encodeBase64(concatBytes([seed, ed25519.getPublicKey(seed)])),
    depositUsd,
    idempotencyKey: randomToken(),
    isClosed: false,
  }
}

const answerBytesMax = 64 * 1024

/** The payment of the deposit stays open until the facts of its tab are kept, so that a crash loses no tab. */
async function keepOpened(payer: Payer, begun: OpenedRecord, answered: readonly PendingPayment[]) {
  const { deposit: _known, ...record } = begun
  await payer.tabs.write(record)
  for (const payment of answered) await payer.open.close(payment, 'answered')
  return record
}

interface FailedOpening {
  readonly record: TabRecord
  readonly question: TabQuestion
  readonly error: unknown
}

async function recover(payer: Payer, { record, question, error }: FailedOpening): Promise<OpenedRecord | undefined> {
  // The service no longer repeats its answer. The deposit names the tab.
  if (error instanceof PaymentRefused && error.reason === 'already_used') {
    const opened = await readFromService(payer, question, error.payment.signature)
    return keepOpened(payer, { ...record, opened }, [])
  }
  const isOver = error instanceof PaymentRefused || error instanceof PaymentNotSent
  // Keep the key while an earlier deposit may still open its tab.
  if (isOver || (isUnpaid(error) && record.deposit === undefined)) await payer.tabs.forget(question.service)
  if (isUnpaid(error) && question.isRequired !== true) return undefined
  throw error
}

interface DepositOrder {
  readonly record: TabRecord
  readonly order: Readonly<Record<string, unknown>>
  /** Receives the payment of the deposit. Undefined: it is closed with its answer. */
  readonly answered?: PendingPayment[]
}

/** Buys `POST /api/tabs` on the path of every payment, so that limits and store count the deposit. */
async function buyDeposit(payer: Payer, question: TabQuestion, deposit: DepositOrder) {
  const { service, option, signal, pay } = question
  const { order, answered, record } = deposit
  const { expectedPaymentWallet: _other, ...pins } = payer.pins
  // A top-up has no key, so that it goes on with an earlier one that has no outcome.
  const key = answered === undefined ? {} : { 'idempotency-key': record.idempotencyKey }
  const headers = { 'content-type': 'application/json', ...key }
  const init = { method: 'POST', headers, body: JSON.stringify(order), signal }
  const wallet = option.expectedWallet === undefined ? {} : { expectedPaymentWallet: option.expectedWallet }
  const { open } = payer
  const buyer: Payer = {
    ...payer,
    tab: undefined,
    paysDeposit: true,
    // A deposit must carry the memo of its quote.
    form: 'bound',
    pins: { ...pins, ...wallet },
    protocols: [],
    dollarMints: [],
    open: {
      ...open,
      async close(payment, outcome) {
        if (answered === undefined || outcome !== 'answered') return open.close(payment, outcome)
        answered.push(payment)
      },
    },
    async onEvent(event) {
      const signedAtMs = payer.clock.nowMs()
      if (event.kind === 'quoted') {
        requirePrice(payer, event.plan.quote, record.depositUsd)
        await refuseSecondDeposit(payer, question, record)
      }
      if (event.kind === 'signed')
        await payer.tabs.write({ ...record, deposit: { signature: event.payment.signature, signedAtMs } })
      await payer.onEvent(event)
    },
  }
  return pay(buyer, await readRequest(`${service}/api/tabs`, init))
}

/** An earlier deposit has opened the tab, so nothing is signed. */
class DepositFound extends Error {
  readonly opened: OpenedRecord['opened']

  constructor(opened: OpenedRecord['opened']) {
    super(`an earlier deposit has opened the tab ${opened.tab}`)
    this.opened = opened
  }
}

/** An earlier deposit may still land. Nothing is signed. */
class DepositOpen extends PayerFault {
  constructor() {
    super('SERVICE_UNAVAILABLE', 'an earlier deposit has no outcome yet; try again in 10 minutes', { retryable: true })
  }
}

// Blockhashes expire within two minutes. Clocks differ.
const landsMostMs = 10 * 60 * 1000

/** The answer to an earlier deposit may have arrived elsewhere, for example at `resume`. */
async function refuseSecondDeposit(payer: Payer, question: TabQuestion, { deposit, opened }: TabRecord): Promise<void> {
  if (deposit === undefined) return
  const mayLand = payer.clock.nowMs() < deposit.signedAtMs + landsMostMs
  if (opened !== undefined && !mayLand) return
  if (opened !== undefined) throw new DepositOpen()
  try {
    throw new DepositFound(await readFromService(payer, question, deposit.signature))
  } catch (error) {
    // The service has no tab of that deposit.
    if (!(error instanceof PayerFault) || error.retryable) throw error
    if (mayLand) throw new DepositOpen()
  }
}

/** The limit per request does not bound a deposit, so its size must, by the payer's own worth of the tokens. */
function requirePrice({ worth }: Payer, quote: PayableQuote, depositUsd: number): void {
  const { priceAttoUsd, requiredBaseUnits, decimals } = quote
  const { attoUsd } = worth({ attoUsd: priceAttoUsd, baseUnits: requiredBaseUnits }, decimals)
  if (attoUsd <= (attoUsdOf(depositUsd) ?? 0n)) return
  throw new QuoteRefused(quoteProblem('price_wrong', `a deposit of ${depositUsd} USD has a higher price`), undefined)
}

const openedBody = z.object({
  data: z.object({
    tab: z.string(),
    deposit: z.string(),
    mint: z.string(),
    origin: z.string(),
    terms: z.object({ endsAt: z.iso.datetime() }),
  }),
})

function readOpened(body: unknown): OpenedRecord['opened'] {
  const { data } = openedBody.parse(body)
  return openedBy({ ...data, endsAt: data.terms.endsAt })
}

function openedBy(facts: { tab: string; deposit: string; mint: string; origin: string; endsAt: string }) {
  const { tab, deposit, mint, origin, endsAt } = facts
  return { tab, deposit, mint: assertPresent(readAddress(mint), 'a mint'), origin, endsAtMs: Date.parse(endsAt) }
}

async function readFromService(payer: Payer, question: TabQuestion, signature: string) {
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

/** State and balance of a tab, as the service shows them to everyone. */
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
    const message = `the service answered ${response.status} about the tab ${tab}`
    throw new PayerFault('SERVICE_UNAVAILABLE', message, { retryable: response.status >= 500 })
  })
}

/** Buys one more deposit if the tab holds less than needed. False if limits or service do not permit it. */
export async function topUpTab(
  payer: Payer,
  question: TabQuestion,
  { record, neededBaseUnits }: { readonly record: OpenedRecord; readonly neededBaseUnits: bigint },
): Promise<boolean> {
  const { service, option, signal } = question
  const { tab } = record.opened
  return payer.tabs.exclusively(service, signal, async () => {
    // Another call may have topped the tab up.
    const { balanceBaseUnits } = await readTab(payer, { service, tab, signal })
    if (BigInt(balanceBaseUnits) >= neededBaseUnits) return true
    const order = { depositUsd: option.depositUsd, tab }
    const { deposit, ...settled } = record
    const current = (await payer.tabs.read(service))?.deposit ?? deposit
    const unsettled = { ...settled, depositUsd: option.depositUsd, ...(current && { deposit: current }) }
    try {
      const { status } = await buyDeposit(payer, question, { record: unsettled, order })
      if (status !== 200) return false
      await payer.tabs.write(settled)
      return true
    } catch (error) {
      if (error instanceof PaymentRefused || error instanceof PaymentNotSent) await payer.tabs.write(settled)
      if (isUnpaid(error)) return false
      throw error
    }
  })
}

/** True if nothing was signed: the request is paid by itself, within what the limits leave. */
function isUnpaid(error: unknown): boolean {
  return [SpendingLimitExceeded, QuoteRefused, InsufficientFunds, DepositOpen].some((kind) => error instanceof kind)
}

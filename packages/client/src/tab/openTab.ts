import { ed25519 } from '@noble/curves/ed25519'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { concatBytes } from '@tollbook/core/bytes'
import { randomBytesOf, randomToken } from '@tollbook/core/id'
import type { Payer, TabOption } from '../payer.ts'
import { PaymentNotSent, PaymentRefused } from '../paymentError.ts'
import type { PendingPayment } from '../pendingPayment.ts'
import { parseJson, readBody } from '../readBody.ts'
import { readSecretKey } from '../solana/keypair.ts'
import { buyDeposit, DepositFound, isUnpaid, type TabQuestion } from './buyDeposit.ts'
import { answerBytesMax, readFromService, readOpened, readTab } from './readTab.ts'
import type { OpenedRecord, TabRecord } from './tabRecords.ts'

/** The open tab at the service. Opens one at the first call. Undefined if the request has to be paid by itself. */
export async function findTab(payer: Payer, question: TabQuestion): Promise<OpenedRecord | undefined> {
  const { service, option, signal } = question
  const { tabs } = payer
  if (tabs.without.has(service)) return undefined
  const found = await tabs.read(service)
  if (found !== undefined && isCurrent(found, payer)) return usable(found)
  if (option.depositUsd === 0) return undefined
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
    // The signature of the fee payer names the tab, and only the service has it. Keep the key of the tab.
    if (error.payment.protocol !== undefined) throw error
    const opened = await readFromService(payer, question, error.payment.signature)
    return keepOpened(payer, { ...record, opened }, [])
  }
  const isOver = error instanceof PaymentRefused || error instanceof PaymentNotSent
  // Keep the key while an earlier deposit may still open its tab.
  if (isOver || (isUnpaid(error) && record.deposit === undefined)) await payer.tabs.forget(question.service)
  if (isUnpaid(error) && question.isRequired !== true) return undefined
  throw error
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

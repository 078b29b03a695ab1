import { assertPresent } from '@tollbook/core/assert'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { randomToken } from '@tollbook/core/id'
import type { Payer, TabOption } from '../payer.ts'
import { PaymentNotSent, PaymentRefused } from '../paymentError.ts'
import type { PendingPayment } from '../pendingPayment.ts'
import { parseJson, readBody } from '../readBody.ts'
import { newSecretKey, readSecretKey } from '../solana/keypair.ts'
import { buyDeposit, DepositFound, isUnpaid, type TabQuestion } from './buyDeposit.ts'
import { answerBytesMax, readFromService, readOpened, readTab } from './readTab.ts'
import type { OpenedRecord, TabRecord } from './tabRecords.ts'

/** Opens a tab at the first call if a deposit is configured. Undefined: the request must be paid separately. */
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

/**
 * True until the end of the opened tab, even if the tab accepts no more debits. Otherwise a service could end each tab
 * at once and sell the next deposit.
 */
function isCurrent({ opened }: TabRecord, { clock }: Payer): boolean {
  return opened !== undefined && clock.nowMs() < opened.endsAtMs
}

function usable(record: TabRecord): OpenedRecord | undefined {
  const { opened, isClosed } = record
  return opened === undefined || isClosed ? undefined : { ...record, opened }
}

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
    const opened = readOpened(service, parseJson(await readBody(response, answerBytesMax)))
    return await keepOpened(payer, { ...record, opened }, answered)
  } catch (error) {
    // Release the deposit, so that a later call can present it again.
    for (const payment of answered) await payer.open.leave(payment)
    if (error instanceof DepositFound) return keepOpened(payer, { ...record, opened: error.opened }, [])
    return recover(payer, { record, question, error })
  }
}

function newRecord({ wallet }: Payer, service: string, { depositUsd }: TabOption): TabRecord {
  return {
    format: 'tollbook-tab-1',
    service,
    wallet: wallet.address,
    secretKey: encodeBase64(newSecretKey()),
    depositUsd,
    idempotencyKey: randomToken(),
    isClosed: false,
  }
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * Stores the tab before it closes the payment of the deposit, so that a crash cannot lose the tab. The stored end is at
 * least a day ahead. Otherwise a service that states an end in the past could sell a deposit for each request. The same
 * would happen if the payer's clock is far ahead.
 */
async function keepOpened(payer: Payer, begun: OpenedRecord, answered: readonly PendingPayment[]) {
  const { deposit: _known, opened, ...rest } = begun
  const endsAtMs = Math.max(opened.endsAtMs, payer.clock.nowMs() + dayMs)
  const record = { ...rest, opened: { ...opened, endsAtMs } }
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
  // The service no longer repeats its answer, so find the tab by the signature of the deposit.
  if (error instanceof PaymentRefused && error.reason === 'already_used') {
    // Keep the key of the tab: only the service can identify the tab, because its ID comes from the fee payer's
    // signature.
    if (error.payment.protocol !== undefined) throw error
    const opened = await readFromService(payer, question, error.payment.signature)
    return keepOpened(payer, { ...record, opened }, [])
  }
  const isOver = error instanceof PaymentRefused || error instanceof PaymentNotSent
  // Forget the record only if no earlier deposit may still open its tab.
  if (isOver || (isUnpaid(error) && record.deposit === undefined)) await payer.tabs.forget(question.service)
  if (isUnpaid(error) && question.isRequired !== true) return undefined
  throw error
}

/** Records that the tab accepts no more debits, unless another call has replaced the tab in the meantime. */
export async function markClosed(payer: Payer, { service, signal }: TabQuestion, { opened }: OpenedRecord) {
  await payer.tabs.exclusively(service, signal, async () => {
    const current = await payer.tabs.read(service)
    if (current?.opened?.tab === opened.tab) await payer.tabs.write({ ...current, isClosed: true })
  })
}

/**
 * Buys another deposit unless the balance suffices by now. False if the limits, the wallet or the service do not permit
 * it, or if the tab was replaced.
 */
export async function topUpTab(
  payer: Payer,
  question: TabQuestion,
  { record, neededBaseUnits }: { readonly record: OpenedRecord; readonly neededBaseUnits: bigint },
): Promise<boolean> {
  const { service, option, signal } = question
  const { tab } = record.opened
  return payer.tabs.exclusively(service, signal, async () => {
    const current = await payer.tabs.read(service)
    if (current?.opened?.tab !== tab) return false
    // Read the balance again, because another call may have topped up the tab.
    const { balanceBaseUnits } = await readTab(payer, { service, tab, signal })
    if (BigInt(balanceBaseUnits) >= neededBaseUnits) return true
    const { depositUsd } = option
    const { deposit: _unsettled, ...settled } = current
    try {
      const { status } = await buyDeposit(payer, question, {
        record: { ...current, depositUsd },
        order: { depositUsd, tab },
      })
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

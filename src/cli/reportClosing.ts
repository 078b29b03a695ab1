import { type Clock, isoTime } from '@tollbook/core/clock'
import { openCheckpoint } from '@tollbook/core/checkpoint'
import type { ClosingStatement, SignedClosing } from '@tollbook/core/closingStatement'
import { jwsSigner } from '@tollbook/core/compactJws'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { Fault } from '@tollbook/core/fault'
import { divideRoundingDown, formatDecimal } from '@tollbook/core/money'
import type { ReceiptSigningKey } from '../config.ts'
import { usdDecimals } from '../pricing/priceList.ts'
import { receiptKeyBytes, receiptKeyId } from '../settings/receiptKeys.ts'
import { signClosing } from '../reports/closing/signClosing.ts'
import type { Reports } from '../reports/reports.ts'
import type { ReportTable } from '../reports/reportTable.ts'
import { textTable } from './reportText.ts'

export interface ClosingCall {
  readonly reports: Pick<Reports, 'closing' | 'token'>
  readonly month: string
  readonly format: string
  readonly key: ReceiptSigningKey
  readonly clock: Clock
}

export async function closingText({ reports, month, format, key, clock }: ClosingCall): Promise<string> {
  const closing = await reports.closing({ month, nowMs: clock.nowMs() })
  requireOwnKey(key, closing.checkpoint, closing.statement.origin)
  const signed = signClosing(jwsSigner(ed25519Signer(key), receiptKeyId(key)), closing)
  return format === 'json' ? `${JSON.stringify(signed)}\n` : tableText(signed)
}

/**
 * Throws unless RECEIPT_SIGNING_KEY signed the checkpoint, because a statement under another key could never be
 * verified.
 */
function requireOwnKey(key: ReceiptSigningKey, note: string, origin: string): void {
  if (openCheckpoint(note, { name: origin, publicKey: receiptKeyBytes(key) }) !== undefined) return
  throw new Fault('RECEIPT_SIGNING_KEY did not sign the newest checkpoint of this ledger: use the key of the service', {
    retryable: false,
  })
}

function tableText({ statement }: SignedClosing): string {
  const { decimals, month, status, origin, treeSize, root, position, closesAt } = statement
  const price = statement.closingPrice
  const head = [
    `${month}, ${status}: ${origin}, positions up to ${position}, checkpoint of ${treeSize} events, root ${root}`,
    `mint ${statement.mint}`,
    ...(status === 'final' ? [] : [`the month is closed at ${closesAt}; later events change these figures`]),
    ...(price === null ? [] : [`price of ${price.day}: ${priceText(price, decimals)} USD for a token`]),
  ]
  return [
    head.join('\n'),
    textTable(accountTable(statement), decimals),
    textTable(totalTable(statement), decimals),
    lateText(statement),
  ].join('\n')
}

// Decimals of a token price. Token prices are small, and 12 decimals show 10^-12 dollars.
const priceDecimals = 12

function priceText({ priceMicroUsd, forBaseUnits }: NonNullable<ClosingStatement['closingPrice']>, decimals: number) {
  const scaled = BigInt(priceMicroUsd) * 10n ** BigInt(decimals + priceDecimals - usdDecimals)
  return formatDecimal(divideRoundingDown(scaled, BigInt(forBaseUnits)), priceDecimals)
}

function accountTable({ accounts }: ClosingStatement): ReportTable {
  const columns = ['openingBaseUnits', 'debitBaseUnits', 'creditBaseUnits', 'restatedBaseUnits', 'closingBaseUnits']
  const rows = accounts.map((line) => ({
    account: line.account,
    openingBaseUnits: BigInt(line.openingBaseUnits),
    debitBaseUnits: BigInt(line.debitBaseUnits),
    creditBaseUnits: BigInt(line.creditBaseUnits),
    restatedBaseUnits: BigInt(line.restatedBaseUnits),
    closingBaseUnits: BigInt(line.closingBaseUnits),
    closingAtDayPriceMicroUsd: BigInt(line.closingAtDayPriceMicroUsd),
  }))
  return { columns: ['account', ...columns, 'closingAtDayPriceMicroUsd'], rows, totals: undefined, next: undefined }
}

function totalTable({ totals }: ClosingStatement): ReportTable {
  const rows = Object.entries(totals).map(([total, { baseUnits, atQuotedPriceMicroUsd, atDayPriceMicroUsd }]) => ({
    total,
    amountBaseUnits: BigInt(baseUnits),
    atQuotedPriceMicroUsd: atQuotedPriceMicroUsd === null ? null : BigInt(atQuotedPriceMicroUsd),
    atDayPriceMicroUsd: BigInt(atDayPriceMicroUsd),
  }))
  const columns = ['total', 'amountBaseUnits', 'atQuotedPriceMicroUsd', 'atDayPriceMicroUsd']
  return { columns, rows, totals: undefined, next: undefined }
}

function lateText({ restatedCount, recordedLaterCount, issuedAt }: ClosingStatement): string {
  return [
    `${restatedCount} entries of earlier months were recorded after their close and are restated here`,
    `${recordedLaterCount} entries of this month or earlier were recorded after its close; the next statement restates them`,
    `issued at ${isoTime(Date.parse(issuedAt))}; --format json prints the signed statement\n`,
  ].join('\n')
}

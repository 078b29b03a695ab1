import { expect, test } from 'vitest'
import { verifyClosing } from '@tollbook/client/verifyClosing'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import type { ClosingStatement } from '@tollbook/core/closingStatement'
import { jwsSigner } from '@tollbook/core/compactJws'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { systemClock } from '@tollbook/core/clock'
import { closingText } from '../../src/cli/reportClosing.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { receiptKeyId } from '../../src/settings/receiptKeys.ts'
import { signClosing } from '../../src/reports/closing/signClosing.ts'

/* Two statements in a row. Each check of a statement holds for the previous one too. */

const key = makeReceiptKey()
const { d: _private, ...publicKey } = key
const origin = 'tollbook/closing'
const root = Buffer.alloc(32, 5)

function line(account: string, openingBaseUnits: number, debitBaseUnits: number) {
  const { debit, credit } = { debit: Math.max(0, debitBaseUnits), credit: Math.max(0, -debitBaseUnits) }
  return {
    account,
    openingBaseUnits: String(openingBaseUnits),
    debitBaseUnits: String(debit),
    creditBaseUnits: String(credit),
    restatedBaseUnits: '0',
    closingBaseUnits: String(openingBaseUnits + debitBaseUnits),
    debitAtDayPriceMicroUsd: '0',
    creditAtDayPriceMicroUsd: '0',
    closingAtDayPriceMicroUsd: '0',
  }
}

const noTotal = { baseUnits: '0', atQuotedPriceMicroUsd: null, atDayPriceMicroUsd: '0' }

function statementOf(month: string, opening: number, moved: number, size: number): ClosingStatement {
  return {
    format: 'tollbook-closing',
    version: 1,
    origin,
    mint: 'mint',
    decimals: 9,
    month,
    status: 'final',
    closesAt: '2026-11-02T00:00:00.000Z',
    position: size,
    treeSize: size,
    root: root.toString('base64'),
    closingPrice: null,
    accounts: [line('Assets:PaymentWallet', opening, moved), line('Liabilities:Share:provider', -opening, -moved)],
    totals: {
      received: noTotal,
      burned: noTotal,
      burnOwed: noTotal,
      burnConfirmed: noTotal,
      allocated: noTotal,
      refundsArisen: noTotal,
      refundsGranted: noTotal,
      paidOut: noTotal,
      refunded: noTotal,
      lost: noTotal,
    },
    owedBaseUnits: String(opening + moved),
    restated: [],
    restatedCount: 0,
    recordedLater: [],
    recordedLaterCount: 0,
    issuedAt: '2026-12-03T00:00:00.000Z',
  }
}

const october = statementOf('2026-10', 0, 500, 9)
const november = statementOf('2026-11', 500, 200, 20)
const noteOf = (size: number, by = key) => signCheckpoint({ origin, size, root }, ed25519Signer(by))
const sign = (statement: ClosingStatement, by = key, note = noteOf(statement.treeSize)) =>
  signClosing(jwsSigner(ed25519Signer(by), receiptKeyId(by)), { statement, checkpoint: note })

async function problemOf(closing: unknown, previous?: unknown, keys: unknown = publicKey) {
  const verdict = await verifyClosing({ closing, keys, ...(previous === undefined ? {} : { previous }) })
  return verdict.valid ? 'none' : verdict.problem
}

test('a statement verifies with the statement before it', async () => {
  expect(await problemOf(sign(november))).toBe('none')
  expect(await problemOf(sign(november), sign(october))).toBe('none')
})

const other = makeReceiptKey()
const signedOctober = sign(october)
const altered: readonly (readonly [string, unknown])[] = [
  ['malformed', { ...signedOctober, statement: { ...october, month: 'October' } }],
  ['signature_invalid', { ...signedOctober, statement: { ...october, owedBaseUnits: '501' } }],
  ['signature_invalid', sign(october, other)],
  ['checkpoint_unsigned', { ...signedOctober, checkpoint: noteOf(9, other) }],
  ['other_checkpoint', { ...signedOctober, checkpoint: noteOf(8) }],
  ['figures_wrong', sign({ ...october, owedBaseUnits: '501' })],
]

test.each(altered)(
  'a statement that is %s is not valid, and not as the previous one either',
  async (problem, closing) => {
    expect(await problemOf(closing)).toBe(problem)
    expect(await problemOf(sign(november), closing)).toBe(problem)
  },
)

test('a previous statement of the time before a key is refused, as the statement itself is', async () => {
  const keys = { ...publicKey, nbf: Date.parse('2026-12-04T00:00:00.000Z') / 1000 }
  expect(await problemOf(sign(october), undefined, keys)).toBe('key_out_of_period')
  const later = sign({ ...november, issuedAt: '2026-12-05T00:00:00.000Z' })
  expect(await problemOf(later, sign(october), keys)).toBe('key_out_of_period')
})

test.each<[string, ClosingStatement, ClosingStatement]>([
  ['opens at another balance', november, statementOf('2026-10', 0, 501, 9)],
  ['is not of the next month', november, statementOf('2026-09', 0, 500, 9)],
  ['follows a preliminary one', november, { ...october, status: 'preliminary' }],
  ['ends before the one before it', november, statementOf('2026-10', 0, 500, 21)],
  ['opens an account that was not closed', november, statementOf('2026-10', 0, 0, 9)],
  ['is of another mint', november, { ...october, mint: 'other' }],
])('a statement that %s does not continue it', async (_, statement, previous) => {
  expect(await problemOf(sign(statement), sign(previous))).toBe('not_carried_over')
})

test('the table of a statement has the price of one token, also of a token of nine decimals', async () => {
  const closingPrice = { day: '2026-11-30', priceMicroUsd: '10000', forBaseUnits: '10000000000' }
  const closing = { statement: { ...november, closingPrice }, checkpoint: noteOf(november.treeSize) }
  const reports = { closing: () => Promise.resolve(closing), token: { mint: 'mint', decimals: 9 } }
  const call = { reports, month: '2026-11', format: 'table', key, clock: systemClock }
  expect(await closingText(call)).toContain('price of 2026-11-30: 0.001 USD for a token\n')
})

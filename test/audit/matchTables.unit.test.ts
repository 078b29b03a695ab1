import { describe, expect, test } from 'vitest'
import { AuditState } from '../../packages/audit/src/auditState.ts'
import type { DatabaseSource } from '../../packages/audit/src/databaseSource.ts'
import { Findings } from '../../packages/audit/src/findings.ts'
import { accountClasses, classOf } from '../../packages/audit/src/accountClass.ts'
import { kinds } from '../../packages/audit/src/kinds.ts'
import { matchAccounts } from '../../packages/audit/src/matchAccounts.ts'
import { matchDeclaration } from '../../packages/audit/src/matchDeclaration.ts'
import { matchPostings } from '../../packages/audit/src/matchPostings.ts'
import type { AccountRow } from '../../packages/audit/src/rawEvent.ts'
import { matchReports } from '../../packages/audit/src/matchReports.ts'
import { matchHead } from '../../packages/audit/src/matchSettings.ts'
import { matchTables } from '../../packages/audit/src/matchTables.ts'
import { served } from './replayedLedger.ts'

/** A database that answers each query with the same rows. */
const sourceOf = (...rows: readonly object[]) => ({ rows: () => Promise.resolve(rows) }) as unknown as DatabaseSource

test.each([
  ['is a view', { is_table: false }, ['it is not a table']],
  ['has row security', { has_policies: true }, ['it has row security']],
  ['computes a column when it is read', { is_computed: true }, ['a column is computed when it is read']],
  ['is as it was created', {}, []],
])('a table of the ledger that %s', async (_, changed, differences) => {
  const findings = new Findings(AuditState.small())
  const plain = { name: 'ledger.events', is_table: true, has_policies: false, is_computed: false }
  await matchTables(findings, sourceOf({ ...plain, ...changed }))
  expect(findings.all().map(({ subject, message }) => [subject, message.split(':')[0]])).toEqual(
    differences.map((difference) => ['table ledger.events', difference]),
  )
})

test('each stored posting is compared in both accounts, their mint and its amount, and none may be left over', () => {
  const ledger = served()
  const [debit, credit] = [...ledger.replay.postings.accounts()]
  if (debit === undefined || credit === undefined) throw new Error('the ledger has accounts')
  const rowOf = ({ mint, account: name }: typeof debit) => ({ mint, name })
  const [from, to] = [rowOf(debit), rowOf(credit)]
  const codesOf = (debits: readonly AccountRow[], credits: readonly AccountRow[], amounts: readonly bigint[]) => {
    const findings = new Findings(AuditState.small())
    matchPostings({ debits, credits, amounts }, [{ debit, credit, amountBaseUnits: 7n }], { position: 3, findings })
    return findings.all().map(({ code, subject }) => [code, subject])
  }
  expect(codesOf([from], [to], [7n])).toEqual([])
  const differs = [['posting_differs', 'posting 3.0']]
  expect(codesOf([to], [from], [7n])).toEqual(differs)
  expect(codesOf([from], [to], [8n])).toEqual(differs)
  expect(codesOf([{ ...from, mint: 'other' }], [to], [7n])).toEqual(differs)
  expect(codesOf([from], [{ ...to, mint: 'other' }], [7n])).toEqual(differs)
  expect(codesOf([], [], [])).toEqual([['posting_missing', 'posting 3.0']])
  expect(codesOf([from, from], [to, to], [7n, 1n])).toEqual([['posting_unexpected', 'posting 3.1']])
  expect(codesOf([from, from], [to], [7n])).toEqual([['posting_unexpected', 'posting 3.1']])
})

const accountColumns = `number id mint name class isHourly floor ceiling balance debits credits upto uptoRecordedAtMs`

test.each<[string, { readonly uptoPosition?: number; readonly uptoRecordedAtMs?: number }, number]>([
  ['at its last event', {}, 0],
  ['at an earlier event', { uptoPosition: 1 }, 1],
  ['at its last event, recorded at another time', { uptoRecordedAtMs: 1 }, 1],
])('an account that ends %s', (_, changed, findings) => {
  const { replay } = served()
  const add = replay.state.found('foundAccounts', accountColumns.split(' '))
  for (const [number, derived] of [...replay.postings.accounts()].entries()) {
    const { id, mint, account, balanceBaseUnits, debitEntries, creditEntries, uptoPosition, uptoRecordedAtMs } =
      number === 0 ? { ...derived, ...changed } : derived
    const known = classOf(account)
    const rules = [known?.class ?? '', Number(known?.isHourly), known?.floor ?? '', known?.ceiling ?? '']
    const sums = [balanceBaseUnits.toString(), debitEntries, creditEntries, uptoPosition, uptoRecordedAtMs]
    add(number, id, mint, account, ...rules, ...sums)
  }
  matchAccounts(replay)
  expect(replay.findings.all().map(({ code }) => code)).toEqual(Array(findings).fill('account_differs'))
})

describe('the head of the ledger', () => {
  const { replay } = served()
  const leaf = Buffer.from(replay.records.lastLeaf, 'latin1')
  const right = {
    seq: String(replay.position),
    recorded_ms: String(replay.recordedAtMs),
    leaf_hash: `\\x${leaf.toString('hex')}`,
  }

  test.each([
    ['as it was written', [right], []],
    ['of an older release, without a hash', [{ ...right, leaf_hash: null }], []],
    ['with the hash of another event', [{ ...right, leaf_hash: '\\x00' }], [replay.position]],
    ['of another time', [{ ...right, recorded_ms: '1' }], [replay.position]],
    ['before the last event', [{ ...right, seq: '2' }], [3]],
    ['behind the last event', [{ ...right, seq: '99' }], [replay.position + 1]],
    ['on two rows', [right, right], [replay.position + 1]],
    ['nowhere', [], [0]],
  ] as const)('%s', async (_, rows, positions) => {
    const ledger = served()
    await matchHead(ledger.replay, sourceOf(...rows))
    expect(ledger.replay.findings.all().map(({ code, position }) => [code, position])).toEqual(
      positions.map((position) => ['head_differs', position]),
    )
  })
})

describe('the rules that the database declares', () => {
  const steps = kinds.flatMap(({ kind, steps: ofKind }) => ofKind.map((step) => ({ ...step, kind })))
  /** The declared rows, of which the first of a table that has the column is changed. */
  const sourceWith = (table: string, changed: object) => {
    const rows = new Map<string, readonly object[]>([
      ['kinds', kinds],
      ['steps', steps],
      ['classes', accountClasses],
    ])
    const [first, ...others] = rows.get(table) ?? []
    rows.set(table, [{ ...first, ...changed }, ...others])
    const answer = (query: string) => [...rows].find(([name]) => query.endsWith(`ledger.${name}`))?.[1] ?? []
    return { rows: (query: string) => Promise.resolve(answer(query)) } as unknown as DatabaseSource
  }

  test.each([
    ['kinds', { space: 99 }],
    ['kinds', { idBytes: 99 }],
    ['kinds', { idPrefix: 'x' }],
    ['kinds', { isSetting: true }],
    ['steps', { to: 'elsewhere' }],
    ['steps', { moves: ['wallet>share'] }],
    ['steps', { writer: 'finance' }],
    ['steps', { takesLease: true }],
    ['steps', { isAfterLease: true }],
    ['steps', { numberMax: 7 }],
    ['classes', { prefix: 'Assets:' }],
    ['classes', { isExact: false }],
    ['classes', { floor: '0' }],
    ['classes', { ceiling: '0' }],
    ['classes', { isHourly: true }],
  ])('in %s with %j are found', async (table, changed) => {
    const right = new Findings(AuditState.small())
    await matchDeclaration(right, sourceWith(table, {}))
    expect(right.all()).toEqual([])
    const findings = new Findings(AuditState.small())
    await matchDeclaration(findings, sourceWith(table, changed))
    expect(findings.all().map(({ code }) => code)).toEqual(['declaration_differs'])
  })
})

async function* noRows() {}

test.each([
  ['within the ledger', [{ upto_seq: '3' }], []],
  ['at the end of the ledger', [{ upto_seq: '4' }], []],
  ['beyond the ledger', [{ upto_seq: '5' }], ['report_differs']],
  ['on two places', [{ upto_seq: '3' }, { upto_seq: '3' }], ['report_differs']],
  ['nowhere', [], ['report_differs']],
])('reports that have come to a position %s', async (_, rows, codes) => {
  const ledger = served()
  expect(ledger.events.length).toBeGreaterThanOrEqual(4)
  const last = ledger.replay.position
  const moved = rows.map(({ upto_seq: upto }) => ({ upto_seq: String(last - 4 + Number(upto)) }))
  await matchReports(ledger.replay, sourceOf(...moved), noRows())
  expect(ledger.replay.findings.all().map(({ code }) => code)).toEqual(codes)
})

import { expect, test } from 'vitest'
import { readQuestion, readReport } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

function daysOf(given: Readonly<Record<string, string>>) {
  const question = readQuestion('burns', given)
  return isProblems(question) ? question.map(({ field }) => field) : [question.from, question.to]
}

test('a month and a quarter stand for their first and last day, leap years included', () => {
  expect(daysOf({ month: '2028-02' })).toEqual(['2028-02-01', '2028-02-29'])
  expect(daysOf({ month: '2026-12' })).toEqual(['2026-12-01', '2026-12-31'])
  expect(daysOf({ quarter: '2026-Q1' })).toEqual(['2026-01-01', '2026-03-31'])
  expect(daysOf({ quarter: '2026-Q4' })).toEqual(['2026-10-01', '2026-12-31'])
  expect(daysOf({ from: '2026-10-05' })).toEqual(['2026-10-05', undefined])
})

test('a month goes with no other period, and a period that is none is refused by its name', () => {
  expect(daysOf({ month: '2026-10', from: '2026-10-01' })).toEqual(['month'])
  expect(daysOf({ month: '2026-10', to: '2026-10-01' })).toEqual(['month'])
  expect(daysOf({ quarter: '2026-Q4', to: '2026-10-01' })).toEqual(['month'])
  expect(daysOf({ month: '2026-10', quarter: '2026-Q4' })).toEqual(['month'])
  expect(daysOf({ month: '2026-13' })).toEqual(['month'])
  expect(daysOf({ quarter: '2026-Q5' })).toEqual(['quarter'])
  expect(daysOf({ columns: 'a,,b' })).toEqual(['columns'])
})

function walletOf(wallet: string) {
  const question = readQuestion('payments', { wallet })
  return isProblems(question) ? question : question.wallet
}

test('a wallet is read as it is pasted, and what is not a wallet is refused instead of having no payments', () => {
  const wallet = '4P67p5TwAbRvhTbBPTNyqVYQiKmY7UPRN6P8oGqSGEsf'
  expect(walletOf(` ${wallet}\n`)).toBe(wallet)
  expect(walletOf('unknown')).toBe('unknown')
  for (const wrong of ['', wallet.slice(0, -3), `${wallet},${wallet}`])
    expect(walletOf(wrong)).toEqual([{ field: 'wallet', message: expect.stringContaining(`must be a wallet address`) }])
  expect(walletOf('0x52908400098527886E0F7030069857D2E4169EE7')).toEqual([
    { field: 'wallet', message: expect.stringContaining('(got "0x52908400098527886E0F7030069857D2E4169EE7")') },
  ])
})

test('a year before 1970 is refused: a database has no year 0, and a short year would be another century', () => {
  expect(daysOf({ month: '0000-01' })).toEqual(['month'])
  expect(daysOf({ quarter: '0050-Q1' })).toEqual(['quarter'])
  expect(daysOf({ from: '0000-01-01' })).toEqual(['from'])
  expect(daysOf({ from: '1970-01-01', to: '9999-12-31' })).toEqual(['1970-01-01', '9999-12-31'])
})

test.each([
  [{ from: '2026-13-01' }, 'from'],
  [{ from: '2026-10-02', to: '2026-10-01' }, 'to'],
  [{ by: 'hour' }, 'by'],
  [{ limit: '1001' }, 'limit'],
  [{ limit: '0' }, 'limit'],
  [{ state: 'fulfilled' }, 'state'],
])('a question %o is refused, naming %s', (given, field) => {
  expect(readQuestion('burns', given)).toEqual([expect.objectContaining({ field })])
})

test('rows and totals have the chosen columns alone, and an unknown column is an error that lists all', async () => {
  const figures = { burnedBaseUnits: '5', payments: 1 }
  const database = scriptedDatabase((statement) =>
    statement.includes('group by') ? [{ day: '2026-11-20', ...figures }] : [figures],
  )
  const read = (columns: string) => {
    const question = readQuestion('burns', { columns })
    if (isProblems(question)) throw new Error('the question can be asked')
    return readReport(database, { report: 'burns', token: { mint: 'Mint', decimals: 6 }, ...question })
  }
  expect(await read('day,burnedBaseUnits')).toMatchObject({
    columns: ['day', 'burnedBaseUnits'],
    rows: [{ day: '2026-11-20', burnedBaseUnits: 5n }],
    totals: { burnedBaseUnits: 5n },
  })
  expect(Object.keys((await read('day,burnedBaseUnits')).totals ?? {})).toEqual(['burnedBaseUnits'])
  await expect(read('days')).rejects.toThrow(/must be columns of the report: day, .*burnedBaseUnits.* \(got days\)/)
})

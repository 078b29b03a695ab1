import { editBody, forged, lastPositionOf, onAccount, type Tampering, onRow, onPlace, deleted } from './tampering.ts'

/* Tabs: the deposit and its terms, the debits, what was charged, and the end. */

const wrong = (code: 'owner_differs' | 'lifecycle_impossible' | 'payment_short' | 'price_wrong' | 'refund_differs') =>
  ({ aspect: 'arithmetic', code }) as const
const otherKey = '8tG3x5cVfLGcmfmN7nXrMVmYnW3wVKSTMnNcLEhNLFhP'

/** A change of one event that a later event contradicts. The finding is at the later one. */
function contradicted(
  name: string,
  edit: { readonly kind: string; readonly from: string; readonly to: string; readonly nth?: number },
  { by, nth = 0, ...found }: ReturnType<typeof wrong> & { readonly by: string; readonly nth?: number },
): Tampering {
  return {
    name,
    run: async (ledger) => {
      const changed = await ledger.nth(edit.kind, edit.nth ?? 0)
      const position = await ledger.nth(by, nth)
      await ledger.sql(editBody(changed, edit.from, edit.to))
      return { ...found, position }
    },
  }
}

const debit = (name: string, from: string, to: string, code: Parameters<typeof wrong>[0], nth = 0) =>
  forged(`${name} of a debit`, { kind: 'TabDebited', nth, from, to }, wrong(code))

const tamperedDeposits: readonly Tampering[] = [
  contradicted(
    'the session key in the terms of a tab',
    { kind: 'TabOpened', from: '"sessionKey":"\\w+"', to: `"sessionKey":"${otherKey}"` },
    { ...wrong('owner_differs'), by: 'TabDebited' },
  ),
  contradicted(
    'the limit per request in the terms of a tab',
    { kind: 'TabOpened', from: '"maxPerRequestBaseUnits":"\\d+"', to: '"maxPerRequestBaseUnits":"1"' },
    { ...wrong('payment_short'), by: 'TabDebited' },
  ),
  contradicted(
    'the end in the terms of a tab',
    { kind: 'TabOpened', from: '"endsAtMs":\\d+', to: '"endsAtMs":1700000000000' },
    { ...wrong('lifecycle_impossible'), by: 'TabDebited' },
  ),
  forged(
    'the wallet of a tab',
    { kind: 'TabOpened', nth: 0, from: '"wallet":"....', to: '"wallet":"1111' },
    wrong('owner_differs'),
  ),
  forged(
    'the id of a tab',
    { kind: 'TabOpened', nth: 0, from: '"tab":"\\w+"', to: '"tab":"4uQeVj5tqViQh7yWWGStvk"' },
    wrong('owner_differs'),
  ),
  forged(
    'the amount of a deposit',
    { kind: 'TabOpened', nth: 0, from: '"depositBaseUnits":"\\d', to: '"depositBaseUnits":"9' },
    { aspect: 'arithmetic', code: 'distribution_differs' },
  ),
  forged(
    'the tab of a top-up',
    { kind: 'TabToppedUp', nth: 0, from: '"tab":"\\w+"', to: '"tab":"4uQeVj5tqViQh7yWWGStvk"' },
    wrong('lifecycle_impossible'),
  ),
  forged(
    'what a dropped deposit had bought',
    { kind: 'DepositReversed', nth: 0, from: '"spentBaseUnits":"\\d+"', to: '"spentBaseUnits":"0"' },
    { aspect: 'arithmetic', code: 'reversal_differs' },
  ),
  onRow(
    'the key by which a tab finds its deposit',
    ['TabOpened', 0],
    { aspect: 'completeness', code: 'key_differs' },
    (position) => `delete from ledger.keys where space = 14 and substring(key from 17) = substring(key for 16)
        and id = (select id from ledger.streams where stream = (select stream from ledger.events where seq = ${position}))`,
  ),
]

const tamperedDebits: readonly Tampering[] = [
  debit('the signature', '"signature":"....', '"signature":"AAAA', 'owner_differs'),
  debit('the request that was signed', '"requestDigest":"....', '"requestDigest":"0000', 'owner_differs'),
  debit('the absence of a signature', '"signed":\\{[^}]*\\}', '"signed":null', 'owner_differs'),
  debit('the most that was permitted', '"maxBaseUnits":"\\d+"', '"maxBaseUnits":"1"', 'payment_short'),
  debit('the validity', '"validUntilMs":\\d+', '"validUntilMs":1700000000000', 'lifecycle_impossible'),
  debit('the number', '"number":"1"', '"number":"2"', 'owner_differs'),
  debit('the tab', '"tab":"\\w+"', '"tab":"4uQeVj5tqViQh7yWWGStvk"', 'owner_differs'),
  debit('the wallet', '"wallet":"....', '"wallet":"1111', 'owner_differs'),
  debit('the deposit', '"slot":1000', '"slot":1001', 'owner_differs'),
  debit('the price', '"priceMicroUsd":"\\d+"', '"priceMicroUsd":"1"', 'price_wrong'),
  debit('the hold', '"requiredBaseUnits":"\\d+"', '"requiredBaseUnits":"1"', 'price_wrong'),
  debit('the version of the tab', '"lifecycle":0', '"lifecycle":1', 'lifecycle_impossible'),
  onRow('the number of a debit used a second time', ['TabDebited', 1], wrong('lifecycle_impossible'), (position) =>
    editBody(position, '"number":"2"(.*"stream":"tab:\\w+):2"', '"number":"1"\\1:1"'),
  ),
  onPlace(
    'the bearer key of a debit',
    `select min(seq) as value from ledger.events where kind = 'TabDebited' and convert_from(body, 'UTF8')::jsonb ->> 'bearerHash' is not null`,
    wrong('owner_differs'),
    (position) => editBody(position, '"bearerHash":"....', '"bearerHash":"0000'),
  ),
]

/** The capture of the first chat that a tab paid by use. */
const usedChat = `select min(seq) as value from ledger.events
  where kind = 'TabCaptured' and convert_from(body, 'UTF8') like '%"usage"%'`

type ChargeCode = 'distribution_differs' | 'refund_differs' | 'owner_differs' | 'attempt_wrong'

function onChat(
  name: string,
  edit: readonly [from: string, to: string],
  code: ChargeCode = 'distribution_differs',
): Tampering {
  return onPlace(name, usedChat, { aspect: 'arithmetic', code }, (position) => editBody(position, ...edit))
}

const tamperedCharges: readonly Tampering[] = [
  onChat('the usage of a chat', ['"output":2000', '"output":1000']),
  onChat('the usage of a chat taken away', [',"usage":\\{[^}]*\\}', '']),
  onChat('the burn of a charge', ['"burnBaseUnits":"\\d+"', '"burnBaseUnits":"1"']),
  onChat('a share of a charge', ['("shares":.*?"baseUnits":)"\\d+"', '\\1"1"']),
  onChat('a charge above the hold', ['("shares":.*?"baseUnits":)"\\d+"', '\\1"900000000"']),
  onChat('the mint of a charge', ['"mint":"....', '"mint":"1111']),
  onChat('the attempt of a charge', ['"attempt":1', '"attempt":2'], 'attempt_wrong'),
  onChat('the rest of a hold', ['("returned":\\{"baseUnits":)"\\d+"', '\\1"1"'], 'refund_differs'),
  onChat('the rest of a hold taken away', ['"returned":\\{[^}]*\\},', ''], 'refund_differs'),
  onChat('the tab of a rest', ['("returned":.*?"tab":)"\\w+"', '\\1"4uQeVj5tqViQh7yWWGStvk"'], 'owner_differs'),
  {
    name: 'a fixed price charged by use',
    run: async (ledger) => {
      const position = (await ledger.nth('TabDebited', 0)) + 1
      await ledger.sql(
        editBody(position, '"version":2', '"usage":{"input":1,"isEstimated":false,"output":1},"version":2'),
      )
      return { aspect: 'arithmetic', code: 'distribution_differs', position }
    },
  },
  {
    name: 'the release of a failed request taken away',
    run: async (ledger) => {
      const position = await ledger.value(
        `select min(r.seq) as value from ledger.events r join ledger.events f on f.seq = r.seq - 1 and f.stream = r.stream
          where r.kind = 'TabReturned' and f.kind = 'RequestFailed'`,
      )
      await ledger.sql(`delete from ledger.events where seq = ${position}`)
      return { aspect: 'completeness', code: 'append_incomplete', position: position - 1 }
    },
  },
]

const closedTab = `(select id from ledger.streams where kind = 'tab_lifecycle' and state = 'closed' limit 1)`

const tamperedEnds: readonly Tampering[] = [
  contradicted(
    'the new session key of a tab',
    { kind: 'TabKeyReplaced', from: '"sessionKey":"\\w+"', to: `"sessionKey":"${otherKey}"` },
    { ...wrong('owner_differs'), by: 'TabDebited', nth: 8 },
  ),
  forged(
    'the wallet of a closed tab',
    { kind: 'TabClosed', nth: 0, from: '"wallet":"....', to: '"wallet":"1111' },
    wrong('owner_differs'),
  ),
  forged(
    'a tab closed before its end',
    { kind: 'TabClosed', nth: 0, from: '"by":"wallet"', to: '"by":"end"' },
    wrong('lifecycle_impossible'),
  ),
  forged(
    'the rest of a closed tab',
    { kind: 'TabClosed', nth: 0, from: '"restBaseUnits":"\\d', to: '"restBaseUnits":"9' },
    { aspect: 'arithmetic', code: 'posting_differs' },
  ),
  onRow(
    'the closing of a tab taken away',
    ['TabClosed', 0],
    { aspect: 'completeness', code: 'position_missing' },
    deleted,
  ),
  onPlace(
    'the stream of a closed tab taken away',
    lastPositionOf(closedTab),
    { aspect: 'completeness', code: 'stream_missing' },
    () => `delete from ledger.streams where id = ${closedTab}`,
  ),
]

const tamperedFigures: readonly Tampering[] = [
  onAccount('the balance of a tab', 'Liabilities:Prepaid:%', 'balance = balance + 1'),
  onAccount('the limit of a tab', 'Liabilities:Prepaid:%', 'ceiling = 1000000'),
  {
    name: 'a sale on a tab in the reports',
    run: async (ledger) => {
      const stream = `(select stream from reports.payments where reference like 'tab:%' and state = 'fulfilled' order by stream limit 1)`
      const position = await ledger.value(
        `select upper(seqs) - 1 as value from ledger.streams where stream = ${stream}`,
      )
      await ledger.sql(`update reports.payments set prepaid = prepaid - 1 where stream = ${stream}`)
      return { aspect: 'arithmetic', code: 'report_differs', position }
    },
  },
]

export const tamperedTabs: readonly Tampering[] = [
  ...tamperedDeposits,
  ...tamperedDebits,
  ...tamperedCharges,
  ...tamperedEnds,
  ...tamperedFigures,
]

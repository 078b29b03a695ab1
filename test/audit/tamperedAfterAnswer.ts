import {
  editBody,
  forged,
  forgeLeaf,
  type TamperedLedger,
  type Tampering,
  onRow,
  deleted,
  changed,
} from './tampering.ts'

/* Events after an answer: finality, reversals, refunds, tokens without a request, payouts and burns. */

const tamperedFinality: readonly Tampering[] = [
  onRow(
    'the finality of a payment taken out of the ledger',
    ['PaymentFinalized', 3],
    { aspect: 'completeness', code: 'position_missing' },
    deleted,
  ),
  forged(
    'the exposure that ends with finality',
    { kind: 'PaymentFinalized', from: '"exposedBaseUnits":"\\d+"', to: '"exposedBaseUnits":"7"' },
    { aspect: 'arithmetic', code: 'exposure_differs' },
  ),
]

const tamperedReversals: readonly Tampering[] = [
  onRow(
    'a posting of a reversal taken away',
    ['PaymentReversed', 0],
    { aspect: 'arithmetic', code: 'posting_missing' },
    (position) => `update ledger.events set debits = trim_array(debits, 1), credits = trim_array(credits, 1),
        amounts = trim_array(amounts, 1) where seq = ${position}`,
  ),
  onRow(
    'a reversal taken away, so that tokens are recorded that are not there',
    ['PaymentReversed', 0],
    { aspect: 'completeness', code: 'position_missing' },
    deleted,
  ),
  changed(
    'the burn of a reversed payment counted again',
    { aspect: 'arithmetic', code: 'tally_differs', position: undefined },
    `update ledger.tallies set entries = entries - 1
        where (account, hour) = (select account, hour from ledger.tallies order by account, hour limit 1)`,
  ),
  forged(
    'what was lost to a reversal',
    { kind: 'PaymentReversed', nth: 0, from: '"lostBaseUnits":"\\d+"', to: '"lostBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'reversal_differs' },
  ),
  forged(
    'the owed burn that a reversal takes back',
    { kind: 'PaymentReversed', nth: 0, from: '"burnOwedBaseUnits":"\\d+"', to: '"burnOwedBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'reversal_differs' },
  ),
  forged(
    'the burn that a reversal takes back',
    { kind: 'BurnReversed', nth: 0, from: '"burnedBaseUnits":"\\d+"', to: '"burnedBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'burn_differs' },
  ),
]

/** The refund of a payment of the whole price, of another part of it. */
function refundOf(name: string, perMille: number): Tampering {
  const bodyOf = (kind: string) =>
    `(select convert_from(e.body, 'UTF8')::jsonb from ledger.events e where e.stream = r.stream and e.kind = '${kind}')`
  return {
    name,
    run: async (ledger) => {
      const position = await ledger.value(`select min(r.seq) as value from ledger.events r
        where r.kind = 'RefundDue' and ${bodyOf('TokensBurned')} is null`)
      const required =
        await ledger.value(`select (${bodyOf('PaymentVerified')} #>> '{settlement,price,requiredBaseUnits}')::bigint as value
        from ledger.events r where r.seq = ${position}`)
      await ledger.sql(`${editBody(position, '"refundBaseUnits":"\\d+"', `"refundBaseUnits":"${(required * perMille) / 1_000}"`)};
        ${forgeLeaf} where seq = ${position}`)
      return { aspect: 'arithmetic', code: 'refund_differs', position }
    },
  }
}

const tamperedDebts: readonly Tampering[] = [
  forged(
    'the wallet of a refund',
    { kind: 'RefundDue', nth: 0, from: '"wallet":"....', to: '"wallet":"1111' },
    { aspect: 'arithmetic', code: 'owner_differs' },
  ),
  forged(
    'the amount of a refund',
    { kind: 'RefundDue', nth: 0, from: '"refundBaseUnits":"\\d+"', to: '"refundBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'refund_differs' },
  ),
  forged(
    'the sender of tokens without a request',
    { kind: 'TransferReceived', nth: 0, from: '"wallet":"....', to: '"wallet":"1111' },
    { aspect: 'arithmetic', code: 'posting_differs' },
  ),
  forged(
    'the amount of a burn that is owed',
    { kind: 'BurnOwed', nth: 1, from: '"owedBaseUnits":"\\d+"', to: '"owedBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'burn_differs' },
  ),
  refundOf('a refund that keeps a burn that is not owed', 700),
  onRow(
    'the account of a refund that is due, in its posting',
    ['RefundDue', 0],
    { aspect: 'arithmetic', code: 'posting_differs' },
    (position) => `update ledger.events e set credits[1] = other.id from ledger.accounts due, ledger.accounts other
        where e.seq = ${position} and due.id = e.credits[1] and other.mint = due.mint and other.name = 'Liabilities:Share:treasury'`,
  ),
]

const tileHashes = 256
const paidAmount = { from: '"paidBaseUnits":"\\d+"', to: '"paidBaseUnits":"999999999999"' }

const tamperedPayouts: readonly Tampering[] = [
  forged(
    'the amount of a payout',
    { kind: 'DistributionPaid', nth: 0, ...paidAmount },
    { aspect: 'arithmetic', code: 'posting_differs' },
  ),
  onRow(
    'the amount of a payout, in its event, its leaf, its posting and the accounts',
    ['DistributionPaid', 1],
    { aspect: 'arithmetic', code: 'payout_exceeds' },
    (position) => `${editBody(position, paidAmount.from, paidAmount.to)};
        ${forgeLeaf} where seq = ${position};
        alter table ledger.accounts drop constraint accounts_stay_within_limits;
        update ledger.accounts a set balance = a.balance + case when a.id = e.debits[1] then 1 else -1 end * (999999999999 - e.amounts[1])
          from ledger.events e where e.seq = ${position} and a.id in (e.debits[1], e.credits[1]);
        update ledger.events set amounts[1] = 999999999999 where seq = ${position}`,
  ),
  {
    name: 'the receiver of a payout of a share, its leaf made again',
    run: async (ledger) => {
      const position = await ledger.nth('DistributionPaid', 0)
      await ledger.sql(
        `${editBody(position, '"wallet":"....', '"wallet":"1111')}; ${forgeLeaf} where seq = ${position}`,
      )
      // No rule says which wallet gets a share. The tree shows the change, and a node has the truth.
      const isTiled = position <= tileHashes * Math.floor((await ledger.head()) / tileHashes)
      return isTiled
        ? { aspect: 'integrity', code: 'tile_differs', position }
        : { aspect: 'integrity', code: 'checkpoint_root_differs', position: await ledger.checkpointOver(position) }
    },
  },
  forged(
    'the receiver of a refund',
    { kind: 'DistributionPaid', nth: 0, from: '(RefundsDue:[^}]*"wallet":")....', to: '\\11111' },
    { aspect: 'arithmetic', code: 'owner_differs' },
  ),
  {
    name: 'a payout recorded a second time, with its leaf, its postings and the head',
    run: async (ledger) => {
      const [position, head] = [await ledger.nth('DistributionPaid', 0), await ledger.head()]
      await ledger.sql(`insert into ledger.events
        select ${head + 1}, stream, version, kind, schema_version, (select recorded_at from ledger.head), effective_at,
          debits, credits, amounts, body, leaf_hash from ledger.events where seq = ${position};
        ${forgeLeaf} where seq = ${head + 1};
        update ledger.head set seq = ${head + 1}`)
      return { aspect: 'arithmetic', code: 'lifecycle_impossible', position: head + 1 }
    },
  },
  onRow(
    'a posting of a payout taken away',
    ['DistributionPaid', 0],
    { aspect: 'arithmetic', code: 'posting_missing' },
    (position) => `update ledger.events set debits = trim_array(debits, 1), credits = trim_array(credits, 1),
        amounts = trim_array(amounts, 1) where seq = ${position}`,
  ),
]

/** The events of the round of burning a second time, as another transaction; `edit` changes the first body. */
export async function burnAgain(ledger: TamperedLedger, edit: string): Promise<number> {
  const [submitted, head] = [await ledger.nth('BurnSubmitted', 0), await ledger.head()]
  const signature = `substring(convert_from(body, 'UTF8') from '"stream":"solana:([^"]*)"')`
  const another = `replace(convert_from(body, 'UTF8'), ${signature}, reverse(${signature}))`
  await ledger.sql(`insert into ledger.events
    select ${head} + row_number() over (order by seq), ${head + 1}, version, kind, schema_version,
      (select recorded_at from ledger.head), effective_at, debits, credits, amounts, convert_to(${edit.replaceAll('$', another)}, 'UTF8'), leaf_hash
    from ledger.events where seq in (${submitted}, ${submitted + 1});
    ${forgeLeaf} where seq > ${head};
    update ledger.head set seq = ${head + 2}`)
  return head + 1
}

const tamperedBurns: readonly Tampering[] = [
  {
    name: 'a round burned a second time in another transaction',
    run: async (ledger) => {
      const position = await burnAgain(ledger, '$')
      return { aspect: 'arithmetic', code: 'lifecycle_impossible', position }
    },
  },
  {
    name: 'a burn that is not owed, in a separate round',
    run: async (ledger) => {
      const whole = await ledger.value(
        `select -sum(balance) as value from ledger.accounts where name = 'Liabilities:BurnOwed'`,
      )
      const units = `regexp_replace(regexp_replace($, 'aseUnits":"1000"', 'aseUnits":"${whole + 1}"', 'g'), '"round":1', '"round":2')`
      const position = await burnAgain(ledger, units)
      return { aspect: 'arithmetic', code: 'burn_exceeds', position }
    },
  },
  {
    name: 'a burn confirmed that was never submitted',
    run: async (ledger) => {
      const [confirmed, head] = [await ledger.nth('BurnConfirmed', 0), await ledger.head()]
      const signature = `substring(convert_from(body, 'UTF8') from '"stream":"solana:([^"]*)"')`
      await ledger.sql(`insert into ledger.events
        select ${head + 1}, ${head + 1}, 1, kind, schema_version, (select recorded_at from ledger.head), effective_at, debits, credits, amounts,
          convert_to(replace(replace(convert_from(body, 'UTF8'), ${signature}, reverse(${signature})), '"version":2', '"version":1'), 'UTF8'), leaf_hash
        from ledger.events where seq = ${confirmed};
        ${forgeLeaf} where seq = ${head + 1};
        update ledger.head set seq = ${head + 1}`)
      return { aspect: 'arithmetic', code: 'burn_differs', position: head + 1 }
    },
  },
  forged(
    'the amount of a confirmed burn',
    { kind: 'BurnConfirmed', nth: 0, from: '"burnedBaseUnits":"\\d+"', to: '"burnedBaseUnits":"999"' },
    { aspect: 'arithmetic', code: 'burn_differs' },
  ),
  {
    name: 'the endpoint of a submitted burn, its leaf made again',
    run: async (ledger) => {
      const position = await ledger.nth('BurnSubmitted', 0)
      const edit = editBody(position, '"endpoint":"[^"]*"', '"endpoint":"/api/other"')
      await ledger.sql(`${edit}; ${forgeLeaf} where seq = ${position}`)
      // The confirmed burn no longer equals the submitted one.
      return { aspect: 'arithmetic', code: 'burn_differs', position: position + 1 }
    },
  },
  forged(
    'how far a round of burning reaches',
    { kind: 'BurnSubmitted', nth: 0, from: '"throughPosition":\\d+', to: '"throughPosition":99999' },
    { aspect: 'arithmetic', code: 'lifecycle_impossible' },
  ),
]

export const tamperedAfterAnswer: readonly Tampering[] = [
  ...tamperedFinality,
  ...tamperedReversals,
  ...tamperedDebts,
  ...tamperedPayouts,
  ...tamperedBurns,
]

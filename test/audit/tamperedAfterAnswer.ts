import { forged, forgeLeaf, type Tampering } from './tampering.ts'

/* What happens after an answer: finality, reversals, refunds, tokens without a request, exposure, and payouts. */

const firstFinal = `(select p.signature from ledger.payments p where p.state = 'fulfilled' and not p.awaiting_finality
  order by p.seqs limit 1)`
const firstOpen = `(select p.signature from ledger.payments p where p.state = 'fulfilled' and p.awaiting_finality
  order by p.seqs limit 1)`

/** The row of one payment changed: the finding is at its last event. */
function onPaymentOf(name: string, payment: string, assignment: string): Tampering {
  return {
    name,
    run: async (book) => {
      const position = await book.value(
        `select seqs[cardinality(seqs)] as value from ledger.payments where signature = ${payment}`,
      )
      await book.sql(`update ledger.payments set ${assignment} where signature = ${payment}`)
      return { aspect: 'completeness', code: 'payment_row_differs', position }
    },
  }
}

const tamperedFinality: readonly Tampering[] = [
  {
    name: 'the finality of a payment taken out of the book',
    run: async (book) => {
      const position = await book.nth('PaymentFinalized', 3)
      await book.sql(`delete from ledger.events where seq = ${position}`)
      return { aspect: 'completeness', code: 'position_missing', position }
    },
  },
  onPaymentOf('the finality in the row of a payment', firstFinal, 'awaiting_finality = true'),
  onPaymentOf('the row of a payment made final before it was', firstOpen, 'awaiting_finality = false, exposed = 0'),
  onPaymentOf('what the row of a payment says is exposed', firstOpen, 'exposed = exposed - 1'),
  {
    name: 'the exposure in all',
    run: async (book) => {
      await book.sql('update ledger.exposure set amount = amount - 1')
      return { aspect: 'arithmetic', code: 'exposure_differs', position: await book.head() }
    },
  },
  {
    name: 'the exposure taken away',
    run: async (book) => {
      await book.sql('delete from ledger.exposure')
      return { aspect: 'arithmetic', code: 'exposure_differs', position: await book.head() }
    },
  },
]

const tamperedReversals: readonly Tampering[] = [
  {
    name: 'an entry of a reversal taken away',
    run: async (book) => {
      const position = await book.nth('PaymentReversed', 0)
      await book.sql(`delete from ledger.entries where seq = ${position} and line = 1`)
      return { aspect: 'arithmetic', code: 'entry_missing', position }
    },
  },
  {
    name: 'a reversal taken away with its entries, so that tokens are booked that are not there',
    run: async (book) => {
      const position = await book.nth('PaymentReversed', 0)
      await book.sql(
        `delete from ledger.entries where seq = ${position}; delete from ledger.events where seq = ${position}`,
      )
      return { aspect: 'completeness', code: 'position_missing', position }
    },
  },
  {
    name: 'the burn of a reversed payment counted again',
    run: async (book) => {
      await book.sql(`update ledger.burn_totals set payments = payments + 1 where span = 'all' and endpoint = ''`)
      return { aspect: 'arithmetic', code: 'burn_total_differs', position: undefined }
    },
  },
  forged(
    'what was lost to a reversal',
    { kind: 'PaymentReversed', nth: 0, from: '"lostBaseUnits":"\\d+"', to: '"lostBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'reversal_differs' },
  ),
]

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
    { aspect: 'arithmetic', code: 'entry_differs' },
  ),
  {
    name: 'the account of a refund that is due, in its entry',
    run: async (book) => {
      const position = await book.nth('RefundDue', 0)
      await book.sql(`update ledger.entries set account = 'Liabilities:Treasury' where seq = ${position} and line = 1`)
      return { aspect: 'arithmetic', code: 'entry_differs', position }
    },
  },
]

const paidAmount = { from: '"paidBaseUnits":"\\d+"', to: '"paidBaseUnits":"999999999999"' }

const tamperedPayouts: readonly Tampering[] = [
  {
    name: 'the row of a payout taken away, so that it could be booked again',
    run: async (book) => {
      const position = await book.nth('DistributionPaid', 0)
      await book.sql(`delete from ledger.payouts where seq = ${position}`)
      return { aspect: 'completeness', code: 'payout_differs', position }
    },
  },
  {
    name: 'the part of a payout in its row',
    run: async (book) => {
      const position = await book.nth('DistributionPaid', 1)
      await book.sql(`update ledger.payouts set part = part + 1 where seq = ${position}`)
      return { aspect: 'completeness', code: 'payout_differs', position }
    },
  },
  {
    name: 'the row of a payout that no event has',
    run: async (book) => {
      const position = await book.nth('ProofClaimed', 2)
      await book.sql(`insert into ledger.payouts select reverse(signature), plan_id, part, ${position}, leaf_hash, recorded_at
        from ledger.payouts order by seq limit 1`)
      return { aspect: 'completeness', code: 'payout_differs', position }
    },
  },
  forged(
    'the amount of a payout',
    { kind: 'DistributionPaid', nth: 0, ...paidAmount },
    {
      aspect: 'arithmetic',
      code: 'entry_differs',
    },
  ),
  {
    name: 'the amount of a payout, in its event, its leaf, its entries and the balances',
    run: async (book) => {
      const position = await book.nth('DistributionPaid', 1)
      const edit = `convert_to(regexp_replace(convert_from(body, 'UTF8'), '${paidAmount.from}', '${paidAmount.to}'), 'UTF8')`
      await book.sql(`update ledger.events set body = ${edit} where seq = ${position};
        ${forgeLeaf} where seq = ${position};
        update ledger.payouts p set leaf_hash = e.leaf_hash from ledger.events e where e.seq = p.seq and p.seq = ${position};
        update ledger.balances b set balance = b.balance + sign(t.amount) * 999999999999 - t.amount from ledger.entries t
          where t.seq = ${position} and t.line < 2 and b.account = t.account;
        update ledger.entries set amount = sign(amount) * 999999999999 where seq = ${position} and line < 2`)
      return { aspect: 'arithmetic', code: 'payout_exceeds', position }
    },
  },
  forged(
    'whom a payout went to, where the account names nobody',
    { kind: 'DistributionPaid', nth: 0, from: '"wallet":"....', to: '"wallet":"1111' },
    // No rule says where the provider's tokens have to go; the payout's row has its leaf, and the tree, and a node the truth.
    { aspect: 'completeness', code: 'payout_differs' },
  ),
  forged(
    'whom a refund was paid to',
    { kind: 'DistributionPaid', nth: 0, from: '(RefundsDue:[^}]*"wallet":")....', to: '\\11111' },
    { aspect: 'arithmetic', code: 'owner_differs' },
  ),
  {
    name: 'a payout booked a second time, with its leaf, its entries and the head',
    run: async (book) => {
      const [position, head] = [await book.nth('DistributionPaid', 0), await book.head()]
      await book.sql(`insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
        select ${head + 1}, stream, version, kind, schema_version, (select recorded_at from ledger.head), effective_at, body, leaf_hash
        from ledger.events where seq = ${position};
        ${forgeLeaf} where seq = ${head + 1};
        insert into ledger.entries select ${head + 1}, line, account, mint, amount from ledger.entries where seq = ${position};
        update ledger.head set seq = ${head + 1}`)
      return { aspect: 'arithmetic', code: 'life_impossible', position: head + 1 }
    },
  },
  {
    name: 'an entry of a payout taken away',
    run: async (book) => {
      const position = await book.nth('DistributionPaid', 0)
      await book.sql(`delete from ledger.entries where seq = ${position} and line = 3`)
      return { aspect: 'arithmetic', code: 'entry_missing', position }
    },
  },
  {
    name: 'what is owed after a payout, as if it had not been paid',
    run: async (book) => {
      const provider = `account = 'Liabilities:Provider'`
      const position = await book.value(`select upto_seq as value from ledger.balances where ${provider}`)
      await book.sql(`update ledger.balances set balance = balance - 1000 where ${provider}`)
      return { aspect: 'arithmetic', code: 'balance_differs', position }
    },
  },
  {
    name: 'the balance of a refund that was paid in part',
    run: async (book) => {
      const due = `account like 'Liabilities:RefundsDue:%'`
      const position = await book.value(`select upto_seq as value from ledger.balances where ${due}`)
      await book.sql(`update ledger.balances set balance = balance - 500 where ${due}`)
      return { aspect: 'arithmetic', code: 'balance_differs', position }
    },
  },
]

export const tamperedLives: readonly Tampering[] = [
  ...tamperedFinality,
  ...tamperedReversals,
  ...tamperedDebts,
  ...tamperedPayouts,
]

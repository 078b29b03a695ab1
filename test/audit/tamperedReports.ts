import { type Tampering, changed, onPlace } from './tampering.ts'

/* The tables that finance reads. */

const found = { aspect: 'arithmetic', code: 'report_differs' } as const

/** A change of a sum: it has no place in the ledger. */
function onSums(name: string, statement: string): Tampering {
  return changed(name, { ...found, position: undefined }, statement)
}

const listedStream = `(select stream from reports.payments where state = 'fulfilled' order by stream offset 4 limit 1)`

/** A change of the row of a payment: the finding is at the payment's last event. */
function onPayment(name: string, change: string): Tampering {
  return onPlace(
    `${name} of a payment in the reports`,
    `select upper(seqs) - 1 as value from ledger.streams where stream = ${listedStream}`,
    found,
    () => `update reports.payments set ${change} where stream = ${listedStream}`,
  )
}

const paidOut = '(select min(seq) from reports.payouts)'

function onPayout(name: string, statement: string): Tampering {
  return onPlace(name, `select ${paidOut} as value`, found, () => statement)
}

/** The finding is at the first changed entry. */
function onLate(name: string, statement: string): Tampering {
  return onPlace(name, 'select min(seq) as value from reports.late_entries', found, () => statement)
}

const oneDay = `ctid = (select ctid from reports.daily_totals where debits > 0 and day > '-infinity' order by 1 limit 1)`
const oneTotal = 'ctid = (select ctid from reports.payment_totals order by 1 limit 1)'
const oneWallet = 'ctid = (select ctid from reports.wallet_totals order by 1 limit 1)'

export const tamperedReports: readonly Tampering[] = [
  onSums(
    'every daily total multiplied by ten',
    'update reports.daily_totals set debits = debits * 10, credits = credits * 10',
  ),
  onSums('one base unit more in a daily total', `update reports.daily_totals set debits = debits + 1 where ${oneDay}`),
  onSums('a daily total deleted', `delete from reports.daily_totals where ${oneDay}`),
  onSums(
    'a daily total of another day added',
    `insert into reports.daily_totals select mint, day - 400, kind, endpoint, account, debits, credits, payments, value_pico_usd
      from reports.daily_totals where ${oneDay}`,
  ),
  onSums(
    'a daily total moved to another endpoint',
    `update reports.daily_totals set endpoint = '/api/other' where ${oneDay}`,
  ),
  onSums('the count of payments of a day', `update reports.daily_totals set payments = payments + 1 where ${oneDay}`),
  onSums('the burn of a wallet', `update reports.wallet_totals set burned = burned + 1 where ${oneWallet}`),
  onSums(
    'a share of a wallet',
    `update reports.wallet_totals set shares = jsonb_set(shares, '{provider}', '1') where ${oneWallet}`,
  ),
  onSums('the totals of a wallet deleted', `delete from reports.wallet_totals where ${oneWallet}`),
  onSums('a total of payments', `update reports.payment_totals set received = received - 1 where ${oneTotal}`),
  onSums('a total of payments deleted', `delete from reports.payment_totals where ${oneTotal}`),
  onSums('the price of a day', 'update reports.day_prices set price_micro_usd = price_micro_usd + 1'),
  onSums('the price of a day deleted', 'delete from reports.day_prices'),
  onLate('an entry after the close of its month', 'update reports.late_entries set debits = debits + 1'),
  onLate('the entries after the close of their month hidden', 'delete from reports.late_entries'),
  onSums('the position that the reports have reached', 'update reports.progress set upto_seq = upto_seq + 1000000'),
  onPayment('the received amount', 'received = received + 1'),
  onPayment('the wallet', `wallet = 'someone'`),
  onPayment('the endpoint', `endpoint = '/api/other'`),
  onPayment('the state', `state = 'reversed'`),
  onPayment('the day', `paid_at = paid_at - interval '1 day'`),
  onPayment('the delivery', 'fulfilled_at = null'),
  onPayment('the price', 'required = required + 1'),
  onPayment('the receipt', `receipt = '\\x00112233445566778899aabbccddeeff'`),
  onPayment('the absence of the receipt', 'receipt = null'),
  onPayment('a share', `shares = shares || '{"treasury": 1}'`),
  {
    name: 'a payment deleted in the reports',
    run: async (ledger) => {
      const stream = await ledger.value(`select ${listedStream} as value`)
      const position = await ledger.value(
        `select upper(seqs) - 1 as value from ledger.streams where stream = ${stream}`,
      )
      await ledger.sql(`delete from reports.payments where stream = ${stream}`)
      return { ...found, position }
    },
  },
  onPayout('the amount of a payout', `update reports.payouts set amount = amount + 1 where seq = ${paidOut}`),
  onPayout('a payout deleted', `delete from reports.payouts where seq = ${paidOut}`),
]

import type { FindingCode } from '@tollbook/audit/findings'
import { sampleMint } from '../store/samplePayment.ts'
import { dollar } from './dollarSales.ts'
import { burnAgain } from './tamperedAfterAnswer.ts'
import { editBody, forgeLeaf, type TamperedLedger, type Tampering, onRow, changed } from './tampering.ts'

/* Figures of sales in dollars: their prices, burns in the token, deliveries, and the sums of each mint. */

/** The first event of a kind whose body has the text. */
function positionOf(ledger: TamperedLedger, kind: string, containing: string = dollar): Promise<number> {
  return ledger.value(`select min(seq) as value from ledger.events
    where kind = '${kind}' and strpos(convert_from(body, 'UTF8'), '${containing}') > 0`)
}

interface Edit {
  readonly kind: string
  /** Text of the event's body. By default the mint of the dollar. */
  readonly containing?: string
  readonly from: string
  readonly to: string
}

/** A changed body with a new leaf, which breaks a rule of arithmetic. */
function restated(name: string, { kind, containing, from, to }: Edit, code: FindingCode): Tampering {
  return {
    name: `${name}, its leaf made again`,
    run: async (ledger) => {
      const position = await positionOf(ledger, kind, containing)
      await ledger.sql(`${editBody(position, from, to)}; ${forgeLeaf} where seq = ${position}`)
      return { aspect: 'arithmetic', code, position }
    },
  }
}

const inDollars = `"mint":"${dollar}"`
const ofTreasury = '"source":"treasury"'
/** Burn in the price of a list or settlement, whose members are in the order of the alphabet. */
const tokenBurn = '"tokenBurn":\\{"baseUnits":"\\d+","mint":"[^"]*"\\},'

const tamperedSales: readonly Tampering[] = [
  restated(
    'the price of a sale in dollars',
    { kind: 'PaymentVerified', from: '"priceMicroUsd":"\\d+"', to: '"priceMicroUsd":"9999"' },
    'price_wrong',
  ),
  restated(
    'the decimals of a sale in dollars',
    { kind: 'PaymentVerified', from: '"decimals":6', to: '"decimals":7' },
    'price_wrong',
  ),
  restated(
    'the value of a dollar in a sale',
    { kind: 'PaymentVerified', from: '("tokenPriceAttoUsd":)"\\d+"', to: '\\1"990000000000000000"' },
    'price_wrong',
  ),
  restated(
    'the mint of a sale in dollars',
    { kind: 'PaymentVerified', from: inDollars, to: `"mint":"${sampleMint}"` },
    'price_not_published',
  ),
  restated(
    'the split of a sale in dollars',
    {
      kind: 'PaymentVerified',
      from: '("provider","baseUnits":)"5000"(.*"treasury","baseUnits":)"3500"',
      to: '\\1"5500"\\2"3000"',
    },
    'price_wrong',
  ),
  restated(
    'the burn in tokens in the price of a sale',
    { kind: 'PaymentVerified', from: '("tokenBurn":\\{"baseUnits":)"\\d+"', to: '\\1"1"' },
    'price_not_published',
  ),
  restated(
    'the burn in tokens taken out of the price of a sale',
    { kind: 'PaymentVerified', from: tokenBurn, to: '' },
    'price_not_published',
  ),
  restated(
    'the burn in tokens that a delivery owes',
    { kind: 'BurnOwed', containing: ofTreasury, from: '"owedBaseUnits":"\\d+"', to: '"owedBaseUnits":"1"' },
    'burn_owed_mismatch',
  ),
  restated(
    'the mint of a burn in tokens, so that dollars would be burned',
    { kind: 'BurnOwed', containing: ofTreasury, from: '"mint":"[^"]*"', to: inDollars },
    'burn_owed_mismatch',
  ),
  restated(
    'the endpoint of a burn in tokens',
    { kind: 'BurnOwed', containing: ofTreasury, from: '"endpoint":"[^"]*"', to: '"endpoint":"/api/other"' },
    'burn_owed_mismatch',
  ),
  restated(
    'the side that owes the burn of a sale in dollars',
    { kind: 'BurnOwed', containing: ofTreasury, from: `,${ofTreasury}`, to: '' },
    'burn_owed_mismatch',
  ),
  restated(
    'the burn in tokens that a reversal takes back',
    { kind: 'BurnOwedReversed', containing: sampleMint, from: '"owedBaseUnits":"\\d+"', to: '"owedBaseUnits":"1"' },
    'burn_owed_mismatch',
  ),
  restated(
    'what was distributed of a sale in dollars',
    { kind: 'DistributionAllocated', from: '("treasury","baseUnits":)"\\d+"', to: '\\1"500"' },
    'distribution_differs',
  ),
  restated(
    'the mint of what was distributed of a sale in dollars',
    { kind: 'DistributionAllocated', from: inDollars, to: `"mint":"${sampleMint}"` },
    'distribution_differs',
  ),
  restated(
    'the exposure of a sale in dollars',
    { kind: 'ProofClaimed', from: '"exposedBaseUnits":"\\d+"', to: '"exposedBaseUnits":"1"' },
    'exposure_differs',
  ),
]

/** An event of a tab in dollars, as the nth of its kind: a fixed price, a chat, a chat within a smaller hold. */
function onTab(name: string, nth: number, edit: Omit<Edit, 'containing'>, code: FindingCode): Tampering {
  return {
    name: `${name}, its leaf made again`,
    run: async (ledger) => {
      const position = await ledger.value(`select seq as value from ledger.events
        where kind = '${edit.kind}' and strpos(convert_from(body, 'UTF8'), '"stream":"tab:') > 0
          and strpos(convert_from(body, 'UTF8'), '${edit.kind === 'BurnOwed' ? ofTreasury : inDollars}') > 0
        order by seq offset ${nth} limit 1`)
      await ledger.sql(`${editBody(position, edit.from, edit.to)}; ${forgeLeaf} where seq = ${position}`)
      return { aspect: 'arithmetic', code, position }
    },
  }
}

const owed = { kind: 'BurnOwed', from: '"owedBaseUnits":"\\d+"', to: '"owedBaseUnits":"1"' }
const held = (from: string, to: string) => ({ kind: 'TabDebited', from, to })

const tamperedTabs: readonly Tampering[] = [
  restated(
    'the mint of a deposit in dollars',
    { kind: 'TabOpened', from: inDollars, to: `"mint":"${sampleMint}"` },
    'owner_differs',
  ),
  restated(
    'the value of a dollar in a deposit',
    {
      kind: 'PriceListPublished',
      from: '("/api/tabs#5","mint":"[^"]*".*?"tokenPriceAttoUsd":)"1000000000000000000"',
      to: '\\1"2000000000000000000"',
    },
    'price_wrong',
  ),
  onTab('the burn in tokens that a debit owes', 0, owed, 'burn_owed_mismatch'),
  onTab('the burn in tokens that a chat on a tab owes', 1, owed, 'burn_owed_mismatch'),
  onTab('the burn in tokens of a chat within a smaller hold', 2, owed, 'burn_owed_mismatch'),
  onTab(
    'the side that owes the burn of a debit in dollars',
    0,
    { kind: 'BurnOwed', from: `,${ofTreasury}`, to: '' },
    'burn_owed_mismatch',
  ),
  onTab(
    'the mint of the burn of a debit, so that dollars would be burned',
    0,
    { kind: 'BurnOwed', from: '"mint":"[^"]*"', to: inDollars },
    'burn_owed_mismatch',
  ),
  onTab(
    'the burn in tokens in the price of a debit',
    0,
    held('("tokenBurn":\\{"baseUnits":)"\\d+"', '\\1"1"'),
    'price_not_published',
  ),
  onTab(
    'the burn in tokens in a smaller hold',
    2,
    held('("tokenBurn":\\{"baseUnits":)"\\d+"', '\\1"1"'),
    'price_not_published',
  ),
  onTab('the burn in tokens taken out of a smaller hold', 2, held(tokenBurn, ''), 'price_not_published'),
  onTab('the mint of a debit in dollars', 0, held(inDollars, `"mint":"${sampleMint}"`), 'owner_differs'),
  onTab(
    'a share of a chat in dollars',
    1,
    { kind: 'TabCaptured', from: '("treasury","baseUnits":)"\\d+"', to: '\\1"1"' },
    'distribution_differs',
  ),
]

const tamperedLists: readonly Tampering[] = [
  restated(
    'the value of a dollar in a price list',
    {
      kind: 'PriceListPublished',
      from: '("tokenPriceAttoUsd":)"1000000000000000000"',
      to: '\\1"2000000000000000000"',
    },
    'price_wrong',
  ),
  restated(
    'the burn in tokens in a price list',
    { kind: 'PriceListPublished', from: '("tokenBurn":\\{"baseUnits":)"\\d+"', to: '\\1"1"' },
    'price_wrong',
  ),
  restated(
    'the burn in tokens taken out of one price of a list',
    { kind: 'PriceListPublished', from: tokenBurn, to: '' },
    'price_wrong',
  ),
  restated(
    'the split of a dollar in a price list',
    {
      kind: 'PriceListPublished',
      from: '("provider","baseUnits":)"5000"(.*?"treasury","baseUnits":)"3500"',
      to: '\\1"5500"\\2"3000"',
    },
    'price_wrong',
  ),
  restated(
    'the decimals of a dollar in the settings',
    { kind: 'SettingChanged', from: '"decimals":6', to: '"decimals":9' },
    'setting_wrong',
  ),
  restated(
    'the wallet of a dollar in the settings',
    {
      kind: 'SettingChanged',
      containing: `payment-wallet/${dollar}`,
      from: '("value":)"[^"]*"',
      to: '\\1"no address"',
    },
    'setting_wrong',
  ),
]

const tamperedDeliveries: readonly Tampering[] = [
  restated(
    'the tokens that the treasury delivered',
    {
      kind: 'TokensDelivered',
      containing: sampleMint,
      from: '"receivedBaseUnits":"\\d+"',
      to: '"receivedBaseUnits":"9000000"',
    },
    'posting_differs',
  ),
  restated(
    'the mint that the treasury delivered',
    { kind: 'TokensDelivered', containing: sampleMint, from: '"mint":"[^"]*"', to: inDollars },
    'posting_differs',
  ),
  onRow(
    'tokens of a caller recorded as a delivery of the treasury, its leaf made again',
    ['TransferReceived', 0],
    { aspect: 'arithmetic', code: 'posting_differs' },
    (position) => `${editBody(position, 'TransferReceived', 'TokensDelivered')};
        update ledger.events set kind = 'TokensDelivered' where seq = ${position}; ${forgeLeaf} where seq = ${position}`,
  ),
  {
    name: 'a burn of tokens that the treasury has not delivered, in a separate round',
    run: async (ledger) => {
      const delivered = await ledger.value(`select -sum(balance) as value from ledger.accounts
        where mint = '${sampleMint}' and name in ('Liabilities:BurnOwed', 'Assets:TokensToDeliver')`)
      const position = await burnAgain(ledger, roundOf(delivered + 1))
      return { aspect: 'arithmetic', code: 'tokens_not_delivered', position }
    },
  },
  {
    name: 'a burn of dollars, in a separate round',
    run: async (ledger) => {
      const position = await burnAgain(ledger, `replace(${roundOf(1_000)}, '${sampleMint}', '${dollar}')`)
      return { aspect: 'arithmetic', code: 'burn_exceeds', position }
    },
  },
]

/** The body of the first round, as a second round of this amount. */
const roundOf = (baseUnits: number) =>
  `regexp_replace(regexp_replace($, 'aseUnits":"1000"', 'aseUnits":"${baseUnits}"', 'g'), '"round":1', '"round":2')`

/** An account of a mint changed: the finding is at the last event that moves it. */
function onAccountOf(name: string, mint: string, { account, set }: { account: string; set: string }): Tampering {
  return {
    name,
    run: async (ledger) => {
      const of = `mint = '${mint}' and name = '${account}'`
      const position = await ledger.value(
        `select max(e.seq) as value from ledger.events e join ledger.accounts a on a.id = any (e.debits || e.credits) where ${of}`,
      )
      await ledger.sql(`update ledger.accounts set ${set} where ${of}`)
      return { aspect: 'arithmetic', code: 'account_differs', position }
    },
  }
}

function onSumsOf(name: string, statement: string): Tampering {
  return changed(name, { aspect: 'arithmetic', code: 'report_differs', position: undefined }, statement)
}

const ofDollar = (table: string, where = 'true') =>
  `ctid = (select ctid from reports.${table} where mint = '${dollar}' and ${where} order by 1 limit 1)`
const toDeliver = `account = 'Assets:TokensToDeliver' and day > '-infinity'`

const tamperedSums: readonly Tampering[] = [
  onAccountOf('the tokens that the treasury still has to deliver', sampleMint, {
    account: 'Assets:TokensToDeliver',
    set: 'balance = balance - 1000',
  }),
  onAccountOf('the burn that is owed in all', sampleMint, {
    account: 'Liabilities:BurnOwed',
    set: 'balance = balance + 1',
  }),
  onAccountOf('the dollars of the payment wallet', dollar, {
    account: 'Assets:PaymentWallet',
    set: 'balance = balance + 1',
  }),
  onAccountOf('the share of the treasury in dollars', dollar, {
    account: 'Liabilities:Share:treasury',
    set: 'balance = balance + 1',
  }),
  {
    name: 'the mints of two accounts of a share exchanged',
    run: async (ledger) => {
      const share = `name = 'Liabilities:Share:holders' and mint in ('${dollar}', '${sampleMint}')`
      const position = await ledger.value(
        `select min(e.seq) as value from ledger.events e join ledger.accounts a on a.id = any (e.debits || e.credits) where ${share}`,
      )
      await ledger.sql(`update ledger.accounts set name = name || mint where ${share};
        update ledger.accounts set mint = case mint when '${dollar}' then '${sampleMint}' else '${dollar}' end,
          name = 'Liabilities:Share:holders' where name like 'Liabilities:Share:holders_%'`)
      return { aspect: 'arithmetic', code: 'posting_differs', position }
    },
  },
  onSumsOf(
    'the tokens to deliver of a day, which the closing shows',
    `update reports.daily_totals set debits = debits + 1 where ${toDeliver}`,
  ),
  onSumsOf('the deliveries of a day deleted', `delete from reports.daily_totals where ${toDeliver}`),
  onSumsOf(
    'the value of a sale in dollars in the sums of a day',
    `update reports.daily_totals set value_pico_usd = value_pico_usd * 2 where ${ofDollar('daily_totals', 'value_pico_usd <> 0')}`,
  ),
  onSumsOf(
    'dollars of a day added to the tokens of that day',
    `update reports.daily_totals t set debits = t.debits + d.debits, credits = t.credits + d.credits from reports.daily_totals d
      where t.mint = '${sampleMint}' and d.mint = '${dollar}' and row(d.day, d.kind, d.endpoint, d.account) = row(t.day, t.kind, t.endpoint, t.account)`,
  ),
  onSumsOf(
    'the price of a day in dollars',
    `update reports.day_prices set price_micro_usd = price_micro_usd + 1 where ${ofDollar('day_prices')}`,
  ),
  onSumsOf(
    'a burn in the statement of a wallet in dollars',
    `update reports.wallet_totals set burned = burned + 1 where ${ofDollar('wallet_totals')}`,
  ),
  onSumsOf(
    'the owed tokens in the totals of payments in dollars',
    `update reports.payment_totals set burn_owed = burn_owed + 3000000 where ${ofDollar('payment_totals')}`,
  ),
  {
    name: 'the mint of a payment in the reports',
    run: async (ledger) => {
      const stream = await ledger.value(`select min(stream) as value from reports.payments where mint = '${dollar}'`)
      const position = await ledger.value(
        `select upper(seqs) - 1 as value from ledger.streams where stream = ${stream}`,
      )
      await ledger.sql(`update reports.payments set mint = '${sampleMint}' where stream = ${stream}`)
      return { aspect: 'arithmetic', code: 'report_differs', position }
    },
  },
  changed(
    'a class by which the treasury could owe nothing',
    { aspect: 'integrity', code: 'declaration_differs', position: undefined },
    `update ledger.classes set ceiling = 0 where class = 'to_deliver'`,
  ),
]

export const tamperedDollars: readonly Tampering[] = [
  ...tamperedSales,
  ...tamperedTabs,
  ...tamperedLists,
  ...tamperedDeliveries,
  ...tamperedSums,
]

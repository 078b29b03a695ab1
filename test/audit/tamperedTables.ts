import { onRow, type Tampering } from './tampering.ts'

/* What is derived: entries, balances, burn statistics, price lists, quotes, checkpoints, tiles. */

export const tamperedTables: readonly Tampering[] = [
  onRow(
    'an amount of an entry',
    'DistributionAllocated',
    { aspect: 'arithmetic', code: 'entry_differs' },
    (position) => `update ledger.entries set amount = amount + 1 where seq = ${position} and line = 2`,
  ),
  onRow(
    'the account of an entry',
    'DistributionAllocated',
    { aspect: 'arithmetic', code: 'entry_differs' },
    (position) => `update ledger.entries set account = 'Liabilities:Provider' where seq = ${position} and line = 5`,
  ),
  onRow(
    'two amounts of one event, so that it still sums to zero',
    'PaymentVerified',
    { aspect: 'arithmetic', code: 'entry_differs' },
    (position) => `update ledger.entries set amount = amount * 2 where seq = ${position} and line < 2`,
  ),
  onRow(
    'the mint of an entry',
    'TokensBurned',
    { aspect: 'arithmetic', code: 'entry_differs' },
    (position) => `update ledger.entries set mint = 'another' where seq = ${position}`,
  ),
  onRow(
    'an entry taken away',
    'TokensBurned',
    { aspect: 'arithmetic', code: 'entry_missing' },
    (position) => `delete from ledger.entries where seq = ${position} and line = 1`,
  ),
  onRow(
    'an entry added',
    'ProofClaimed',
    { aspect: 'arithmetic', code: 'entry_unexpected' },
    (position) =>
      `insert into ledger.entries select ${position}, 0, account, mint, amount from ledger.entries where seq < ${position} limit 1`,
  ),
  {
    name: 'a balance',
    run: async (book) => {
      await book.sql(`update ledger.balances set balance = balance + 1 where account = 'Liabilities:Treasury'`)
      const position = await book.value(
        `select upto_seq as value from ledger.balances where account = 'Liabilities:Treasury'`,
      )
      return { aspect: 'arithmetic', code: 'balance_differs', position }
    },
  },
  {
    name: 'a balance taken away',
    run: async (book) => {
      const position = await book.value(
        `select upto_seq as value from ledger.balances where account = 'Expenses:Burned'`,
      )
      await book.sql(`delete from ledger.balances where account = 'Expenses:Burned'`)
      return { aspect: 'arithmetic', code: 'balance_differs', position }
    },
  },
  {
    name: 'what was burned on a day',
    run: async (book) => {
      await book.sql(
        `update ledger.burn_totals set burned = burned + 1 where span = 'day' and starts_at = (select min(starts_at) from ledger.burn_totals where span = 'day')`,
      )
      return { aspect: 'arithmetic', code: 'burn_total_differs', position: undefined }
    },
  },
  {
    name: 'what was burned in an hour, taken away',
    run: async (book) => {
      await book.sql(
        `delete from ledger.burn_totals where span = 'hour' and starts_at = (select min(starts_at) from ledger.burn_totals where span = 'hour')`,
      )
      return { aspect: 'arithmetic', code: 'burn_total_differs', position: undefined }
    },
  },
  {
    name: 'a price list',
    run: async (book) => {
      await book.sql(
        `update ledger.price_lists set body = convert_to(replace(convert_from(body, 'UTF8'), '"10000"', '"10001"'), 'UTF8')`,
      )
      return { aspect: 'completeness', code: 'price_list_differs', position: 1 }
    },
  },
  {
    name: 'a price list taken away',
    run: async (book) => {
      await book.sql('delete from ledger.price_lists')
      return { aspect: 'completeness', code: 'price_list_differs', position: 1 }
    },
  },
  {
    name: 'the quote that was paid',
    run: async (book) => {
      const paid = `(select quote_id from ledger.payments where quote_id is not null order by seqs offset 2 limit 1)`
      const position = await book.value(
        `select seqs[cardinality(seqs)] as value from ledger.payments where quote_id = ${paid}`,
      )
      await book.sql(`update ledger.quotes set required = required - 1, provider = provider - 1 where id = ${paid}`)
      return { aspect: 'completeness', code: 'quote_differs', position }
    },
  },
]

export const tamperedSeals: readonly Tampering[] = [
  {
    name: 'the root of a checkpoint',
    run: async (book) => {
      const size = await book.checkpointOver(100)
      await book.sql(`update ledger.checkpoints set root = sha256('x') where size = ${size}`)
      return { aspect: 'integrity', code: 'checkpoint_root_differs', position: size }
    },
  },
  {
    name: 'the note of a checkpoint',
    run: async (book) => {
      const size = await book.checkpointOver(100)
      await book.sql(
        `update ledger.checkpoints set note = replace(note, '${size}', '${size + 1}') where size = ${size}`,
      )
      return { aspect: 'integrity', code: 'checkpoint_malformed', position: size }
    },
  },
  {
    name: 'the signature of a checkpoint',
    run: async (book) => {
      const size = await book.checkpointOver(100)
      const other = await book.checkpointOver(1)
      await book.sql(`update ledger.checkpoints set note = split_part(note, E'\\n\\n', 1) || E'\\n\\n' ||
        (select split_part(note, E'\\n\\n', 2) from ledger.checkpoints where size = ${other}) where size = ${size}`)
      return { aspect: 'integrity', code: 'checkpoint_signature_wrong', position: size }
    },
  },
  {
    name: 'a hash of a tile',
    run: async (book) => {
      await book.sql(
        `update ledger.tiles set hashes = overlay(hashes placing sha256('x') from 32 * 40 + 1) where level = 0 and index = 0`,
      )
      return { aspect: 'integrity', code: 'tile_differs', position: 41 }
    },
  },
]

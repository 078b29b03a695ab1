import { editBody, forgeLeaf, onPayment, type Tampering } from './tampering.ts'

/* What is there and what is not: positions, payments, the head. */

export const tamperedGaps: readonly Tampering[] = [
  {
    name: 'the newest five events taken away',
    run: async (book) => {
      const head = await book.head()
      await book.sql(
        `delete from ledger.entries where seq > ${head - 5}; delete from ledger.events where seq > ${head - 5}`,
      )
      return { aspect: 'completeness', code: 'tree_too_small', position: head - 4 }
    },
  },
  {
    name: 'the newest events taken away, with entries, checkpoints and the head set back',
    run: async (book) => {
      const head = await book.head()
      await book.sql(`delete from ledger.entries where seq > ${head - 5}; delete from ledger.events where seq > ${head - 5};
        delete from ledger.checkpoints where size > ${head - 5};
        update ledger.head set seq = ${head - 5}, recorded_at = (select recorded_at from ledger.events where seq = ${head - 5})`)
      // The auditor's own checkpoint.
      return { aspect: 'completeness', code: 'tree_too_small', position: head - 4 }
    },
  },
  {
    name: 'an event from the middle taken away',
    run: async (book) => {
      const position = await book.nth('ProofClaimed', 9)
      await book.sql(`delete from ledger.events where seq = ${position}`)
      return { aspect: 'completeness', code: 'position_missing', position }
    },
  },
  {
    name: 'a payment taken away whole, everything behind it renumbered with new leaves',
    run: async (book) => {
      const position = await book.nth('PaymentVerified', 7)
      const gone = `(select stream from ledger.events where seq = ${position})`
      await book.sql(
        `
        create temp table gone as select seq from ledger.events where stream = ${gone};
        delete from ledger.entries where seq in (select seq from gone);
        delete from ledger.payments where seqs[1] in (select seq from gone);
        delete from ledger.events where seq in (select seq from gone);
        create temp table moved as select seq, row_number() over (order by seq) as now from ledger.events;
        update ledger.entries e set seq = -m.now from moved m where e.seq = m.seq;
        update ledger.events e set seq = m.now from moved m where e.seq = m.seq`.replace(
          'set seq = -m.now',
          'set seq = m.now',
        ),
      )
      await book.sql(`${forgeLeaf};
        update ledger.head set seq = (select max(seq) from ledger.events);
        drop table gone; drop table moved`)
      return { aspect: 'integrity', code: 'tile_differs', position }
    },
  },
  {
    name: 'the first event replaced, its leaf made again',
    run: async (book) => {
      await book.sql(`${editBody(1, '"source":"fixed"', '"source":"other"')}; ${forgeLeaf} where seq = 1`)
      return { aspect: 'integrity', code: 'tile_differs', position: 1 }
    },
  },
  {
    name: 'the head set back',
    run: async (book) => {
      const head = await book.head()
      await book.sql(`update ledger.head set seq = ${head - 3}`)
      return { aspect: 'completeness', code: 'head_differs', position: head - 2 }
    },
  },
  {
    name: 'the row of a payment taken away, so that its proof could be used again',
    run: async (book) => {
      const position = await book.value(
        `select max(s) as value from (select unnest(seqs) s from (select seqs from ledger.payments order by seqs offset 2 limit 1) p) q`,
      )
      await book.sql(`delete from ledger.payments where ${position} = any (seqs)`)
      return { aspect: 'completeness', code: 'payment_row_missing', position }
    },
  },
  {
    name: 'the row of a payment that no event has',
    run: async (book) => {
      await book.sql(`insert into ledger.payments select sha512('x'), version, state, wallet, endpoint, attempt, lease_until, quote_id, seqs, created_at, updated_at
        from ledger.payments where state = 'fulfilled' order by seqs limit 1`)
      const position = await book.value(`select seqs[1] as value from ledger.payments where signature = sha512('x')`)
      return { aspect: 'completeness', code: 'payment_row_unexpected', position }
    },
  },
  onPayment('the state of a payment', `state = 'released'`),
  onPayment('the wallet of a payment row', `wallet = endpoint`),
  onPayment('the endpoint of a payment row', `endpoint = '/api/other'`),
  onPayment('the attempt of a payment row', `attempt = attempt + 1`),
  onPayment('the positions of a payment row', `seqs = seqs[1:cardinality(seqs) - 1] || seqs[1]`),
  onPayment('the quote of a payment row', `quote_id = 'quote_other'`),
]

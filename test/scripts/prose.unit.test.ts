import { describe, expect, test } from 'vitest'
import { findProse } from '../../scripts/proseFindings.ts'

const bad: readonly (readonly [string, string])[] = [
  ['headless What', 'What the chain says differently from the ledger.'],
  ['headless What', 'Reads the file. What is missing is created.'],
  ['headless Who', 'Who paid may ask again.'],
  ['headless Where', 'Where the ledger is stored.'],
  ['headless How', 'How far the chain was.'],
  ['headless How', 'How many are read at a time.'],
  ['inverted opening', 'Of several changes, only the last one counts.'],
  ['headless Of', 'Of the last comparison; gone with the next one that succeeds.'],
  ['inverted opening', 'By whom it was sent.'],
  ['Says', 'Says that the query succeeded.'],
  ['Told', 'Told of each event.'],
  ['book', 'Replays the whole book.'],
  ['booked', 'The transfer is booked an hour later.'],
  ['life', 'One payment and its whole life.'],
  ['look', 'Each look costs a query.'],
  ['look-up', 'A look-up in the table.'],
  ['shelf', 'Answers on the shelf expire.'],
  ['door', 'Opens the door for WebSockets.'],
  ['ground', 'Opens the ground of a test.'],
  ['desk', 'The desk answers requests.'],
  ['shop', 'A damaged ledger closes the shop.'],
  ['watch', 'The watch polls every minute.'],
  ['mend', 'Mends the lock file.'],
  ['told', 'The caller is told when it is final.'],
  ['tells', 'A market that tells nothing is ignored.'],
  ['beside', 'A file beside the data directory.'],
  ['for ever', 'The row stays for ever.'],
  ['come back', 'A caller comes back with the same proof.'],
  ['say no', 'The node says no to the transaction.'],
  ['says otherwise', 'A setting of 1 unless the file says otherwise.'],
  ['so long', 'It stays open for so long.'],
  ['goes through', 'The query goes through.'],
  ['whoever', 'Sent to whoever asks.'],
  ['nobody', 'A port on which nobody listens.'],
  ['nobody', "Somebody's transaction."],
  ['is no', 'The text is no address.'],
  ['gives', 'It gives nothing for an unknown key.'],
  ['but for', 'Equal but for the slot.'],
  ['otherwise than', 'Burned otherwise than verified.'],
  ['in vain', 'Asked in vain.'],
  ['litotes', 'It is not unlikely.'],
  ['litotes', 'It is nothing other than a hash.'],
  ['voice', 'A market without liquidity has no voice.'],
  ['the way of', 'The way of a paid request.'],
  ['wish', 'The wishes of the caller.'],
  ['reckon', 'Prices are reckoned once.'],
  ['spoil', 'Parquet would spoil the terminal.'],
  ['under way', 'Another attempt is under way.'],
  ['of its own', 'Each file has a database of its own.'],
  ['stands', 'The reason stands in the log.'],
  ['as it stands', 'The page is taken as it stands.'],
  ['so many', 'So many are admitted at once.'],
  ['all the same', 'The payment is found all the same.'],
  ['in the place of', 'A sample in the place of the provider.'],
  ['good', 'The proof is still good.'],
  ['heal', 'The error may heal by itself.'],
  ['dear', 'The dearer one is paid.'],
  ['anew', 'Written anew at each start.'],
  ['anyhow', 'It is closed anyhow.'],
  ['at hand', 'The key is at hand.'],
  ['for want of', 'It failed for want of tokens.'],
]

const good: readonly string[] = [
  'Of the 100 payments, three failed.',
  'Differences between chain and ledger, ignoring the slot.',
  'What if the node is behind?',
  'Who signs the checkpoint?',
  'Grace period for callers told to retry the same proof.',
  'The two cannot be told apart.',
  'There is no third form of proof.',
  'The node is no longer in rotation.',
  'The delay is no more than 5 s.',
  'The order book of an exchange.',
  'Double-entry bookkeeping; booking a hotel.',
  'The lifetime of a quote; in real life.',
  'It looks like an address. Looks up the payment.',
  'The sample stands in for the provider. A firewall stands in the way.',
  'The ground truth. Closed on the ground of age.',
  'Watch the log. Watches the file for changes.',
  'The node comes back online.',
  'The user is not under quota until midnight.',
  'Everyone may read checkpoints.',
  'The owner of its own token account; the number of your own proxies.',
  'The reader knows what the payment costs and where it stands.',
]

describe('prose', () => {
  test.each(bad)('"%s" is found in: %s', (name, sentence) => {
    for (const text of [`// ${sentence}\n`, `/** ${sentence} */\n`, `log(${JSON.stringify(sentence)})\n`])
      expect(findProse('src/x.ts', text).map((finding) => finding.name)).toContain(name)
    expect(findProse('docs/x.md', sentence).map((finding) => finding.name)).toContain(name)
    expect(findProse('x.sql', `-- ${sentence}\n`).map((finding) => finding.name)).toContain(name)
  })

  test.each(good)('nothing is found in: %s', (sentence) => {
    expect(findProse('src/x.ts', `// ${sentence}\n`)).toEqual([])
    expect(findProse('docs/x.md', sentence)).toEqual([])
  })

  test('a sentence that breaks over line comments is one text, and a finding has its own line', () => {
    const text = '// Reads the rows of the\n// whole ledger. The port on which\n// nobody listens is closed.\nrun()\n'
    expect(findProse('src/x.ts', text)).toMatchObject([{ line: 3, name: 'nobody' }])
  })

  test('the second line of a sentence is not an opening', () => {
    expect(findProse('src/x.ts', '// The caller knows\n// What it means.\n')).toEqual([])
  })

  test('code, fences, addresses and statements of SQL are not prose', () => {
    expect(findProse('docs/x.md', '```sh\ntollbook export --output book.jsonl\n```\nRuns as `nobody`.')).toEqual([])
    expect(findProse('docs/x.md', 'See [the ledger](book.md) at https://example.com/book.')).toEqual([])
    expect(findProse('src/x.ts', "run('select book from shelf')\nconst pattern = /the book/\n")).toEqual([])
    expect(findProse('src/x.ts', 'const half = a / 2 // a / half\nconst text = `${book}`\n')).toEqual([])
  })

  test('a cell of a table and an item of a list start a sentence', () => {
    expect(findProse('docs/x.md', '| field | What it is |\n')).toMatchObject([{ name: 'headless What' }])
    expect(findProse('docs/x.md', '- What it is\n')).toMatchObject([{ name: 'headless What' }])
  })

  test('names are checked by their words, once per file', () => {
    expect(findProse('src/x.ts', 'openBook()\nopenBook()\nconst bookkeeping = 1\n')).toMatchObject([
      { line: 1, name: 'name: book', match: 'openBook' },
    ])
    expect(findProse('test/testGround.ts', '')).toMatchObject([{ name: 'name: ground' }])
  })

  test('text of a page is read without its tags and scripts', () => {
    const html =
      '<h1>Burned</h1>\n<script>book()</script>\n<p>\n  Sums of\n  the <code>x</code> book.\n</p>\n<p>What is owed</p>\n'
    expect(findProse('src/x.html', html)).toMatchObject([
      { line: 5, name: 'book' },
      { line: 7, name: 'headless What' },
    ])
  })

  test('comments of shell and YAML files are read', () => {
    expect(findProse('deploy/x.yml', 'a: "#"\n# nobody listens\n')).toMatchObject([{ line: 2, name: 'nobody' }])
  })
})

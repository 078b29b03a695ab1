import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Journal } from '@tollbook/localnet/journal'
import type { JournalEntry } from '@tollbook/localnet/journalEntry'

const entry = (byte: number): JournalEntry => ({
  kind: 'branch',
  branch: { fromSlot: byte, salt: Buffer.alloc(32, byte) },
})

test('cut off at any byte, a journal keeps exactly the entries that are whole', async () => {
  const path = await makePath()
  const journal = new Journal(path)
  const ends = [1, 2, 3].map((byte) => {
    journal.append(entry(byte))
    return journal.length
  })
  journal.close()
  const whole = await readFile(path)

  for (let length = 0; length <= whole.length; length++) {
    await writeFile(path, whole.subarray(0, length))
    const cut = new Journal(path)
    const recovered = [...cut.recover()]
    expect(recovered).toEqual([1, 2, 3].slice(0, ends.filter((end) => end <= length).length).map(entry))
    cut.append(entry(9))
    cut.close()
    const again = new Journal(path)
    expect([...again.recover()]).toEqual([...recovered, entry(9)])
    again.close()
  }
})

test('what was truncated is gone, and what follows takes its place', async () => {
  const path = await makePath()
  const journal = new Journal(path)
  journal.append(entry(1))
  const position = journal.length
  journal.append(entry(2))

  journal.truncate(position)
  journal.append(entry(3))
  journal.close()

  expect([...new Journal(path).recover()]).toEqual([entry(1), entry(3)])
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('after a failed write nothing more is written, and each attempt says why', async () => {
  const path = await makePath()
  const journal = new Journal(path)
  journal.append(entry(1))
  journal.close()

  expect(() => journal.append(entry(2))).toThrow(`the chain's journal ${path} cannot be written`)
  expect(() => journal.assertWritable()).toThrow('free some space and start again')
  expect([...new Journal(path).recover()]).toEqual([entry(1)])
})

async function makePath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tollbook-chain-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return join(directory, 'journal')
}

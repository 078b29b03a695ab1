import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { openOutputFile } from '../../src/cli/outputFile.ts'
import { brokenOffExitCode, openStandardOutput } from '../../src/cli/output.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const patient = new AbortController().signal

test('the next chunk is written when the reader has taken the last one, and the bytes are unchanged', async () => {
  const taken: Buffer[] = []
  const readings: (() => void)[] = []
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      taken.push(chunk)
      readings.push(() => done())
    },
  })
  const output = openStandardOutput({ stdout, interrupted: patient })
  let isWritten = false
  const writing = output.write(Uint8Array.of(0, 255, 10)).then(() => (isWritten = true))
  await Promise.resolve()
  expect([taken, isWritten]).toEqual([[Buffer.from([0, 255, 10])], false])
  readings[0]?.()
  await writing
})

test('a reader that has gone ends a command with 0, a full disk with a fault, and Ctrl-C with 130', async () => {
  const failWith = async (code: string, interrupted = patient): Promise<unknown> => {
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) })
    const output = openStandardOutput({ stdout, interrupted })
    return Promise.resolve()
      .then(() => output.write('text'))
      .catch((error: unknown) => error)
  }
  expect(brokenOffExitCode(await failWith('EPIPE'), patient)).toBe(0)
  const full = await failWith('ENOSPC')
  expect([brokenOffExitCode(full, patient), String(full)]).toEqual([
    undefined,
    expect.stringContaining('standard output cannot be written: Error: ENOSPC'),
  ])
  const interrupted = AbortSignal.abort()
  expect(brokenOffExitCode(await failWith('EPIPE', interrupted), interrupted)).toBe(130)
})

test('Ctrl-C ends a write to a reader that has stopped reading', async () => {
  const interrupt = new AbortController()
  const stdout = new Writable({ write: () => undefined })
  const writing = openStandardOutput({ stdout, interrupted: interrupt.signal }).write('text')
  interrupt.abort()
  await expect(writing).rejects.toThrow('interrupted')
})

test('a file appears when it is complete, for its user only, and an existing file remains until then', async () => {
  const folder = await makeScratchDirectory()
  const file = join(folder, 'ledger.csv')
  await writeFile(file, 'earlier')
  const output = await openOutputFile(file)
  await output.write('one ')
  await output.write(Buffer.from('two'))
  expect(await readFile(file, 'utf8')).toBe('earlier')
  await output.finish()
  expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['one two', ['ledger.csv']])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('an export that fails leaves the earlier file, and nothing next to it', async () => {
  const folder = await makeScratchDirectory()
  const file = join(folder, 'ledger.csv')
  await writeFile(file, 'earlier')
  const output = await openOutputFile(file)
  await output.write('half')
  await output.abandon()
  expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['earlier', ['ledger.csv']])
})

test('a link keeps its target, a device is written directly, and a folder is refused', async () => {
  const folder = await makeScratchDirectory()
  await mkdir(join(folder, 'disk'))
  const [target, link] = [join(folder, 'disk', 'ledger.csv'), join(folder, 'newest.csv')]
  await writeFile(target, 'earlier')
  await symlink(target, link)
  const output = await openOutputFile(link)
  await output.write('later')
  await output.finish()
  expect([await readFile(target, 'utf8'), await readFile(link, 'utf8')]).toEqual(['later', 'later'])
  const device = await openOutputFile('/dev/null')
  await device.write('text')
  await device.finish()
  await expect(openOutputFile(folder)).rejects.toThrow(`${folder} cannot be written: Error: it is a directory`)
  await expect(openOutputFile(join(folder, 'missing', 'x'))).rejects.toThrow('ENOENT')
})

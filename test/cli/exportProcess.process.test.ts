import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, openSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { audit } from '@tollbook/audit/audit'
import { systemClock } from '@tollbook/core/clock'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { createTestDatabase } from '../support/database.ts'
import { compileCacheEnv } from '../support/compileCacheEnv.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { seedLedger } from '../proofs/finance/seedLedger.ts'
import { openInstance, openSessions } from '../store/instance.ts'
import { sampleMint } from '../store/samplePayment.ts'
import { publishPrices } from '../reports/everyOutcome.ts'

/* Long answers of the command line as a process among others: pipes, slow readers, full disks, Ctrl-C. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const admin = openSessions(adminUrl)
const directory = await makeScratchDirectory()
const program = fileURLToPath(new URL('../../src/cli/tollbook.js', import.meta.url))
const env = {
  ...compileCacheEnv(),
  PATH: process.env['PATH'] ?? '',
  DATABASE_URL: serviceUrl,
  TOLLBOOK_HOME: directory,
}
// Many times the 64 KiB that a pipe holds.
const payments = 800

beforeAll(async () => {
  const ledger = await openInstance(serviceUrl)
  await publishPrices(ledger)
  await seedLedger({ serviceUrl, adminUrl }, { mint: sampleMint, payments })
})

interface Ended {
  readonly code: number | null
  readonly stderr: string
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

function start(words: readonly string[], stdout: 'pipe' | number = 'pipe'): Started {
  const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', stdout, 'pipe'] })
  afterFile(() => void child.kill('SIGKILL'))
  const stderr = text(assertPresent(child.stderr, 'stderr is piped'))
  return { child, ended: once(child, 'exit').then(async () => ({ code: child.exitCode, stderr: await stderr })) }
}

async function run(words: readonly string[]): Promise<Ended & { readonly stdout: string }> {
  const { child, ended } = start(words)
  const stdout = await text(assertPresent(child.stdout, 'stdout is piped'))
  return { ...(await ended), stdout }
}

/** Sessions of the program that have not asked for anything for a while. */
async function idleSessions(name: string): Promise<number> {
  const { rowCount } = await admin.query(
    `select from pg_stat_activity where application_name = $1 and state like 'idle%'
      and state_change < clock_timestamp() - interval '500 ms'`,
    [name],
  )
  return rowCount ?? 0
}

async function sessions(name: string): Promise<number> {
  const { rowCount } = await admin.query('select from pg_stat_activity where application_name = $1', [name])
  return rowCount ?? 0
}

// CSV shares the path of JSON lines; each process costs more than a second of processor time.
const answers = [
  ['export', ['export', 'jsonl']],
  ['export', ['export', 'parquet', '--table', 'events']],
  ['report', ['report', 'payments', '--format', 'csv']],
] as const

describe.each(answers)('tollbook %s, called as %j,', (command, words) => {
  const name = `tollbook ${command}`

  test('sends no query while its output is not read, and Ctrl-C ends it with 130', async () => {
    const { child, ended } = start(words)
    await awaitThat('the command waits for its reader', async () => (await idleSessions(name)) > 0)
    expect(child.exitCode).toBeNull()
    child.kill('SIGINT')
    expect(await ended).toEqual({ code: 130, stderr: '' })
    await awaitThat('its sessions are closed', async () => (await sessions(name)) === 0)
  })

  test('ends without a word when its reader has seen enough', async () => {
    const { child, ended } = start(words)
    const stdout = assertPresent(child.stdout, 'stdout is piped')
    await once(stdout, 'data')
    stdout.destroy()
    expect(await ended).toEqual({ code: 0, stderr: '' })
  })

  test('ends with an error and says why when the disk behind its output is full', async () => {
    const { code, stderr } = await start(words, openSync('/dev/full', 'w')).ended
    expect({ code, stderr }).toEqual({
      // A report ends with the code of a refusal, like `explain`; an export has no such code.
      code: words[0] === 'report' ? 4 : 1,
      stderr: expect.stringMatching(/^standard output cannot be written: .*ENOSPC.*\n$/),
    })
  })
})

test('what goes to a pipe is what goes to a file, and an audit of it holds', async () => {
  const file = `${directory}/ledger.jsonl`
  const [piped, filed] = [await run(['export', 'jsonl']), await run(['export', 'jsonl', '--output', file])]
  expect(piped).toMatchObject({ code: 0, stderr: '' })
  // No progress bar, because standard error is not a terminal.
  expect(filed).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^.*ledger\.jsonl: positions 1 to \d+, .*\n$/),
  })
  expect(await readFile(file, 'utf8')).toBe(piped.stdout)
  const question = {
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: false,
    chain: undefined,
    resumeFile: undefined,
  }
  const { root } = await audit({ ...question, source: { kind: 'export', path: file }, clock: systemClock })
  expect(piped.stdout.slice(0, 1_000)).toContain(`"root":"${root}"`)
})

describe('an output file', () => {
  async function filesOf(folder: string): Promise<readonly string[]> {
    return (await readdir(folder)).toSorted()
  }

  test('for which the disk has no space leaves an existing file unchanged, and no other file', async () => {
    const folder = `${directory}/full`
    await mkdir(folder)
    await writeFile(`${folder}/ledger.csv`, 'of yesterday')
    // A limit of the process, which fails a write as a full disk does.
    const script = `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`
    const words = [program, 'export', 'csv', '--output', `${folder}/ledger.csv`]
    const child = spawn('bash', ['-c', script, process.execPath, ...words], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const stderr = await text(child.stderr)
    expect(stderr).toMatch(/^.*ledger\.csv cannot be written: .*EFBIG.*\n$/)
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(1)
    expect(await filesOf(folder)).toEqual(['ledger.csv'])
    expect(await readFile(`${folder}/ledger.csv`, 'utf8')).toBe('of yesterday')
  })

  test('is replaced when the new one is whole, for its owner only', async () => {
    const file = `${directory}/again.csv`
    await writeFile(file, 'of yesterday')
    expect(await run(['export', 'csv', '--to', '9', '--output', file])).toMatchObject({ code: 0 })
    expect(await readFile(file, 'utf8')).toMatch(/^position,/)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('that is a named pipe is written to and stays one', async () => {
    const pipe = `${directory}/pipe`
    await promisify(execFile)('mkfifo', [pipe])
    const [read, { code }] = await Promise.all([
      text(createReadStream(pipe)),
      run(['export', 'jsonl', '--to', '9', '--output', pipe]),
    ])
    expect(code).toBe(0)
    expect(read).toMatch(/\n\{"end":true,"events":9\}\n$/)
    expect((await stat(pipe)).isFIFO()).toBe(true)
  })

  test.each(['', 'nowhere/ledger.csv'])(
    'that cannot be one, such as %j in the home, is refused by name',
    async (path) => {
      const { code, stderr } = await run(['export', 'csv', '--output', `${directory}/${path}`])
      expect(code).toBe(1)
      expect(stderr).toMatch(new RegExp(`^${directory}/${path} cannot be written: [^\\n]+\\n$`))
    },
  )
})

import { systemClock } from '@tollbook/core/clock'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { CommanderError } from 'commander'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { runAuditCommand } from '@tollbook/audit/auditCommand'
import { assertPresent } from '@tollbook/core/assert'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { compareCheckpoints } from '../../src/backup/compareCheckpoints.ts'
import { auditCommand } from '../../src/cli/audit.ts'
import type { CommandDeps } from '../../src/cli/commandDeps.ts'
import { exportCommand } from '../../src/cli/export.ts'
import { prepareCommand } from '../../src/cli/prepareCommand.ts'
import { reportCommand } from '../../src/cli/report.ts'
import { silentLog } from '../../src/machine/log.ts'
import { reportNames } from '../../src/reports/readReport.ts'
import { readRestoredLogins } from '../../src/store/restoredCluster.ts'
import { growLedger, ledgerKeyText } from '../audit/auditedLedger.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'

/* `tollbook export` and `tollbook audit` as they are called, one after the other. */

const { serviceUrl, adminUrl, ownerUrl } = await createTestDatabase()
const financeUrl = await makeMemberLogin(adminUrl, 'tollbook_reader')
const directory = await makeTemporaryDirectory()
afterFile(directory.remove)
const exportFile = `${directory.path}/ledger.jsonl`
const checkpoint = `${directory.path}/checkpoint`

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const commands = {
  export: exportCommand,
  audit: auditCommand,
  report: (deps: CommandDeps) =>
    reportCommand({
      ...deps,
      databaseUrl: () => Promise.resolve(financeUrl),
      receiptKey: () => Promise.reject(new Error('no statement is signed here')),
    }),
}

async function run(name: keyof typeof commands, words: readonly string[], interrupted?: AbortSignal): Promise<Ran> {
  const said = { stdout: '', stderr: '' }
  let code = -1
  const deps: CommandDeps = {
    stdout: { write: (text) => void (said.stdout += text) },
    stderr: { write: (text) => void (said.stderr += text) },
    home: () => directory.path,
    setExitCode: (given) => void (code = given),
    interrupted: interrupted ?? new AbortController().signal,
    clock: systemClock,
  }
  await prepareCommand(commands[name](deps), deps)
    .parseAsync([...words], { from: 'user' })
    .catch((error: unknown) => {
      if (!(error instanceof CommanderError)) throw error
      code = error.exitCode
    })
  return { code, ...said }
}

const live = ['--database', serviceUrl]
const key = ['--verifier-key', ledgerKeyText]

beforeAll(async () => {
  await writeFile(checkpoint, await growLedger({ serviceUrl, payments: 12, isNew: true }))
  await run('export', ['jsonl', ...live, '--output', exportFile])
})

describe('tollbook export', () => {
  test('names what it wrote, and leaves one whole file', async () => {
    const file = `${directory.path}/entries.csv`
    const { code, stderr } = await run('export', ['csv', ...live, '--to', '30', '--output', file])
    expect(code).toBe(0)
    expect(stderr).toMatch(/entries\.csv: positions 1 to 30, tree size 30, root \S{44}/)
    expect(await readFile(file, 'utf8')).toMatch(/^position,line,/)
    expect((await readdir(directory.path)).filter((name) => name.endsWith('.partial'))).toEqual([])
  })

  test('that is interrupted leaves no file behind', async () => {
    const file = `${directory.path}/interrupted.jsonl`
    const { code } = await run('export', ['jsonl', ...live, '--output', file], AbortSignal.abort())
    expect(code).toBe(130)
    expect((await readdir(directory.path)).filter((name) => name.startsWith('interrupted'))).toEqual([])
  })

  test.each([
    [['xml'], "'format'"],
    [['csv', '--table', 'wallets'], "'--table <name>'"],
    [['csv', '--from', 'yesterday'], '--from: '],
    [['csv', '--to', '0'], '--to: '],
  ])('refuses %j and says which word is wrong', async (words, option) => {
    const { code, stderr } = await run('export', [...words, ...live])
    expect(code).toBe(2)
    expect(stderr).toContain(option)
  })
})

const report = z.looseObject({
  events: z.int(),
  root: z.string(),
  verdicts: z.record(z.string(), z.looseObject({ status: z.string(), firstBad: z.unknown() })),
})

test('a report of many rows takes no signature, and says so before it reads', async () => {
  expect(await run('report', ['burns', 'signature'])).toMatchObject({ code: 2 })
})

test('a report without a database, and one that does not answer, end like their siblings', async () => {
  const runWith = async (databaseUrl: () => Promise<string>) => {
    const said = { stderr: '', code: -1 }
    const deps = {
      stdout: { write: () => undefined },
      stderr: { write: (text: string) => void (said.stderr += text) },
      interrupted: new AbortController().signal,
      setExitCode: (code: number) => void (said.code = code),
      clock: systemClock,
    }
    const receiptKey = () => Promise.reject(new Error('no statement is signed here'))
    await reportCommand({ ...deps, databaseUrl, receiptKey }).parseAsync(['burns'], { from: 'user' })
    return said
  }
  const missing = () => Promise.reject(new UsageProblem('DATABASE_URL', 'is missing'))
  expect(await runWith(missing)).toEqual({ code: 2, stderr: 'DATABASE_URL: is missing\n' })
  const silent = () => Promise.resolve('postgres://reader@127.0.0.1:1/none')
  expect(await runWith(silent)).toMatchObject({ code: 7, stderr: expect.stringContaining('ECONNREFUSED') })
})

test('a report that is interrupted ends with 130', async () => {
  expect(await run('report', ['burns'], AbortSignal.abort())).toMatchObject({ code: 130, stdout: '' })
  expect(await run('report', ['payment', '1'.repeat(64)])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('the ledger has no payment, payout or burn'),
  })
})

test('a table without rows says so', async () => {
  const { stdout } = await run('report', ['payments', '--endpoint', '/api/data/none'])
  expect(stdout).toMatch(/no rows for this question\n$/)
})

describe('tollbook audit', () => {
  test('of a live ledger and of its export says the same, in words and as one JSON document', async () => {
    const words = await run('audit', [...live, ...key, '--checkpoint', checkpoint])
    expect(words).toMatchObject({ code: 0, stderr: '' })
    expect(words.stdout).toMatch(/^integrity {5}holds$/m)
    const [one, other] = [await run('audit', [...live, '--json']), await run('audit', [exportFile, '--json', ...key])]
    expect([one.code, other.code]).toEqual([0, 0])
    expect(report.parse(JSON.parse(one.stdout)).root).toBe(report.parse(JSON.parse(other.stdout)).root)
  })

  test('ends with the code of the worst verdict and names the first bad position', async () => {
    const lines = (await readFile(exportFile, 'utf8')).split('\n')
    const spoiled = `${directory.path}/spoiled.jsonl`
    await writeFile(
      spoiled,
      lines
        .toSpliced(20, 1)
        .map((line, index) => (index === 9 ? line.replace('version', 'versiom') : line))
        .join('\n'),
    )
    const { code, stdout } = await run('audit', [spoiled, '--json'])
    expect(code).toBe(7)
    const { verdicts } = report.parse(JSON.parse(stdout))
    expect(verdicts['integrity']).toMatchObject({ status: 'broken', firstBad: { position: 9 } })
    expect(verdicts['completeness']).toMatchObject({ status: 'broken' })
    expect(stdout).toContain('position 20 is not in the ledger')
  })

  test('of a ledger older than the kept checkpoint reports that its end is missing', async () => {
    const older = `${directory.path}/older.jsonl`
    await run('export', ['jsonl', ...live, '--to', '40', '--output', older])
    const { code, stdout } = await run('audit', [older, '--checkpoint', checkpoint, ...key])
    expect(code).toBe(4)
    expect(stdout).toMatch(/completeness {2}BROKEN: 1 finding, first at position 41/)
    expect(stdout).toMatch(/not checked: no checkpoint could be compared/)
  })

  test('compares the checkpoint that this machine keeps, although the auditor names another one', async () => {
    const stored = `${directory.path}/stored`
    await writeFile(stored, (await readFile(checkpoint, 'utf8')).replace(/^(.+\n.+\n).{4}/, '$1AAAA'))
    const said: string[] = []
    const auditWith = (checkpointFile: string | undefined) =>
      runAuditCommand([...key, '--checkpoint', checkpoint], {
        stdout: { write: (text) => said.push(text) },
        stderr: { write: () => undefined },
        interrupted: new AbortController().signal,
        findLedger: () => Promise.resolve({ databaseUrl: serviceUrl, checkpointFile }),
      })
    expect([await auditWith(undefined), await auditWith(stored)]).toEqual([0, 7])
    expect(said.at(-1)).toContain(`${stored} states another root`)
  })

  test('that is interrupted ends with 130, and goes on from its resume file', async () => {
    const resume = ['--resume', `${directory.path}/audit.state`]
    expect((await run('audit', [...live, ...resume], AbortSignal.abort())).code).toBe(130)
    const { code, stdout } = await run('audit', [...live, ...resume])
    expect(code).toBe(0)
    expect(stdout).toMatch(/resumed after position \d+/)
  })

  test('of a database or a file that cannot be read says why', async () => {
    const wrong = new URL(serviceUrl)
    wrong.password = 'wrong'
    const { code, stderr } = await run('audit', ['--database', wrong.href])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot be reached: password authentication failed/)])
    expect((await run('audit', ['/nowhere'])).stderr).toMatch(/cannot be read: ENOENT/)
  })

  test.each([
    ['EXPORT', [exportFile, ...live]],
    ['--verifier-key', [...live, '--verifier-key', 'nonsense']],
    ['--recorded-within', [...live, '--recorded-within', '5']],
    ['--payment-wallet', [...live, '--payment-wallet', 'x']],
    ['--database', ['--database', 'nonsense']],
    ['--checkpoint', [...live, '--checkpoint', '/nowhere']],
    ['--snapshot', [...live, '--snapshot', exportFile]],
    ['--chain', [...live, '--chain', 'ftp://node']],
    ['--payment-wallet', [...live, '--chain', 'http://127.0.0.1:1']],
    ['--database', []],
  ])('refuses a wrong or missing %s and names it', async (option, words) => {
    const { code, stderr } = await run('audit', words)
    expect(code).toBe(2)
    expect(stderr).toContain(option)
  })
})

describe('a drill', () => {
  test('compares every checkpoint, and audits those that the restored ledger reaches', async () => {
    const note = await readFile(checkpoint, 'utf8')
    const known = assertPresent(readCheckpoint(note), 'it is a checkpoint')
    const given = { ...known, note, path: 'own' }
    const newer = { ...given, size: known.size + 2, path: 'newer' }
    const other = { ...given, root: new Uint8Array(32), path: 'other' }
    const steps: string[] = []
    const onStep = (text: string) => void steps.push(text)
    const found = await compareCheckpoints(serviceUrl, [newer, given, other], { log: silentLog, onStep })
    expect(found.comparisons.map(({ relation }) => relation)).toEqual(['older', 'continues', 'other'])
    expect(found.comparisons.map(({ missingEvents }) => missingEvents)).toEqual([2, 0, 0])
    expect(found.contained.map(({ path }) => path)).toEqual(['own', 'other'])
    expect(steps).toEqual(found.comparisons.map(({ finding }) => finding))
  })

  test('finds the logins of the service and of the owner in the restored cluster', async () => {
    const logins = await readRestoredLogins(adminUrl)
    expect(logins.owner).toBe(new URL(ownerUrl).username)
    expect(logins.service).not.toBeNull()
    const empty = Object.assign(new URL(adminUrl), { pathname: '/postgres' }).href
    expect((await readRestoredLogins(empty)).owner).toBeNull()
  })
})

describe('the login of finance, a member of tollbook_reader and of no other role', () => {
  test.each(reportNames)('gets the report %s from tollbook report', async (name) => {
    const { stdout: tabs } = await run('report', ['tabs', '--format', 'json', '--limit', '1'])
    const [, tab = ''] = /"tab":"(\w+)"/.exec(tabs) ?? []
    const given = name === 'tab-statement' ? ['--tab', tab] : []
    const { stdout, stderr } = await run('report', [name, ...given, '--format', 'json'])
    expect(stderr).toBe('in TOKEN only: the ledger also has TOKENB, TOKENC, TOKEND (--mint)\n')
    expect(stdout).toMatch(/^\{/)
  })

  test('gets an audit of the ledger and of the tables that finance reads', async () => {
    const { code, stdout } = await run('audit', ['--database', financeUrl, ...key])
    expect(code).toBe(0)
    expect(stdout).toMatch(/the tables of the finance reports, which have reached position \d+/)
  })
})

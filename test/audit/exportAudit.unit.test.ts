import { writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { audit, type AuditOptions } from '@tollbook/audit/audit'
import { type KnownLedger, runAuditCommand } from '../../packages/audit/src/auditCommand.ts'
import { exitCodeOf } from '@tollbook/audit/auditReport'
import { verifierKeyOf } from '@tollbook/audit/checkpointNote'
import { hostClock } from '@tollbook/audit/clock'
import { signCheckpoint, verifierKeyText } from '@tollbook/core/checkpoint'
import { isoTime } from '@tollbook/core/clock'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { associatedTokenAccount } from '../../packages/audit/src/tokenAccountAddress.ts'
import { blockTimeMs, price, ReplayedLedger, served, signed, wallet } from './replayedLedger.ts'

/* The audit of an export that was written by hand, without a database. */

const directory = await makeTemporaryDirectory()
afterFile(directory.remove)
let files = 0
const freshPath = (): string => `${directory.path}/${++files}`

async function exported(ledger: ReplayedLedger, checkpoint?: string): Promise<string> {
  const path = freshPath()
  await writeFile(path, ledger.exportText(checkpoint))
  return path
}

function auditFile(path: string, given: Partial<AuditOptions> = {}) {
  return audit({
    source: { kind: 'export', path },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    chain: undefined,
    resumeFile: undefined,
    clock: hostClock,
    ...given,
  })
}

function settings(...values: readonly string[]): ReplayedLedger {
  const ledger = new ReplayedLedger()
  for (const [index, value] of values.entries()) {
    const fields = { name: 'motto', number: index + 1, validFrom: isoTime(blockTimeMs), value }
    ledger.append(`motto#${index + 1}`, ['SettingChanged', fields, blockTimeMs])
  }
  return ledger
}

test('a text with the line separators of Unicode stays one line of an export', async () => {
  const report = await auditFile(await exported(settings('one\u2028two\u2029three\u0085four')))
  expect(report.findings).toEqual([])
  expect(report.events).toBe(1)
})

test.each([
  ['with lines that end in CR LF', (text: string) => text.replaceAll('\n', '\r\n')],
  ['without its last line break', (text: string) => text.trimEnd()],
])('an export %s is whole', async (_, edit) => {
  const path = freshPath()
  await writeFile(path, edit(settings('one', 'two').exportText()))
  expect(await auditFile(path)).toMatchObject({ findings: [], events: 2 })
})

test('an export whose last line counts more events than it has is incomplete', async () => {
  const path = freshPath()
  await writeFile(path, settings('one', 'two').exportText().replace('"events":2}', '"events":3}'))
  expect((await auditFile(path)).findings.map(({ code }) => code)).toEqual(['export_incomplete'])
})

test('the lines of a payout that no given snapshot yields make its arithmetic not re-checkable', async () => {
  const planId = `payout_${'0'.repeat(32)}`
  const terms = { account: 'Liabilities:Share:provider', mint: price.mint, rule: 'pro-rata-1', excluded: [] }
  const sizes = { amountBaseUnits: '5', minimumBaseUnits: '1', openAccountsMax: 0, lines: 1, parts: 1 }
  const plan = { planId, ...terms, ...sizes, snapshotSha256: '0'.repeat(64), snapshotSlot: 1 }
  const report = await auditFile(await exported(served().append(`holders:${planId}`, ['HolderPayoutPlanned', plan])))
  expect(report.verdicts.arithmetic).toMatchObject({ status: 'not_re_checkable', findings: 0 })
  expect(exitCodeOf(report)).toBe(3)
})

test.each([
  ['of an earlier version', 'user_version = 11'],
  ['of another program', 'application_id = 1'],
])('a resume file %s is refused', async (_, pragma) => {
  const resumeFile = freshPath()
  const path = await exported(settings('one'))
  await auditFile(path, { resumeFile })
  using database = new DatabaseSync(resumeFile)
  database.exec(`pragma ${pragma}`)
  await expect(auditFile(path, { resumeFile })).rejects.toThrow('not a file of an audit')
})

test('a line without an end is not read into memory, and is reported', async () => {
  const path = freshPath()
  await writeFile(
    path,
    settings('one')
      .exportText()
      .replace('"end"', `"${' '.repeat(500_000)}`),
  )
  const { findings } = await auditFile(path)
  expect(findings.map(({ code, message }) => [code, message])).toEqual([
    ['export_incomplete', 'line 3 cannot be read'],
    ['export_incomplete', 'the last line is missing: the file was cut off'],
  ])
})

describe('an export with a resume file', () => {
  const signer = ed25519Signer(makeReceiptKey())

  function sealed(ledger: ReplayedLedger): string {
    const { size, root } = { size: ledger.replay.tree.size, root: ledger.replay.tree.root() }
    return signCheckpoint({ origin: 'tollbook/export', size, root }, signer)
  }

  test('that ends before the file does is refused, because the audit would compare nothing', async () => {
    const resumeFile = freshPath()
    await auditFile(await exported(settings('one', 'two', 'three')), { resumeFile })
    const shorter = auditFile(await exported(settings('one', 'two')), { resumeFile })
    await expect(shorter).rejects.toThrow('the export is not of the ledger that the resume file ends with')
  })

  test('is not followed by a database, whose tables no audit compared with these events', async () => {
    const resumeFile = freshPath()
    await auditFile(await exported(settings('one')), { resumeFile })
    const source = { kind: 'database', url: 'postgres://nowhere.invalid/ledger' } as const
    await expect(auditFile('', { source, resumeFile })).rejects.toThrow('the resume file is of an export')
  })

  test('has no proven integrity until one of the audits compared a checkpoint', async () => {
    const [first, second] = [settings('one'), settings('one', 'two')]
    const statuses = async (...checkpoints: readonly (string | undefined)[]) => {
      const resumeFile = freshPath()
      const reports = []
      for (const [index, ledger] of [first, second].entries())
        reports.push(await auditFile(await exported(ledger, checkpoints[index]), { resumeFile }))
      return reports.map(({ verdicts }) => verdicts.integrity.status)
    }
    expect(await statuses()).toEqual(['not_checked', 'not_checked'])
    expect(await statuses(sealed(first))).toEqual(['holds', 'holds'])
    expect(await statuses(undefined, sealed(second))).toEqual(['not_checked', 'holds'])
  })

  test('is proven as far as its checkpoints reach, and not by that of the empty tree', async () => {
    const path = await exported(settings('one', 'two'), sealed(new ReplayedLedger()))
    const integrityOf = async (...ledgers: readonly ReplayedLedger[]) => {
      const ownCheckpoints = ledgers.map((ledger) => ({ name: 'kept', note: sealed(ledger) }))
      return (await auditFile(path, { ownCheckpoints })).verdicts.integrity
    }
    expect((await integrityOf()).status).toBe('not_checked')
    const { status, notChecked } = await integrityOf(settings('one'))
    expect([status, notChecked]).toEqual([
      'holds',
      expect.arrayContaining(['the last 1 events: no checkpoint covers them']),
    ])
  })

  test('stays broken by a checkpoint of a stranger, although the next audit does not read it again', async () => {
    const resumeFile = freshPath()
    const [first, second] = [settings('one'), settings('one', 'two')]
    const { size, root } = { size: first.replay.tree.size, root: first.replay.tree.root() }
    const origin = 'tollbook/export'
    const forged = signCheckpoint({ origin, size, root }, ed25519Signer(makeReceiptKey()))
    const verifierKeys = [verifierKeyOf(origin, signer.publicKey)]
    const statuses = []
    for (const path of [await exported(first, forged), await exported(second, sealed(second))])
      statuses.push((await auditFile(path, { resumeFile, verifierKeys })).verdicts.integrity.status)
    expect(statuses).toEqual(['broken', 'broken'])
  })

  test('names a checkpoint of the auditor that covers no event after the file as not compared', async () => {
    const resumeFile = freshPath()
    const texts = ['one', 'two', 'three']
    const ledgers = texts.map((_text, index) => settings(...texts.slice(0, index + 1)))
    const own = ledgers.map((ledger, index) => ({ name: `kept ${index}`, note: sealed(ledger) }))
    for (const [index, ledger] of ledgers.slice(1).entries()) {
      const { verdicts, findings } = await auditFile(await exported(ledger), {
        resumeFile,
        ownCheckpoints: own.slice(0, 2 + index),
      })
      expect(findings).toEqual([])
      expect(verdicts.integrity.checked).toContainEqual(expect.stringContaining('2 checkpoints compared'))
      const skipped = verdicts.integrity.notChecked.filter((text) => text.includes('1 checkpoints up to position 2'))
      expect(skipped).toHaveLength(index)
    }
  })
})

describe('the command', () => {
  const unreachable: typeof globalThis.fetch = () => Promise.reject(new Error('no node'))

  async function run(
    argv: readonly string[],
    fetch = unreachable,
    known: Partial<KnownLedger> = {},
    interrupted = new AbortController().signal,
  ) {
    const written = { stdout: '', stderr: '' }
    const streamOf = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
    const code = await runAuditCommand(argv, {
      stdout: streamOf('stdout'),
      stderr: streamOf('stderr'),
      interrupted,
      findLedger: (databaseUrl = 'postgres://nowhere.invalid/ledger') => Promise.resolve({ databaseUrl, ...known }),
      fetch,
    })
    return { code, ...written }
  }

  test.each([
    ['a folder', () => [directory.path], `${directory.path} cannot be read`],
    ['a URL with a port that cannot be', () => ['--database', 'postgres://me:secret@host:99999/x'], 'the database'],
  ])('says that %s cannot be audited, and shows no password', async (_, argv, said) => {
    const { code, stderr } = await run(argv())
    expect(code).toBe(1)
    expect(stderr).toContain(said)
    expect(stderr).not.toContain('secret')
  })

  test('refuses a node whose URL has a password, before it is asked', async () => {
    const { code, stderr } = await run(['--chain', 'https://me:secret@node.example'])
    expect([code, stderr]).toEqual([2, '--chain: the URL must have no user name and no password\n'])
  })

  test('says that a compressed export has to be uncompressed', async () => {
    const path = `${freshPath()}.gz`
    await writeFile(path, gzipSync(served().exportText()))
    expect((await run([path])).stderr).toContain('its first line is not the head; uncompress it first')
  })

  test('takes all lines of the keys of a service as one option', async () => {
    const keys = [ed25519Signer(makeReceiptKey()), ed25519Signer(makeReceiptKey())].map(({ publicKey }) =>
      verifierKeyText({ name: 'tollbook/x', publicKey }),
    )
    const { stderr } = await run(['--verifier-key', `${keys.join('\n')}\n`, directory.path])
    expect(stderr).toContain(`${directory.path} cannot be read`)
  })

  test('asks the node of this machine about its wallet, and believes the given key before the one of this machine', async () => {
    const [signer, other] = [ed25519Signer(makeReceiptKey()), ed25519Signer(makeReceiptKey())]
    const ledger = served()
    const { size, root } = { size: ledger.replay.tree.size, root: ledger.replay.tree.root() }
    const [origin, rpcUrl] = ['tollbook/export', 'https://node.of.this.machine']
    const path = await exported(ledger, signCheckpoint({ origin, size, root }, signer))
    const asked = new Set<unknown>()
    const node = nodeWith(signed(77), 0)
    const fetch: typeof globalThis.fetch = (url, init) => node(url, (asked.add(url), init))
    const known = { rpcUrl, paymentWallet: wallet, origin, publicKey: other.publicKey }
    const signatures = async (...argv: readonly string[]) => {
      const { stdout } = await run([path, '--chain', '--json', ...argv], fetch, known)
      return JSON.parse(stdout).verdicts.integrity.checked.at(-1)
    }
    const key = verifierKeyText({ name: origin, publicKey: signer.publicKey })
    expect(await signatures('--verifier-key', key)).toBe('1 checkpoints compared, the signatures of 1 verified')
    expect(await signatures()).toBe('1 checkpoints compared, the signatures of 0 verified')
    expect([...asked]).toEqual([rpcUrl])
  })

  test('ends with another code when it is interrupted, and continues from its file', async () => {
    const [path, resumeFile] = [await exported(settings('one', 'two')), freshPath()]
    const interrupted = await run([path, '--resume', resumeFile], unreachable, {}, AbortSignal.abort())
    expect(interrupted).toMatchObject({ code: 130, stderr: 'interrupted after position 2\n', stdout: '' })
    const { code, stdout } = await run([path, '--resume', resumeFile])
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 events of 0 payments')])
  })

  test('counts every finding that it lists, also one about a kind that it does not know', async () => {
    const ledger = settings('one').append('news:1', ['Discovered', {}])
    const { code, stdout } = await run([await exported(ledger)])
    expect(stdout).toContain('findings, 1 of 1:')
    expect(code).toBe(3)
  })

  test('prints no control characters of a ledger, which could forge a verdict at a terminal', async () => {
    const forged = settings('one').append('news:1', ['\u001b[2J\nintegrity holds\u202e', {}])
    const { stdout } = await run([await exported(forged)])
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]|^integrity holds/mu)
  })

  test.each([
    ['--payment-wallet', wallet],
    ['--recorded-within', '5'],
  ])('refuses %s without a chain, and a number of minutes that is not whole', async (option, value) => {
    const path = await exported(settings('one'))
    expect(await run([path, option, value])).toMatchObject({ code: 2, stderr: `${option}: needs --chain\n` })
    const wrong = await run([path, '--chain', 'https://node.invalid', '--recorded-within', '1.5'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('a whole number of minutes (got 1.5)') })
  })

  const { mint } = price
  const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
  const account = associatedTokenAccount({ wallet, tokenProgram, mint })

  /** A node with one transfer to the payment wallet. */
  function nodeWith(signature: string, landedAtMs: number): typeof globalThis.fetch {
    const balance = (amount: string) => ({ accountIndex: 1, mint, owner: wallet, uiTokenAmount: { amount } })
    const blockTime = landedAtMs / 1000
    const transaction = {
      slot: 950,
      blockTime,
      transaction: {
        signatures: [signature],
        message: { header: { numRequiredSignatures: 1 }, accountKeys: [wallet, account], instructions: [] },
      },
      meta: { err: null, innerInstructions: [], preTokenBalances: [balance('1')], postTokenBalances: [balance('8')] },
    }
    const answers = new Map<string, (of: unknown) => unknown>([
      ['getAccountInfo', () => ({ value: { owner: tokenProgram } })],
      ['getSignaturesForAddress', (of) => (of === account ? [{ signature, slot: 950, err: null, blockTime }] : [])],
      ['getTransaction', (of) => (of === signature ? transaction : null)],
      ['getFirstAvailableBlock', () => 0],
      ['getSlot', () => 1_000],
    ])
    return (_, init) => {
      const { method, params } = JSON.parse(typeof init?.body === 'string' ? init.body : '{}')
      return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: answers.get(method)?.(params?.[0]) }))
    }
  }

  test.each([
    ['by default 90', [], false],
    ['80', ['--recorded-within', '80'], true],
    ['81', ['--recorded-within', '81'], false],
  ])(
    'reports a transfer of 80 minutes that the ledger lacks, if it may be %s minutes old',
    async (_, given, isFound) => {
      const ledger = served()
      const path = await exported(ledger)
      const node = nodeWith(signed(77), ledger.replay.recordedAtMs - 80 * 60_000)
      const argv = [path, '--chain', 'https://node.invalid', '--payment-wallet', wallet, '--json', ...given]
      const { stdout } = await run(argv, node)
      const { findings, verdicts } = JSON.parse(stdout)
      const missing = findings.filter(({ code }: { code: string }) => code === 'not_in_the_ledger')
      expect(missing).toHaveLength(isFound ? 1 : 0)
      expect(verdicts.completeness.notChecked.some((text: string) => text.includes('too young'))).toBe(!isFound)
    },
  )
})

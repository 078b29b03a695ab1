import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startLocalChain } from '@tollbook/localnet/localChain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { findDifferingFunctions } from '../../src/cli/differingFunctions.ts'
import { readConfig } from '../../src/config.ts'
import type { CheckFinding, CheckVerdict } from '../../src/doctor/check.ts'
import { examine } from '../../src/doctor/examine.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openPool } from '../kernel/openKernel.ts'
import { openInstance } from '../store/instance.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { provisionWallets } from '../support/provisionWallets.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

type Environment = Readonly<Record<string, string>>

let environment: Environment
let tabWallet: string
const database = await createTestDatabase()
const chain = await startLocalChain({ slotMs: 40 })
afterAll(() => chain.close())

beforeAll(async () => {
  const { mint, paymentWallet, ...wallets } = await provisionWallets(chain)
  tabWallet = wallets.tabWallet.publicKey.toBase58()
  const folder = await makeScratchDirectory()
  environment = {
    DATABASE_URL: await makeMemberLogin(database.adminUrl, 'tollbook_service', 'tollbook_retention'),
    MIGRATION_DATABASE_URL: database.ownerUrl,
    SOLANA_RPC_URLS: chain.rpcUrl,
    TOKEN_MINT: mint.publicKey.toBase58(),
    PAYMENT_WALLET: paymentWallet.publicKey.toBase58(),
    RECEIPT_SIGNING_KEY: JSON.stringify(makeReceiptKey()),
    ARTIFACT_DIR: folder,
    CHECKPOINT_FILE: join(folder, 'checkpoint'),
  }
})

async function findingsOf(changes: Environment = {}): Promise<ReadonlyMap<string, CheckFinding>> {
  const findings = new Map<string, CheckFinding>()
  const onFinding = (finding: CheckFinding) => void findings.set(finding.check, finding)
  await examine({
    config: readConfig({ ...environment, ...changes }),
    log: silentLog,
    onFinding,
    findDifferingFunctions,
  })
  return findings
}

async function verdictOf(check: string, changes: Environment = {}): Promise<readonly [CheckVerdict, string]> {
  const finding = (await findingsOf(changes)).get(check)
  if (finding === undefined) throw new Error(`there is no check ${check}`)
  return [finding.verdict, `${finding.detail} ${finding.fix ?? ''}`]
}

test('a mistyped path is found before the start: of the artifacts, the checkpoint or the signer', async () => {
  const missing = join(await makeScratchDirectory(), 'missing')
  const findings = await findingsOf({
    ARTIFACT_DIR: join(missing, 'artifacts'),
    CHECKPOINT_FILE: join(missing, 'checkpoint'),
    SIGNER_SOCKET: join(missing, 'signer.sock'),
  })
  for (const check of ['artifact folder', 'checkpoint folder', 'signer'])
    expect(findings.get(check), check).toMatchObject({ verdict: 'failed', detail: expect.stringContaining(missing) })
  expect(findings.get('signer')?.fix).toContain('tollbook signer')
})

test('a login of no group gets the name of its group, and not the advice to migrate', async () => {
  const { DATABASE_URL: _own, ...rest } = environment
  const findings = await findingsOf({ ...rest, DATABASE_URL: await makeMemberLogin(database.adminUrl) })
  const schema = findings.get('schema')
  expect([schema?.verdict, schema?.fix]).toEqual(['failed', undefined])
  expect(schema?.detail).toContain('make it a member of its group, tollbook_service')
})

test('an older database is migrated, and one that another release migrated is not', async () => {
  const admin = openPool(database.adminUrl, 1)
  const { rows } = await admin.query("delete from ledger.code where name = 'functions/seal' returning *")
  const older = (await findingsOf()).get('schema')
  await admin.query('insert into ledger.code values ($1, $2, $3)', Object.values(rows[0]))
  await admin.query("insert into migration.applied values ('0001_other', '\\x00', now())")
  const newer = (await findingsOf()).get('schema')
  await admin.query("delete from migration.applied where name = '0001_other'")
  expect(older).toMatchObject({ verdict: 'failed', fix: 'run `tollbook migrate` with MIGRATION_DATABASE_URL' })
  expect(newer).toMatchObject({ verdict: 'failed', detail: expect.stringContaining('0001_other') })
  expect(newer?.fix).toBeUndefined()
})

test('a database that refuses the login is one failure with its fix, and the checks that need it are skipped', async () => {
  const wrong = new URL(database.serviceUrl)
  wrong.password = 'wrong'
  const findings = await findingsOf({ DATABASE_URL: wrong.href })
  expect(findings.get('database')).toMatchObject({
    verdict: 'failed',
    detail: expect.stringContaining('password authentication failed'),
    fix: expect.stringContaining('DATABASE_URL'),
  })
  for (const check of ['schema', 'login', 'grants', 'durability', 'advisory locks', 'database clock', 'archive'])
    expect(findings.get(check), check).toMatchObject({ verdict: 'skipped', detail: 'the database does not answer' })
})

test('an environment of nothing is local mode, whose own parts are not checked', async () => {
  const findings: CheckFinding[] = []
  const onFinding = (finding: CheckFinding) => void findings.push(finding)
  await examine({ config: readConfig({}), log: silentLog, onFinding, findDifferingFunctions })
  expect(findings.find(({ check }) => check === 'service')).toMatchObject({
    verdict: 'skipped',
    detail: expect.stringContaining('local mode starts its own database, chain and receipt key'),
  })
})

test('a right installation has no failure, and its warnings name what is weaker than it could be', async () => {
  const findings = [...(await findingsOf()).values()]
  const checksOf = (verdict: CheckVerdict) =>
    findings.filter((finding) => finding.verdict === verdict).map(({ check }) => check)
  expect(findings.filter(({ verdict }) => verdict === 'failed')).toEqual([])
  expect(checksOf('warning')).toEqual(['standby', 'archive', 'nodes'])
  expect(checksOf('ok')).toEqual(
    expect.arrayContaining(['schema', 'login', 'grants', 'append-only triggers', 'durability', 'advisory locks']),
  )
})

test('a login that owns the tables fails', async () => {
  const [verdict, text] = await verdictOf('login', { DATABASE_URL: database.ownerUrl })
  expect([verdict, text]).toEqual(['failed', expect.stringContaining('owns tables')])
})

test('a login that may not drop old quotes is a warning', async () => {
  const [verdict, text] = await verdictOf('login', { DATABASE_URL: database.serviceUrl })
  expect([verdict, text]).toEqual(['warning', expect.stringContaining('grant tollbook_retention to')])
})

test('a login that may change a table directly fails, by the name of the table', async () => {
  const admin = openPool(database.adminUrl, 1)
  await admin.query('grant update on ledger.events to tollbook_service')
  const [verdict, text] = await verdictOf('grants')
  await admin.query('revoke update on ledger.events from tollbook_service')
  expect([verdict, text]).toEqual(['failed', expect.stringContaining('ledger.events directly')])
})

test('a table without its triggers fails, and so does an engine on which they do not fire', async () => {
  const admin = openPool(database.adminUrl, 1)
  await admin.query('alter table ledger.settings disable trigger all')
  const [verdict, text] = await verdictOf('append-only triggers')
  // Enabled by name as the migrations do, but not refusing anything.
  await admin.query('alter table ledger.settings enable always trigger log_is_never_emptied')
  const silent = await verdictOf('append-only triggers')
  for (const trigger of ['log_never_changes', 'log_is_written_by_functions'])
    await admin.query(`alter table ledger.settings enable always trigger ${trigger}`)
  expect([verdict, text]).toEqual(['failed', expect.stringContaining('ledger.settings can be changed')])
  expect(silent).toEqual(['failed', expect.stringContaining('was not refused a deletion')])
  const others = ['ledger.checkpoints', 'ledger.lost_history', 'ledger.sent_notes', 'ledger.tiles']
  for (const table of others) await admin.query(`alter table ${table} disable trigger all`)
  const [, ofOthers] = await verdictOf('append-only triggers')
  const { rows } = await admin.query<{ enable: string }>(
    `select format('alter table %s enable always trigger %I', tgrelid::regclass, tgname) as enable
    from pg_trigger where tgrelid = any($1::regclass[]) and not tgisinternal`,
    [others],
  )
  for (const { enable } of rows) await admin.query(enable)
  expect(ofOthers).toContain(`${others.join(', ')} can be changed`)
  expect((await verdictOf('append-only triggers'))[0]).toBe('ok')
})

test('a database that cannot be reached fails, and the chain is still checked', async () => {
  const findings = await findingsOf({ DATABASE_URL: 'postgres://api:secret@127.0.0.1:1/none' })
  expect(findings.get('database')).toMatchObject({ verdict: 'failed', detail: expect.stringContaining('ECONNREFUSED') })
  expect(JSON.stringify([...findings.values()])).not.toContain('secret')
  expect(findings.get('mint and payment wallet')?.verdict).toBe('ok')
})

test('the wallet for tabs needs a token account, and limits that fit each other', async () => {
  expect((await verdictOf('tabs'))[0]).toBe('skipped')
  const without = await verdictOf('tabs', { TAB_WALLET: environment['TOKEN_MINT'] ?? '' })
  expect(without).toEqual(['failed', expect.stringMatching(/has no token account of \w+ open it with any wallet/)])
  expect((await verdictOf('tabs', { TAB_WALLET: tabWallet }))[0]).toBe('ok')
  const narrow = await verdictOf('tabs', { TAB_WALLET: tabWallet, TABS_TOTAL_MAX_USD: '5' })
  expect(narrow).toEqual(['warning', expect.stringContaining('raise TABS_TOTAL_MAX_USD')])
  const wide = await verdictOf('tabs', { TAB_WALLET: tabWallet, TAB_BEARER_DAY_USD: '50' })
  expect(wide).toEqual(['warning', expect.stringContaining('lower TAB_BEARER_DAY_USD')])
})

test('a chain that cannot be opened fails once, with the variables to correct', async () => {
  const findings = await findingsOf({ SOLANA_RPC_URLS: 'http://127.0.0.1:1', TAB_WALLET: tabWallet })
  expect(findings.get('mint and payment wallet')).toMatchObject({
    verdict: 'failed',
    fix: 'correct SOLANA_RPC_URLS, TOKEN_MINT, PAYMENT_WALLET or CURRENCIES',
  })
  for (const check of ['dollars', 'nodes', 'chain clock', 'settings on record', 'tabs'])
    expect(findings.get(check), check).toMatchObject({ verdict: 'skipped', detail: 'the chain cannot be opened' })
})

test('a mint that does not exist fails', async () => {
  const [verdict, text] = await verdictOf('mint and payment wallet', {
    TOKEN_MINT: environment['PAYMENT_WALLET'] ?? '',
  })
  expect([verdict, text]).toEqual(['failed', expect.stringContaining('TOKEN_MINT')])
})

test('a receipt key that differs from the ledger fails with the command to run', async () => {
  const ledger = await openInstance(database.serviceUrl)
  const { kty, crv, x } = makeReceiptKey()
  await ledger.settings.record([{ name: 'receipt-key', value: { kty, crv, x } }])
  const [verdict, text] = await verdictOf('settings on record')
  expect([verdict, text]).toEqual(['failed', expect.stringContaining('tollbook key rotate')])
})

test('a checkpoint of a longer ledger fails', async () => {
  const file = join(await makeScratchDirectory(), 'checkpoint')
  await writeFile(file, `tollbook/x\n9000\n${Buffer.alloc(32, 1).toString('base64')}\n\n— tollbook/x AAAAAAAA\n`)
  const [verdict, text] = await verdictOf('checkpoint', { CHECKPOINT_FILE: file })
  expect([verdict, text]).toEqual(['failed', expect.stringMatching(/ends at event|is not a checkpoint/)])
})

test('a folder that cannot be written and a missing checkpoint file are named', async () => {
  expect((await verdictOf('artifact folder', { ARTIFACT_DIR: '/dev/null/artifacts' }))[0]).toBe('failed')
  expect((await verdictOf('checkpoint folder', { CHECKPOINT_FILE: '' }))[0]).toBe('warning')
  const file = await verdictOf('products file', { PRODUCTS_FILE: '/nowhere.yaml' })
  expect(file).toEqual(['failed', expect.stringContaining('PRODUCTS_FILE cannot be read')])
})

async function localFindings(changes: Environment): Promise<ReadonlyMap<string, CheckFinding>> {
  const findings = new Map<string, CheckFinding>()
  const onFinding = (finding: CheckFinding) => void findings.set(finding.check, finding)
  await examine({ config: readConfig({ PORT: '0', ...changes }), log: silentLog, onFinding, findDifferingFunctions })
  return findings
}

test('local mode is checked for what its start needs: its home and its ports', async () => {
  const home = join(await makeScratchDirectory(), 'one', 'two')
  const fit = await localFindings({ TOLLBOOK_HOME: home })
  expect(fit.get('home folder')).toMatchObject({ verdict: 'ok', detail: expect.stringContaining(home) })
  expect(fit.get('ports')?.verdict).toBe('ok')
  const unfit = await localFindings({ TOLLBOOK_HOME: '/dev/null/home', PORT: new URL(chain.rpcUrl).port })
  expect(unfit.get('home folder')?.verdict).toBe('failed')
  expect(unfit.get('ports')).toMatchObject({ verdict: 'warning', detail: expect.stringContaining('is in use') })
})

test('a function that a superuser has replaced fails', async () => {
  expect((await verdictOf('functions'))[0]).toBe('ok')
  const admin = openPool(database.adminUrl, 1)
  await admin.query('alter function ledger.probe_commit set search_path = public')
  expect(await verdictOf('functions')).toEqual([
    'failed',
    expect.stringMatching(/ledger\.probe_commit\(.*tollbook migrate/),
  ])
})

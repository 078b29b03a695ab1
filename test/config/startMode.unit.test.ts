import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environmentNames, isServiceConfig, readConfig, type StartMode } from '../../src/config.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'

const address = '11111111111111111111111111111111'
const complete = {
  DATABASE_URL: 'postgres://api:pw@db/tollbook',
  SOLANA_RPC_URLS: 'https://node.example.com/',
  TOKEN_MINT: address,
  PAYMENT_WALLET: address,
  RECEIPT_SIGNING_KEY: JSON.stringify(makeReceiptKey()),
}
type Env = Readonly<Record<string, string>>

function refusalOf(env: Env, start: StartMode): string {
  try {
    readConfig(env, { start })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  throw new Error('it starts')
}

const folder = mkdtempSync(join(tmpdir(), 'tollbook-start-'))
const emptyFile = join(folder, 'empty')
writeFileSync(emptyFile, '\n')

describe('with the settings of an operator, a database that is not given under its name never becomes local mode', () => {
  const { DATABASE_URL: url, ...others } = complete
  const spellings: readonly Env[] = [
    {},
    { DATABASE_URL: '' },
    { DATABASE_URL: ' ' },
    { DATABASE_URL: 'db/tollbook' },
    { DATABSE_URL: url },
    { DATABASE_URI: url },
    { DATABASEURL: url },
    { DATABASE_URL_: url },
    { database_url: url },
    { DB_URL: url },
    { TOLLBOOK_DATABASE_URL: url },
    { DATABASE_URL_FILE: '' },
    { DATABASE_URL_FILE: emptyFile },
    { DATABASE_URL_FILE: join(folder, 'none') },
    { DATABASE_URL_FIEL: emptyFile },
    { MIGRATION_DATABASE_URL: url },
    { REPORTS_DATABASE_URL: url },
  ]
  for (const start of ['operated', 'local', 'unless-operated'] as const)
    test.each(spellings)(`%j, ${start}`, (spelling) => {
      const refusal = refusalOf({ ...others, ...spelling }, start)
      expect(refusal).toContain(start === 'local' ? 'local mode takes no variables of an operator' : 'DATABASE_URL')
      expect(refusal, 'no secret is shown').not.toContain(others.RECEIPT_SIGNING_KEY)
    })
})

/** One setting of an operator in the environment of a newcomer. */
const single: readonly Env[] = [
  ...Object.entries(complete).map(([name, value]) => ({ [name]: value })),
  { RECEIPT_SIGNING_KEY_FILE: join(folder, 'none') },
  { SOLANA_RPC_URLS: 'http://127.0.0.1:8899', TOKEN_MINT: address, PAYMENT_WALLET: address },
  { PUBLIC_URL: 'https://api.example.com' },
  { CHECKPOINT_FILE: '/var/lib/tollbook/checkpoint' },
  { CHECKPOINT_FILE_FILE: '/run/secrets/checkpoint' },
  { LEDGER_ORIGIN: 'example.com/ledger' },
  { HOST: '0.0.0.0' },
  { HOST: '::' },
  { HOST: '10.1.2.3' },
  { HOST: 'api.example.com' },
  { HOST: '127.0.0.1.example.com' },
  { HEALTH_HOST: '0.0.0.0' },
  { FINANCE_HOST: '10.1.2.3' },
  { FINANCE_PORT: '3403', FINANCE_ISSUER: 'i', FINANCE_JWKS_URL: 'https://i/jwks' },
  { TRUSTED_PROXY_HOPS: '1' },
  { REQUIRE_SYNCHRONOUS_STANDBY: '1' },
  { SIGNER_SOCKET: '/run/signer.sock' },
  { ARTIFACT_S3_BUCKET: 'b', ARTIFACT_S3_ACCESS_KEY_ID: 'k', ARTIFACT_S3_SECRET_ACCESS_KEY: 's' },
  ...environmentNames
    .filter((name) => name.endsWith('DATABASE_URL'))
    .map((name) => ({ [name]: complete.DATABASE_URL })),
  { DATABSE_URL: complete.DATABASE_URL },
  { CHECKPOINT_FIL: '/var/lib/tollbook/checkpoint' },
]

test.each(single)('%j alone refuses local mode, and the message names it', (env) => {
  for (const start of ['local', 'unless-operated'] as const)
    for (const name of Object.keys(env)) expect(refusalOf(env, start)).toContain(name.replace(/_FILE$/, ''))
})

test('the message names every setting that is missing and every one that is set', () => {
  const { DATABASE_URL: _, TOKEN_MINT: __, ...rest } = complete
  expect(
    refusalOf({ ...rest, PUBLIC_URL: 'https://api.example.com', HOST: '::' }, 'unless-operated').split('\n'),
  ).toEqual([
    'the configuration has 2 mistakes:',
    "  DATABASE_URL is missing: the login of the service on the ledger's database",
    '  TOKEN_MINT is missing: the mint of the service token on the chain of SOLANA_RPC_URLS',
    '  local mode has a separate ledger and does not start with variables of an operator: set what is missing, or remove SOLANA_RPC_URLS, PAYMENT_WALLET, RECEIPT_SIGNING_KEY, PUBLIC_URL, HOST',
  ])
})

const newcomer = { HOME: '/root', TOLLBOOK_HOME: '/tmp/home', PORT: '0', HOST: '127.0.0.1' }

test('local mode starts by name when nothing of an operator is set, with its settings and those of the products', () => {
  const env = {
    ...newcomer,
    AI_BASE_URL: 'http://ai/v1',
    AI_MODEL: 'm',
    PRICES_USD: '/api/tools/pdf=0.1',
    HEALTH_HOST: '::1',
  }
  for (const start of ['local', 'unless-operated'] as const)
    expect(isServiceConfig(readConfig(env, { start }))).toBe(false)
})

test('without its name nothing becomes local mode, even when nothing is set', () => {
  expect(refusalOf(newcomer, 'operated')).toContain('`tollbook serve --local`')
  expect(refusalOf({}, 'operated')).toContain('DATABASE_URL is missing')
})

test('a complete configuration starts in either way', () => {
  for (const start of ['operated', 'unless-operated'] as const)
    expect(isServiceConfig(readConfig({ ...complete, HOST: '0.0.0.0' }, { start }))).toBe(true)
})

test('commands that start no service need no receipt key', () => {
  const { RECEIPT_SIGNING_KEY: _, ...rest } = complete
  expect(readConfig({ ...rest, FINANCE_DATABASE_URL: complete.DATABASE_URL }).receiptSigningKey).toBeUndefined()
  expect(refusalOf(rest, 'operated')).toContain('RECEIPT_SIGNING_KEY is missing')
})

test('commands that start no service read a part of the settings', () => {
  expect(isServiceConfig(readConfig({ PAYOUT_DATABASE_URL: complete.DATABASE_URL }))).toBe(false)
})

import { join, resolve } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { verifierKeyText } from '@tollbook/core/checkpoint'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { readDrillOrder, readVerifierKeys } from '../../src/cli/drillOrder.ts'
import { readConfig } from '../../src/config.ts'
import { receiptKeyBytes } from '../../src/settings/receiptKeys.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const folder = await makeScratchDirectory()
const stored = join(folder, 'checkpoint')
await writeFile(stored, '')
const flags = { stanza: 'tollbook', scratch: 'scratch', superuser: 'postgres', checkpoint: [] }
const address = '11111111111111111111111111111111'
const chain = { SOLANA_RPC_URLS: 'http://127.0.0.1:1', TOKEN_MINT: address, PAYMENT_WALLET: address }

test('a drill takes what has no flag from the configuration of the service', async () => {
  const config = readConfig({
    DATABASE_URL: 'postgres://api:pw@db/till%20one?sslmode=disable',
    CHECKPOINT_FILE: join(folder, 'not yet'),
  })
  expect(await readDrillOrder(flags, config)).toEqual({
    targetMs: undefined,
    receivedWal: undefined,
    programs: undefined,
    scratchFolder: resolve('scratch'),
    superuser: 'postgres',
    database: 'till one',
    checkpointFiles: [join(folder, 'not yet')],
  })
  const given = { checkpoint: [stored, stored], database: 'other', receivedWal: 'wal', programs: '/bin' }
  const targetTime = '2026-11-26T15:00:00+01:00'
  expect(await readDrillOrder({ ...flags, ...given, targetTime }, config)).toMatchObject({
    targetMs: Date.UTC(2026, 10, 26, 14),
    receivedWal: resolve('wal'),
    programs: '/bin',
    database: 'other',
    checkpointFiles: [stored, stored],
  })
  expect(await readDrillOrder(flags, readConfig({}))).toMatchObject({ database: 'tollbook', checkpointFiles: [] })
})

test('a mistyped checkpoint is refused, because a drill without one would be sound', async () => {
  const order = readDrillOrder({ ...flags, checkpoint: [stored, join(folder, 'chekpoint')] }, readConfig({}))
  await expect(order).rejects.toThrow(`--checkpoint: the file ${join(folder, 'chekpoint')} cannot be read`)
})

test.each(['2026-11-26', '2026-11-26T14:00:00', 'yesterday'])(
  'the time %s has no zone, and is refused',
  async (time) => {
    await expect(readDrillOrder({ ...flags, targetTime: time }, readConfig({}))).rejects.toThrow(
      `--target-time: must be a time with its zone, such as 2026-11-26T14:00:00Z (got ${time})`,
    )
  },
)

test('the audit of a drill checks signatures with the key of the service, under the name of its log', () => {
  const key = makeReceiptKey()
  const keyOf = (name: string) => verifierKeyText({ name, publicKey: receiptKeyBytes(key) })
  const config = (env: Readonly<Record<string, string>>) =>
    readConfig({ ...env, RECEIPT_SIGNING_KEY: JSON.stringify(key) })
  const given = (verifierKey: string) => readVerifierKeys({ verifierKey }, readConfig({}))
  expect(readVerifierKeys({}, config(chain))).toEqual(given(keyOf(`tollbook/${address}`)))
  expect(readVerifierKeys({}, config({ ...chain, LEDGER_ORIGIN: 'till.example' }))).toEqual(
    given(keyOf('till.example')),
  )
  expect(readVerifierKeys({}, config({}))).toEqual([])
  expect(() => given('till.example')).toThrow('--verifier-key: must be name+id+key, as GET /api/ledger/key names it')
})

import { execFile } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readLocalJson } from '../../src/cli/localJson.ts'
import { readConfig } from '../../src/config.ts'
import { startLocalChain } from '@tollbook/localnet/localChain'
import { provisionService } from '../../src/cli/local/provisionService.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'

const program = fileURLToPath(new URL('../../src/cli/tollbook.js', import.meta.url))

async function openPlace() {
  const directory = await makeTemporaryDirectory()
  afterFile(directory.remove)
  return { home: join(directory.path, 'home'), envFile: join(directory.path, 'service.env') }
}

test('writes settings that the service starts with, keeps the wallets to itself, and changes nothing a second time', async () => {
  const chain = await startLocalChain({ slotMs: 20 })
  afterFile(() => chain.close())
  const { home, envFile } = await openPlace()
  const order = { home, envFile, rpcUrl: chain.rpcUrl, baseUrl: 'http://127.0.0.1:3402' }
  await provisionService(order)
  const settings = parseEnv(await readFile(envFile, 'utf8'))
  expect(new Set(Object.keys(settings))).toEqual(
    new Set(['SOLANA_RPC_URLS', 'TOKEN_MINT', 'PAYMENT_WALLET', 'TAB_WALLET', 'RECEIPT_SIGNING_KEY']),
  )
  const config = readConfig({ ...settings, DATABASE_URL: 'postgres://api@postgres/tollbook' })
  const local = await readLocalJson(join(home, 'local.json'))
  expect(config.chain).toMatchObject({
    rpcUrls: [chain.rpcUrl],
    tokenMint: local?.tokenMint,
    paymentWallet: local?.paymentWallet,
    commitment: 'confirmed',
  })
  expect(config.receiptSigningKey).toMatchObject(Object(local?.receiptKey))
  expect(local?.receiptKey).not.toHaveProperty('d')
  expect((await stat(envFile)).mode & 0o077).toBe(0)

  await provisionService(order)
  expect(parseEnv(await readFile(envFile, 'utf8'))).toEqual(settings)
})

test.each(['an earlier', 'no'])(
  'with a chain of the operator and %s file, no key of the demonstration is left',
  async (file) => {
    const { home, envFile } = await openPlace()
    if (file !== 'no') await writeFile(envFile, 'RECEIPT_SIGNING_KEY=of-the-demonstration\n')
    const address = '11111111111111111111111111111111'
    const own = { SOLANA_RPC_URLS: 'https://rpc.example.com', TOKEN_MINT: address, PAYMENT_WALLET: address }
    // As a process, because Node takes some options for its own wherever they stand.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        program,
        'provision',
        '--rpc-url=http://127.0.0.1:9',
        '--base-url=http://127.0.0.1:3402',
        `--variables-file=${envFile}`,
      ],
      { env: { TOLLBOOK_HOME: home, ...own } },
    )
    expect(stdout).toContain('nothing to provision')
    await expect(readFile(envFile)).rejects.toThrow('ENOENT')
  },
)

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { beforeAll, expect, test } from 'vitest'
import { runPayCommand } from '@tollbook/client/command/payCommand'
import { payCommand } from '../../src/cli/pay.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'

let service: TestService
let scratch: string
let wallet: string

beforeAll(async () => {
  service = await openTestService({ sellsTabs: true })
  scratch = await makeScratchDirectory()
  wallet = await keypairFile('wallet', service.demoWallet)
})

async function keypairFile(name: string, { secretKey }: Keypair): Promise<string> {
  const path = join(scratch, `${name}.json`)
  await writeFile(path, JSON.stringify([...secretKey]))
  return path
}

async function tab(action: string, options: Readonly<Record<string, string>> = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const given = {
    folder: join(scratch, 'payments'),
    wallet,
    'base-url': service.baseUrl,
    'rpc-url': service.chain.rpcUrl,
    ...options,
  }
  const words = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
  const code = await runPayCommand(['tab', action, ...words], {
    name: 'tollbook-pay',
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    interrupted: new AbortController().signal,
    paymentFolder: scratch,
    readLocal: () => Promise.resolve(undefined),
  })
  return { code, out: out.join(''), err: err.join('') }
}

test('a tab is opened once and closed once, and the command says where the rest goes', async () => {
  const opened = await tab('open')
  expect(opened).toMatchObject({ code: 0, out: expect.stringContaining('"state":"open"') })
  expect(await tab('open')).toMatchObject({ out: opened.out })
  const { payer } = service
  const sent = `the rest is owed to ${payer.address}; the next payout of the service sends it\n`
  expect(await tab('close')).toMatchObject({ code: 0, err: sent })
  expect(await tab('close')).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      new RegExp(`has no open tab of the wallet ${payer.address} at .*; open one, or give the --folder, --wallet and`),
    ),
  })
})

test('a wallet without money and another wallet read what is missing', async () => {
  const poor = Keypair.generate()
  const other = { wallet: await keypairFile('poor', poor) }
  expect((await tab('open', other)).err).toMatch(/you have 0 of 1000 .*nothing was signed/)
  expect((await tab('status', other)).err).toContain(`no open tab of the wallet ${poor.publicKey.toBase58()}`)
})

test('an unknown tab, a damaged record and a folder that is a file name the way out', async () => {
  const folder = join(scratch, 'damaged')
  await tab('open', { folder })
  const name = (await readdir(folder)).find((each) => each.startsWith('tab-')) ?? ''
  const record = await readFile(join(folder, name), 'utf8')
  const other = record.replace(/"tab":"\w+"/, '"tab":"4uQeVj5tqViQh7yWWGStvk"')
  await writeFile(join(folder, name), other)
  for (const action of ['open', 'status', 'close'])
    expect((await tab(action, { folder })).err).toMatch(
      /does not know the tab 4uQe.*Give its URL, or use another store/,
    )
  await writeFile(join(folder, name), 'damaged')
  expect((await tab('status', { folder })).err).toMatch(`the record ${name.replace('.json', '')} of a tab is damaged`)
  expect(await tab('status', { folder: wallet })).toMatchObject({
    code: 2,
    err: expect.stringContaining(`${wallet} cannot be read as a folder`),
  })
})

test('`pay tab --help` shows the options of tabs only', async () => {
  const written: string[] = []
  const command = payCommand({
    stdout: { write: () => undefined },
    stderr: { write: () => undefined },
    home: () => scratch,
    setExitCode: () => undefined,
    interrupted: new AbortController().signal,
  })
  command.exitOverride().configureOutput({ writeOut: (text) => written.push(text) })
  await command.parseAsync(['tab', '--help'], { from: 'user' }).catch(() => undefined)
  expect(written.join('')).toMatch(/^Usage: tollbook pay tab <open\|status\|close>/)
  expect(written.join('')).not.toContain('--max-usd')
})

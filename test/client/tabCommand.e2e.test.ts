import { systemClock } from '@tollbook/core/clock'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { runPayCommand } from '@tollbook/client/command/payCommand'
import { payCommand } from '../../src/cli/pay.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const tabState = z.object({ balanceBaseUnits: z.string() })
const receiptShape = z.object({ receipt: z.object({ signature: z.string() }) })
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

const tab = (action: string, options: Readonly<Record<string, string>> = {}) => pay(['tab', action], options)

async function pay(words: readonly string[], options: Readonly<Record<string, string>> = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const given = {
    folder: join(scratch, 'payments'),
    wallet,
    'base-url': service.baseUrl,
    'rpc-url': service.chain.rpcUrl,
    mint: service.mint,
    ...options,
  }
  const asOptions = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
  const code = await runPayCommand([...words, ...asOptions], {
    name: 'tollbook-pay',
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    interrupted: new AbortController().signal,
    clock: systemClock,
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

const qrCode = ['POST', '/api/tools/qrcode', '--json', '{"data":"hello"}']

test('`pay` spends the tab of its folder, tops up nothing, and opens none', async () => {
  const folder = join(scratch, 'spent')
  const { out } = await tab('open', { folder })
  const opened = tabState.parse(JSON.parse(out))
  const paid = async (options: Readonly<Record<string, string>>) => {
    const bought = await pay(qrCode, options)
    expect(bought).toMatchObject({ code: 0, err: '' })
    return receiptShape.parse(JSON.parse(bought.out)).receipt.signature
  }
  const first = await paid({ folder })
  expect(await paid({ folder })).toBe(first)
  const { balanceBaseUnits } = tabState.parse(JSON.parse((await tab('status', { folder })).out))
  expect(BigInt(opened.balanceBaseUnits) - BigInt(balanceBaseUnits)).toBe(2n * 5_000_000n)
  expect(await pay(qrCode, { folder, 'max-usd': '0.001' })).toMatchObject({ code: 3 })
  // Without a tab each request is paid by itself.
  const other = join(scratch, 'other')
  expect(await paid({ folder: other })).not.toBe(first)
  expect((await tab('status', { folder: other })).code).toBe(2)
  await tab('close', { folder })
  expect(await paid({ folder })).not.toBe(first)
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
    clock: systemClock,
  })
  command.exitOverride().configureOutput({ writeOut: (text) => written.push(text) })
  await command.parseAsync(['tab', '--help'], { from: 'user' }).catch(() => undefined)
  expect(written.join('')).toMatch(/^Usage: tollbook pay tab <open\|status\|close>/)
  expect(written.join('')).not.toContain('--max-usd')
})

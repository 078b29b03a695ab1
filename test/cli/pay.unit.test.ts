import { tmpdir } from 'node:os'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { payCommand } from '../../src/cli/pay.ts'
import { readPresentedProof } from '../client/support/presentedProof.ts'
import type { Step } from '../client/support/scriptedService.ts'
import { makeQuote, mint } from '../client/support/testToken.ts'
import { openLocalService } from './support/localService.ts'
import { openTerminal } from './support/terminal.ts'

const crypto = '/api/data/crypto?symbol=BTC'
const token = mint.toBase58()
const refusal = (status: number, code: string, more: object = {}): Step => {
  return { status, body: { error: 'it is refused', code, ...more } }
}

test('a program gets one JSON object with the data, the receipt and what checking it found', async () => {
  const { terminal, service, wallet } = await openLocalService()
  const { exitCode, stdout, stderr } = await terminal.run(payCommand, 'GET', crypto)
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({
    status: 200,
    data: { ok: crypto },
    receipt: { wallet: wallet.publicKey.toBase58(), endpoint: '/api/data/crypto' },
    meta: { source: 'test' },
    receiptCheck: 'verified',
    replayed: false,
  })
  expect(service.presented[0]?.headers['x-wallet-address']).toBe(wallet.publicKey.toBase58())
  const proof = readPresentedProof(String(service.presented[0]?.headers['x-payment-proof']))
  expect(proof.secret, 'by default no other caller can present it').toBeDefined()
})

test('a person gets the data, what it cost, and that the receipt was verified', async () => {
  const { terminal } = await openLocalService({ isTTY: true })
  const { exitCode, stdout, stderr } = await terminal.run(payCommand, 'GET', crypto)
  expect(exitCode).toBe(0)
  expect(stdout).toContain(`"ok": "${crypto}"`)
  expect(stdout).toMatch(/paid +20 tokens/)
  expect(stdout).toMatch(/verified +yes, offline/)
  expect(stderr).toContain('the price is 20 tokens')
})

test('a body goes out as it was given, and so does one from a file', async () => {
  const { terminal, service } = await openLocalService()
  const file = await terminal.writeFile('body.json', '{"data": "from a file"}')
  await terminal.run(payCommand, 'post', '/api/tools/qrcode', '--json', '{"data": "x"}')
  await terminal.run(payCommand, 'POST', '/api/tools/qrcode', '--json', `@${file}`)
  expect(service.presented.map(({ method, body }) => `${method} ${body}`)).toEqual([
    'POST {"data": "x"}',
    'POST {"data": "from a file"}',
  ])
})

test.each([
  ['bound', 0],
  ['transaction', 0],
  ['signature', 1],
] as const)('--form %s presents that form and sends %i transactions by itself', async (form, sent) => {
  const { terminal, service } = await openLocalService()
  expect((await terminal.run(payCommand, 'GET', crypto, '--form', form)).exitCode).toBe(0)
  const proof = readPresentedProof(String(service.presented[0]?.headers['x-payment-proof']))
  expect([proof.secret !== undefined, proof.transaction === undefined]).toEqual([
    form === 'bound',
    form === 'signature',
  ])
  expect(service.node.sent).toHaveLength(sent)
})

test('a free endpoint costs nothing and has no receipt', async () => {
  const { terminal, service } = await openLocalService()
  const { exitCode, stdout } = await terminal.run(payCommand, 'GET', '/api/health')
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ status: 200, receipt: null, receiptCheck: 'no_receipt' })
  expect(service.presented).toHaveLength(0)
})

test('an answer can be written to a file', async () => {
  const { terminal } = await openLocalService()
  const file = join(terminal.home, 'answer.json')
  const { stdout } = await terminal.run(payCommand, 'GET', crypto, '--output', file)
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ success: true, data: { ok: crypto } })
  expect(JSON.parse(stdout)).toMatchObject({ output: file, receiptCheck: 'verified' })
})

test('a payment stays stored when its answer cannot be written', async () => {
  const { terminal, service } = await openLocalService()
  const output = join(terminal.home, 'answer.json')
  const sign = service.receipt
  service.receipt = async (proof, endpoint) => {
    await mkdir(output)
    return sign(proof, endpoint)
  }
  const { exitCode, stderr } = await terminal.run(payCommand, 'GET', crypto, '--output', output)
  expect([exitCode, stderr]).toEqual([5, expect.stringContaining('cannot be written: EISDIR')])
  expect(await terminal.files('payments')).toHaveLength(1)
})

test('a price above --max-usd ends with 3, says both numbers and signs nothing', async () => {
  const { terminal, service } = await openLocalService({ isTTY: true })
  service.quote = (endpoint) => makeQuote({ endpoint, priceUSD: 0.08, nowMs: Date.now() })
  const { exitCode, stdout, stderr } = await terminal.run(payCommand, 'GET', crypto, '--max-usd', '0.05')
  expect([exitCode, stdout]).toEqual([3, ''])
  expect(stderr).toContain('asks 0.08 USD, and the spending limit leaves 0.05 USD')
  expect(stderr).toContain('--max-usd 0.08')
  expect(service.presented).toHaveLength(0)
})

test('--usd-per-token counts a token at that price if the service says less', async () => {
  const { terminal, service } = await openLocalService()
  const pay = (worth: string) => terminal.run(payCommand, 'GET', crypto, '--max-usd', '0.05', '--usd-per-token', worth)
  expect((await pay('0.01')).exitCode).toBe(3)
  expect(service.presented).toHaveLength(0)
  expect((await pay('0.0001')).exitCode).toBe(0)
})

const endings: [string, Step[], number, string][] = [
  ['an outcome that stays open', Array.from({ length: 10 }, () => 'reset' as const), 5, 'PaymentUnresolved'],
  ['a request that has no data', [refusal(404, 'NO_DATA')], 6, 'PaymentUnspent'],
  ['a source that fails', Array.from({ length: 10 }, () => refusal(502, 'UPSTREAM_FAILED')), 7, 'PaymentUnspent'],
]

test.each(endings)(
  '%s ends with its own code, and the payment is kept and can be resumed',
  async (_name, script, code, name) => {
    const { terminal, service } = await openLocalService()
    service.script = [...script]
    const { exitCode, stdout } = await terminal.run(payCommand, 'GET', crypto)
    expect(exitCode).toBe(code)
    const report = JSON.parse(stdout)
    const proof = service.presented[0]?.headers['x-payment-proof']
    expect(report).toMatchObject({ exitCode: code, name, payment: { proof, request: { method: 'GET' } } })
    expect(await terminal.files('payments')).toEqual([`${report.payment.signature}.json`])

    service.script = []
    const resumed = await terminal.run(payCommand, '--resume', report.storedIn)
    expect(resumed.exitCode).toBe(0)
    expect(JSON.parse(resumed.stdout)).toMatchObject({ data: { ok: crypto }, receiptCheck: 'verified' })
    expect(new Set(service.presented.map(({ headers }) => headers['x-payment-proof'])).size).toBe(1)
    expect(service.unpaid).toHaveLength(1)
    expect(await terminal.files('payments')).toEqual([])
  },
)

test.each<[string, Step]>([
  ['too_old', refusal(402, 'INVALID_PAYMENT', { reason: 'too_old' })],
  ['INSUFFICIENT_BALANCE', refusal(402, 'INSUFFICIENT_BALANCE')],
  ['IDEMPOTENCY_KEY_REUSED', refusal(422, 'IDEMPOTENCY_KEY_REUSED')],
])(
  'a payment that is refused for good (%s) ends with 4, without a file and without a way to resume it',
  async (_, step) => {
    for (const isTTY of [false, true]) {
      const { terminal, service } = await openLocalService({ isTTY })
      service.script = [step]
      const { exitCode, stdout, stderr } = await terminal.run(payCommand, 'GET', crypto)
      expect([exitCode, await terminal.files('payments')]).toEqual([4, []])
      expect(stdout + stderr).not.toMatch(/resume|storedIn|proof: /)
      expect(stderr).toMatch(/look up [1-9A-Za-z]{64,} on chain/)
      if (!isTTY)
        expect(JSON.parse(stdout)).toMatchObject({ name: 'PaymentRefused', payment: { format: 'tollbook-payment-1' } })
    }
  },
)

test('a stored payment that is refused for good when it is resumed leaves no file either', async () => {
  const { terminal, service } = await openLocalService()
  service.script = [refusal(404, 'NO_DATA'), refusal(402, 'INVALID_PAYMENT', { reason: 'refund_due' })]
  const { storedIn } = JSON.parse((await terminal.run(payCommand, 'GET', crypto)).stdout)
  expect((await terminal.run(payCommand, '--resume', storedIn)).exitCode).toBe(4)
  expect(await terminal.files('payments')).toEqual([])
})

test('a wallet that cannot pay ends with 10, in tokens and SOL, and signs nothing', async () => {
  const { terminal, service } = await openLocalService()
  service.node.payer = { tokens: 'no account', lamports: 0 }
  const { exitCode, stdout, stderr } = await terminal.run(payCommand, 'GET', crypto)
  expect([exitCode, service.presented.length, await terminal.files('payments')]).toEqual([10, 0, []])
  expect(stderr).toContain('you have 0 of 20 tokens')
  expect(stderr).toContain('you have 0 SOL and need about 0.00001 SOL')
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'InsufficientFunds',
    code: 'INSUFFICIENT_FUNDS',
    docs: 'docs/sdk.md#insufficient_funds',
    exitCode: 10,
  })
})

test('an open outcome shows a person the proof, the key and the command to go on with', async () => {
  const { terminal, service } = await openLocalService({ isTTY: true })
  service.script = [{ status: 418, body: {} }]
  const { exitCode, stdout, stderr } = await terminal.run(payCommand, 'GET', crypto)
  expect([exitCode, stdout]).toEqual([5, ''])
  const [presented] = service.presented
  expect(stderr).toContain(`proof: ${String(presented?.headers['x-payment-proof'])}`)
  expect(stderr).toContain(`idempotency key: ${String(presented?.headers['idempotency-key'])}`)
  expect(stderr).toContain('do not pay again')
  expect(stderr).toMatch(/tollbook pay --resume \S+\.json/)
})

test('an answer that the pipe or the disk does not take can be had again', async () => {
  const { terminal } = await openLocalService()
  const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(broken) })
  const lost = await terminal.run((deps) => payCommand({ ...deps, stdout }), 'GET', crypto)
  expect([lost.exitCode, lost.stderr]).toEqual([5, expect.stringContaining('cannot be written: write EPIPE')])
  const [, path = ''] = /tollbook pay --resume (\S+\.json)/.exec(lost.stderr) ?? []
  const full = await terminal.run(payCommand, '--resume', path, '--output', '/dev/full')
  expect([full.exitCode, full.stderr]).toEqual([5, expect.stringContaining('cannot be written: ENOSPC')])
  const resumed = await terminal.run(payCommand, '--resume', path)
  expect(JSON.parse(resumed.stdout)).toMatchObject({ data: { ok: crypto }, receiptCheck: 'verified' })
  expect(await terminal.files('payments')).toEqual([])
})

test('an unspent payment buys another request of the endpoint', async () => {
  const { terminal, service } = await openLocalService()
  service.script = [refusal(404, 'NO_DATA')]
  const { stdout } = await terminal.run(payCommand, 'GET', '/api/data/weather?city=Lodnon')
  const { storedIn } = JSON.parse(stdout)
  const resumed = await terminal.run(payCommand, 'GET', '/api/data/weather?city=London', '--resume', storedIn)
  expect(JSON.parse(resumed.stdout)).toMatchObject({ data: { ok: '/api/data/weather?city=London' } })
  expect(new Set(service.presented.map(({ headers }) => headers['idempotency-key'])).size).toBe(2)
})

test('a payment is on disk, readable by its owner alone, before the service sees it', async () => {
  const { terminal, service } = await openLocalService()
  const onDisk: (readonly string[])[] = []
  const sign = service.receipt
  service.receipt = async (proof, endpoint) => {
    onDisk.push(await terminal.files('payments'))
    return sign(proof, endpoint)
  }
  await terminal.run(payCommand, 'GET', crypto)
  expect(onDisk).toEqual([[expect.stringMatching(/^[1-9A-Za-z]+\.json$/)]])
})

test('Ctrl-C after the payment has left keeps it, and before that ends with 130', async () => {
  const { terminal, service } = await openLocalService()
  service.script = ['hang']
  service.onHang = () => terminal.interrupt.abort()
  const { exitCode, stdout } = await terminal.run(payCommand, 'GET', crypto)
  expect(exitCode).toBe(5)
  expect(await terminal.files('payments')).toEqual([`${JSON.parse(stdout).payment.signature}.json`])
  expect((await terminal.run(payCommand, 'GET', crypto)).exitCode).toBe(130)
  expect(service.presented).toHaveLength(1)
})

test('a request that is refused for free ends with 6, and a service that is not available with 7', async () => {
  const { terminal, service } = await openLocalService()
  for (const [status, code] of [
    [400, 6],
    [404, 6],
    [429, 7],
    [503, 7],
  ] as const) {
    service.quote = () => ({ status, body: { error: 'no', code: 'SOME_CODE' } })
    const { exitCode, stdout, stderr } = await terminal.run(payCommand, 'GET', crypto)
    expect(exitCode).toBe(code)
    expect(JSON.parse(stdout)).toMatchObject({ status, data: { code: 'SOME_CODE' } })
    expect(stderr).toContain(`${status} SOME_CODE: no`)
  }
})

test('an offer that names another wallet than local.json ends with 8', async () => {
  const { terminal, service } = await openLocalService()
  const stranger = Keypair.generate().publicKey.toBase58()
  service.quote = (endpoint) => ({ ...makeQuote({ endpoint, nowMs: Date.now() }), tokenMint: stranger })
  const { exitCode, stderr } = await terminal.run(payCommand, 'GET', crypto)
  expect(exitCode).toBe(8)
  expect(stderr).toContain('nothing was signed')
})

test('a receipt that does not verify ends with 9, and the answer is still printed', async () => {
  const { terminal, service, receipts } = await openLocalService()
  service.receipt = async ({ signature }) => ({ ...(await receipts.sign({ signature })), burned: '1' })
  const { exitCode, stdout } = await terminal.run(payCommand, 'GET', crypto)
  expect(exitCode).toBe(9)
  expect(JSON.parse(stdout)).toMatchObject({ data: { ok: crypto }, receiptCheck: 'payload_differs' })
})

test('a receipt of an unknown service is not checked, and with --receipt-key it is', async () => {
  const { terminal, service, receipts } = await openLocalService()
  const wallet = join(terminal.home, 'keys/demo-wallet.json')
  await terminal.writeFile('local.json', '{}')
  const bare = await openTerminal()
  const options = ['--base-url', service.baseUrl, '--rpc-url', service.rpcUrl, '--wallet', wallet, '--mint', token]
  const unknown = await bare.run(payCommand, 'GET', crypto, ...options)
  expect(JSON.parse(unknown.stdout)).toMatchObject({ receiptCheck: 'not_checked' })
  const keys = await bare.writeFile('jwks.json', receipts.keys)
  const known = await bare.run(payCommand, 'GET', crypto, ...options, '--receipt-key', keys)
  expect(JSON.parse(known.stdout)).toMatchObject({ receiptCheck: 'verified' })
})

test('a service that is not there ends with 7 and says what to look at', async () => {
  const { terminal } = await openLocalService()
  // Port 1 of this machine has no listener.
  const { exitCode, stderr } = await terminal.run(
    payCommand,
    'GET',
    crypto,
    '--base-url',
    'http://127.0.0.1:1',
    '--mint',
    token,
  )
  expect(exitCode).toBe(7)
  expect(stderr).toMatch(/^the service does not answer: .*\nnothing was paid: is the service running/)
  expect(stderr).not.toContain('fetch failed')
})

const mistakes: [string, string[]][] = [
  ['METHOD PATH', []],
  ['METHOD', ['FETCH', crypto]],
  ['PATH', ['GET', 'api/data/crypto']],
  ['--json', ['GET', crypto, '--json', '{}']],
  ['--json', ['POST', '/api/tools/qrcode', '--json', '{data: 1}']],
  ['--json', ['POST', '/api/tools/qrcode', '--json', '@/nowhere/body.json']],
  ['--max-usd', ['GET', crypto, '--max-usd', '1e3']],
  ['--max-usd', ['GET', crypto, '--max-usd', '00.05']],
  ['--form', ['GET', crypto, '--form', 'cheque']],
  ['--burn-percent', ['GET', crypto, '--burn-percent', 'little']],
  ['--base-url', ['GET', crypto, '--base-url', 'http://pay.example']],
  ['--base-url', ['GET', crypto, '--base-url', 'pay.example']],
  [
    '--base-url: localhost:3402/api/data/crypto?symbol=BTC is not a URL',
    ['GET', crypto, '--base-url', 'localhost:3402'],
  ],
  ['--rpc-url', ['GET', crypto, '--rpc-url', 'node']],
  ['--rpc-url: the URL of n.example must have no user', ['GET', crypto, '--rpc-url', 'https://u:pw@n.example']],
  ['--rpc-url', ['tab', 'status', '--rpc-url', 'node']],
  ['--mint: is missing', ['GET', crypto, '--base-url', 'https://other.example']],
  ['--usd-per-token', ['GET', crypto, '--usd-per-token', '0.0']],
  ['--receipt-key', ['GET', crypto, '--receipt-key', '/nowhere/jwks.json']],
  ['--output', ['GET', crypto, '--output', '/nowhere/answer.json']],
  ['--output', ['GET', crypto, '--output', tmpdir()]],
  ['--resume', ['--resume', '/nowhere/payment.json']],
  ['keypair', ['GET', crypto, '--wallet', '/nowhere/id.json']],
  ['unknown option', ['GET', crypto, '--maxusd', '1']],
]

test.each(mistakes)(
  'a mistake in %s ends with 2, names it and asks the service for nothing (%j)',
  async (expected, words) => {
    const { terminal, service } = await openLocalService()
    const { exitCode, stderr } = await terminal.run(payCommand, ...words)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(expected)
    expect(service.unpaid).toHaveLength(0)
  },
)

test('without local mode every missing option is named', async () => {
  const bare = await openTerminal()
  const { exitCode, stderr } = await bare.run(payCommand, 'GET', crypto)
  expect(exitCode).toBe(2)
  expect(stderr).toContain('--base-url: is missing')
})

test('a damaged local.json is named, and so is a keypair file whose content never shows', async () => {
  const { terminal } = await openLocalService()
  const bad = await terminal.writeFile('bad.json', '[1,2,"sixty-four bytes of secret"]')
  const keypair = await terminal.run(payCommand, 'GET', crypto, '--wallet', bad)
  expect(keypair.stderr).toContain('is not a keypair file')
  expect(keypair.stderr + keypair.stdout).not.toContain('sixty-four')
  const path = await terminal.writeFile('local.json', '{"baseUrl": 1')
  const { exitCode, stderr } = await terminal.run(payCommand, 'GET', crypto)
  expect(exitCode).toBe(2)
  expect(stderr).toContain(path)
})

test('the help lists the exit codes', async () => {
  const bare = await openTerminal()
  const { exitCode, stdout } = await bare.run(payCommand, '--help')
  expect(exitCode).toBe(0)
  for (const code of [2, 3, 4, 5, 6, 7, 8, 9, 10, 130]) expect(stdout).toMatch(new RegExp(`^ +${code} +\\w`, 'm'))
})

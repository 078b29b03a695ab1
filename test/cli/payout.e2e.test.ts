import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { balances, onChain } from '../jobs/lifecycleFixture.ts'
import { makeDebts, openPayoutFixture, type PayoutFixture } from '../payout/payoutFixture.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { runPayoutCommand } from './payoutRunner.ts'

let environment: PayoutFixture
let folder: string

beforeAll(async () => {
  environment = await openPayoutFixture('SPL Token')
  folder = await makeScratchDirectory()
  const { fixture, destinations } = environment
  vi.stubEnv('PAYOUT_DATABASE_URL', environment.payoutUrl)
  vi.stubEnv('SOLANA_RPC_URLS', fixture.chain.nodes.map(({ rpcUrl }) => rpcUrl).join(','))
  vi.stubEnv('TOKEN_MINT', fixture.terms.mint)
  vi.stubEnv('PAYMENT_WALLET', fixture.terms.paymentWallet)
  vi.stubEnv('PAYOUT_WALLETS', `provider:${destinations.get('provider')},holders:${destinations.get('holders')}`)
  await writeFile(join(folder, 'wallet.json'), JSON.stringify([...fixture.paymentWallet.secretKey]))
  await makeDebts(environment)
})
afterAll(() => vi.unstubAllEnvs())

function run(...words: readonly string[]) {
  return runPayoutCommand(environment, folder, words)
}

/** Interrupted as soon as the command has written this text. */
function runUntil(text: string, ...words: readonly string[]) {
  const onComplaint = (written: string, interrupt: () => void) => written.includes(text) && interrupt()
  return runPayoutCommand(environment, folder, words, { onComplaint })
}

test.each([
  [
    'a plan that cannot be read',
    ['send', '/nowhere/plan.json', '--unsigned'],
    /^<plan>: the file \/nowhere\/plan.json/,
  ],
  ['a plan of holders that cannot be read', ['holders', 'end', '/nowhere/plan.json'], /^<plan>: the file/],
  [
    'a wrong wallet',
    ['plan', '--wallets', 'provider:nobody'],
    /^--wallets: has "provider:nobody": nobody is not a Solana/,
  ],
  ['a wallet without a share', ['plan', '--wallets', 'nobody'], /^--wallets: has "nobody": write share:address/],
  ['a wrong number of accounts', ['plan', '--open-accounts', 'many'], /^--open-accounts: must be a whole number/],
  ['a wrong signature', ['record', 'none', '--plan', '{plan}'], /^<signature>: none is not a signature/],
  ['a keypair that cannot be read', ['send', '{plan}', '--keypair', '/nowhere/wallet.json'], /^--keypair: .*nowhere/],
])('%s is wrong usage, and names the option', async (_name, words, complaint) => {
  const file = join(folder, 'usage.json')
  await run('plan', '--output', file)
  const { code, complaint: said } = await run(...words.map((word) => word.replace('{plan}', file)))
  expect([code, said]).toEqual([2, expect.stringMatching(complaint)])
})

test('after an interruption no part is sent again while its last transaction could still land', async () => {
  const { fixture } = environment
  const [file, wallet] = [join(folder, 'interrupted.json'), join(folder, 'wallet.json')]
  expect(await run('plan', '--output', file)).toMatchObject({ code: 0 })
  fixture.chain.failRequests({ method: 'sendTransaction', times: 1, outcome: 'disconnect' })
  const first = await runUntil('part 1: ', 'send', file, '--keypair', wallet)
  expect(first.code).toBe(130)
  const [, signature = ''] = /part 1: (\w+)/.exec(first.complaint) ?? []
  for (const again of [['send', file, '--keypair', wallet], ['send', file, '--unsigned'], ['plan']]) {
    const refused = await run(...again)
    expect(refused, again[0]).toMatchObject({ code: 7, lines: [''] })
    expect(refused.complaint).toContain(`${signature} could still land`)
  }
  fixture.chain.advanceSlots(1_000)
  expect(await run('plan')).toMatchObject({ code: 0 })
})

test('a part that landed counts as sent although the first node says that it expired', async () => {
  const { fixture, clock } = environment
  const [file, wallet] = [join(folder, 'hidden.json'), join(folder, 'wallet.json')]
  expect(await run('plan', '--output', file)).toMatchObject({ code: 0 })
  const hidden: string[] = []
  const onComplaint = (written: string) => {
    const [, signature] = /^part \d+: (\w{80,})\n/.exec(written) ?? []
    if (signature !== undefined) hidden.push(signature)
    fixture.chain.setNode(0, { newestState: true, hide: hidden })
  }
  // More slots than a transaction can land in.
  const sleep = () => Promise.resolve(fixture.chain.advanceSlots(300))
  const words = ['send', file, '--keypair', wallet]
  const sent = await runPayoutCommand({ clock: { ...clock, sleep } }, folder, words, { onComplaint })
  fixture.chain.setNode(0, { newestState: true })
  expect(sent).toMatchObject({
    code: 0,
    complaint: hidden.map((each, index) => `part ${index + 1}: ${each}\n`).join(''),
  })
  expect(sent.lines.map((line): string => JSON.parse(line).signature)).toEqual(hidden)
  for (const signature of hidden) expect(await run('record', signature, '--plan', file)).toMatchObject({ code: 0 })
  await makeDebts(environment)
})

// The treasury has no wallet in this environment.
const treasuryWaits =
  /^waits: Liabilities:Share:treasury, [\d.]+ tokens: the share has no wallet: give --wallets treasury:ADDRESS, or add it to PAYOUT_WALLETS\nnothing is owed that could be paid\n$/

test('a plan is made, sent and recorded, and what has no destination yet stays owed', async () => {
  const file = join(folder, 'plan.json')
  const wallet = join(folder, 'wallet.json')
  const debts = Object.keys(await balances(environment)).filter((account) => account.startsWith('Liabilities:'))
  const [spared = ''] = debts
  expect(await run('plan', '--except', `${spared}x`)).toMatchObject({
    code: 4,
    complaint: `nothing is owed on ${spared}x\n`,
  })
  const sparing = await run('plan', ...debts.flatMap((account) => ['--except', account]))
  expect(sparing.code).toBe(0)
  for (const account of debts)
    expect(sparing.complaint).toMatch(new RegExp(`waits: ${account}, .*left out by --except`))

  expect(await run('plan', '--output', file)).toMatchObject({ code: 0 })
  const unsigned = await run('send', file, '--unsigned')
  expect(unsigned).toMatchObject({ code: 0 })
  expect(JSON.parse(unsigned.lines[0] ?? '')).toMatchObject({
    part: 1,
    transaction: expect.stringMatching(/^[\w+/=]+$/),
  })

  const sent = await run('send', file, '--keypair', wallet)
  expect(sent.complaint).toContain('part 1: ')
  const signatures = sent.lines.map((line): string => JSON.parse(line).signature)
  expect(signatures).toHaveLength(2)
  for (const signature of signatures) {
    const refused = await run('plan', '--output', file)
    expect(refused).toMatchObject({ code: 4, complaint: expect.stringContaining(signature) })
    const recorded = await run('record', signature, '--plan', file)
    expect(recorded.code).toBe(0)
    expect(await run('record', signature, '--plan', file)).toEqual(recorded)
  }
  const after = await balances(environment)
  expect(Object.keys(after).filter((account) => account.startsWith('Liabilities:'))).toEqual([
    'Liabilities:Share:treasury',
  ])
  expect(after['Assets:PaymentWallet']).toBe(await onChain(environment))
  expect(await run('send', file, '--keypair', wallet)).toMatchObject({
    code: 0,
    complaint: expect.stringMatching(/already/),
  })
  expect(await run('plan')).toMatchObject({ code: 0, complaint: expect.stringMatching(treasuryWaits) })
})

test('a plan that was changed, another wallet, and a wrong call are refused before anything is sent', async () => {
  const { destinations } = environment
  const file = join(folder, 'second.json')
  const treasury = ['--wallets', `treasury:${destinations.get('treasury')}`]
  await run('plan', ...treasury, '--output', file)
  const changed = join(folder, 'changed.json')
  const text = await readFile(file, 'utf8')
  await writeFile(changed, text.replace(/"baseUnits": "\d+"/, '"baseUnits": "1"'))
  expect(await run('send', changed, '--unsigned')).toMatchObject({
    code: 4,
    complaint: expect.stringMatching(/changed/),
  })
  const stranger = join(folder, 'stranger.json')
  await writeFile(stranger, JSON.stringify([...environment.fixture.issuer.secretKey]))
  expect(await run('send', file, '--keypair', stranger)).toMatchObject({
    code: 2,
    complaint: expect.stringMatching(/payment wallet/),
  })
  expect(await run('send', file)).toMatchObject({ code: 2 })
  expect(await run('plan', '--min-tokens', '-1')).toMatchObject({ code: 2 })
})

test('a share is divided among the holders: snapshot, plan, pay, and an interrupted run continues', async () => {
  const [snapshot, file] = [join(folder, 'holders.txt'), join(folder, 'holders.json')]
  const read = await run('holders', 'snapshot', '--output', snapshot)
  expect(read.code).toBe(0)
  expect(JSON.parse(read.lines[0] ?? '')).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  const plan = ['holders', 'plan', '--share', 'treasury', '--snapshot', snapshot, '--output', file]
  for (const wrong of [
    ['--min-balance', '0'],
    ['--open-accounts', '-1'],
    ['--share', 'Treasury'],
    ['--snapshot', '/nowhere'],
  ])
    expect(await run(...plan, ...wrong)).toMatchObject({ code: 2, complaint: expect.stringContaining(wrong[0] ?? '') })
  const planned = await run(...plan)
  expect(planned.code).toBe(0)
  const { lines, amountBaseUnits } = JSON.parse(planned.lines[0] ?? '')
  expect(lines).toBeGreaterThan(0)
  expect(await run('send', file, '--unsigned')).toMatchObject({ code: 2 })
  const wallet = join(folder, 'wallet.json')
  const [paid, again] = [
    await run('holders', 'pay', file, '--keypair', wallet),
    await run('holders', 'pay', file, '--keypair', wallet),
  ]
  expect([paid.code, again.code]).toEqual([0, 0])
  expect(paid.complaint).toContain('1 of 1 parts are recorded')
  expect(BigInt(amountBaseUnits)).toBeGreaterThan(0n)
  const after = await balances(environment)
  expect(after['Liabilities:Share:treasury']).toBeUndefined()
  expect(after['Assets:PaymentWallet'] ?? 0n).toBe(await onChain(environment))
  expect(await run('holders', 'end', file)).toMatchObject({
    code: 4,
    complaint: expect.stringContaining('is not open'),
  })
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Connection, Keypair } from '@solana/web3.js'
import { beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { anchorCommand } from '../../src/cli/anchor.ts'
import { verifyCommand } from '../../src/cli/verify.ts'
import { witnessCommand } from '../../src/cli/witness.ts'
import { assertPresent } from '@tollbook/core/assert'
import { readCheckpoint, readVerifierKey } from '@tollbook/core/checkpoint'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { buy } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { startTestWitness } from '../support/testWitness.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { openTerminal, type Terminal } from './support/terminal.ts'

let service: TestService
let terminal: Terminal
let files: { readonly receipt: string; readonly proof: string; readonly key: string }
let position: number

/** Files of a caller after a purchase, and one download later. */
beforeAll(async () => {
  service = await openTestService()
  terminal = await openTerminal()
  const sale = await buy(service)
  ;({ position } = sale.receipt.ledger)
  const path = `${service.baseUrl}/api/ledger/inclusion/${position}`
  await awaitThat('the sale is sealed', async () => (await fetch(path)).status === 200)
  files = {
    receipt: await terminal.writeFile('answer.json', sale),
    proof: await terminal.writeFile('proof.json', await (await fetch(path)).text()),
    key: await terminal.writeFile('key.json', await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).text()),
  }
})

const verify = (...words: string[]) => terminal.run(verifyCommand, ...words)

test('a receipt with its proof verifies from files alone', async () => {
  const { exitCode, stdout, stderr } = await verify(files.receipt, '--proof', files.proof, '--key', files.key)
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({
    valid: true,
    receipt: { ledger: { position } },
    checkpoint: { origin: expect.stringMatching(/^tollbook\//) },
  })
  const alone = await verify(files.receipt, '--key', files.key)
  expect([alone.exitCode, JSON.parse(alone.stdout)]).toMatchObject([0, { valid: true }])
})

test('what does not verify is 9, and says why', async () => {
  const stranger = await terminal.writeFile('stranger.json', makeReceiptKey())
  const proof = z
    .object({ data: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(await (await fetch(`${service.baseUrl}/api/ledger/inclusion/1`)).text()))
  const ofOther = await terminal.writeFile('other.json', proof)
  for (const [problem, words] of [
    ['key_unknown', ['--proof', files.proof, '--key', stranger]],
    ['other_event', ['--proof', ofOther, '--key', files.key]],
    ['other_log', ['--proof', files.proof, '--key', files.key, '--origin', 'tollbook/other']],
    ['proof_malformed', ['--proof', files.receipt, '--key', files.key]],
  ] as const) {
    const { exitCode, stdout } = await verify(files.receipt, ...words)
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([9, { valid: false, problem }])
  }
})

test('what was not called right is 2, and names the option', async () => {
  for (const [expected, words] of [
    ['FILE', ['nowhere.json', '--key', files.key]],
    ['--proof', [files.receipt, '--key', files.key, '--proof', 'nowhere.json']],
    ['--key', [files.receipt]],
    ['--key', [files.receipt, '--key', await terminal.writeFile('bad.json', 'no json')]],
    ['missing: <file>', []],
  ] as const) {
    const { exitCode, stderr } = await verify(...words)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(expected)])
  }
})

test('a checkpoint is anchored in a public memo, with a key that is not the service’s', async () => {
  const anchorKey = Keypair.generate()
  const connection = new Connection(service.chain.rpcUrl, 'confirmed')
  await connection.requestAirdrop(anchorKey.publicKey, 1_000_000_000)
  const keypair = await terminal.writeFile('anchor.json', [...anchorKey.secretKey])
  const output = join(terminal.home, 'anchored.json')
  const places = ['--base-url', service.baseUrl, '--key', files.key, '--output', output]
  // The address of a node may hold a key, so a variable, or its file, can have it.
  vi.stubEnv('ANCHOR_RPC_URL', service.chain.rpcUrl)
  const { exitCode, stdout, stderr } = await terminal.run(anchorCommand, '--keypair', keypair, ...places)
  vi.unstubAllEnvs()
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(await readFile(output, 'utf8')).toBe(stdout)
  const anchored = z
    .object({ signature: z.string(), memo: z.string(), size: z.int(), root: z.string(), origin: z.string() })
    .parse(JSON.parse(stdout))
  const landed = await connection.getTransaction(anchored.signature, { maxSupportedTransactionVersion: 0 })
  expect(landed?.meta?.logMessages?.join('\n')).toContain(anchored.memo)
  expect(anchored.memo).toBe(`tollbook-checkpoint ${anchored.origin} ${anchored.size} ${anchored.root}`)
  const newest = readCheckpoint(await (await fetch(`${service.baseUrl}/checkpoint`)).text())
  expect(newest?.size).toBeGreaterThanOrEqual(anchored.size)
})

test('a checkpoint of another key is not anchored, and a service or node that is away is 7', async () => {
  const keypair = await terminal.writeFile('poor.json', [...Keypair.generate().secretKey])
  const stranger = await terminal.writeFile('stranger.json', makeReceiptKey())
  const at = (baseUrl: string, rpcUrl: string, key = files.key) =>
    terminal.run(anchorCommand, '--keypair', keypair, '--base-url', baseUrl, '--rpc-url', rpcUrl, '--key', key)
  const forged = await at(service.baseUrl, service.chain.rpcUrl, stranger)
  expect([forged.exitCode, forged.stderr]).toEqual([2, expect.stringContaining('not signed with the key')])
  expect((await at('http://127.0.0.1:1', service.chain.rpcUrl)).exitCode).toBe(7)
  expect((await at(service.baseUrl, 'http://127.0.0.1:1')).exitCode).toBe(7)
  const stopped = await openTerminal()
  stopped.interrupt.abort()
  const places = ['--base-url', service.baseUrl, '--rpc-url', service.chain.rpcUrl, '--key', files.key]
  const interrupted = await stopped.run(anchorCommand, '--keypair', keypair, ...places)
  expect([interrupted.exitCode, interrupted.stderr]).toEqual([7, expect.stringContaining('it may still land')])
  // This key has no SOL.
  const poor = await at(service.baseUrl, service.chain.rpcUrl)
  expect([poor.exitCode, poor.stderr]).toEqual([7, expect.stringContaining('was not anchored')])
})

test('a checkpoint is cosigned by a witness, each time with the proof that it continues the last one', async () => {
  const { baseUrl } = service
  const log = assertPresent(
    readVerifierKey((await (await fetch(`${baseUrl}/api/ledger/key`)).text()).trim()),
    'the service has a key',
  )
  await using witness = await startTestWitness(log)
  const output = join(terminal.home, 'cosigned.txt')
  const words = ['--witness-url', witness.url, '--witness-key', witness.key, '--base-url', baseUrl, '--key', files.key]
  const cosign = () => terminal.run(witnessCommand, ...words, '--output', output)
  const first = await cosign()
  expect([first.exitCode, first.stderr]).toEqual([0, ''])
  const { size } = assertPresent(witness.seen(), 'the witness has seen a tree')
  expect((await cosign()).exitCode, 'the same tree again').toBe(0)
  await buy(service)
  await awaitThat('the sale is sealed', async () => (await sizeOf(baseUrl)) > size)
  expect((await cosign()).exitCode).toBe(0)
  expect(witness.seen()?.size).toBeGreaterThan(size)
  expect(readCheckpoint(await readFile(output, 'utf8'))?.size).toBe(witness.seen()?.size)
  expect(await readFile(output, 'utf8')).toContain('— witness.example/w1 ')
  const wrong = await terminal.run(witnessCommand, ...words, '--output', output, '--witness-key', 'nonsense')
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('--witness-key')])
})

async function sizeOf(baseUrl: string): Promise<number> {
  return readCheckpoint(await (await fetch(`${baseUrl}/api/ledger/checkpoint`)).text())?.size ?? 0
}

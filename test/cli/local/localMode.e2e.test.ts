import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { assertPresent } from '@tollbook/core/assert'
import { ask, askForQuote, buy, type Counter, qrOrder } from '../../support/ask.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import {
  type LocalProcess,
  mainFile,
  newcomerEnv,
  startLocalProcess,
  stopLocalProcess,
} from '../../support/localProcess.ts'
import { createPayer } from '../../support/payer.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'

interface Started extends Counter, LocalProcess {}

async function start(home: string, flags: readonly string[] = []): Promise<Started> {
  const started = await startLocalProcess(home, flags)
  const { local } = started
  const secret = z.array(z.int()).parse(JSON.parse(await readFile(local.demoWallet.keypairPath, 'utf8')))
  const wallet = Keypair.fromSecretKey(Uint8Array.from(secret))
  return { ...started, baseUrl: local.baseUrl, payer: createPayer({ rpcUrl: local.rpcUrl, wallet }) }
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

async function databaseAnswers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString })
  return client.connect().then(
    async () => {
      await client.end()
      return true
    },
    () => false,
  )
}

/** A start that ends by itself. */
async function run(home: string): Promise<{ readonly exitCode: number | null; readonly said: string }> {
  const env = { ...newcomerEnv(home), LOG_LEVEL: 'silent' }
  const child = spawn(process.execPath, [mainFile], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const said: string[] = []
  child.stderr.on('data', (chunk) => said.push(String(chunk)))
  await once(child, 'exit')
  return { exitCode: child.exitCode, said: said.join('') }
}

const samples = ['--sample-upstreams']

/** Address of a page of the samples. */
async function expectSamples({ local }: Started): Promise<string> {
  const { pageUrl } = assertPresent(local.sampleUpstreams, 'a start with the flag has samples')
  expect(await (await fetch(pageUrl)).text()).toContain('Sample page')
  return pageUrl
}

describe('local mode', () => {
  /*
   * A start takes eight seconds of processor time, so two homes side by side show everything. One: samples come with the
   * flag, again after a restart, and go on SIGTERM; a home that is in use is refused with the way out, and the one in it
   * goes on. The other has no samples and ends by a clean stop.
   */
  let home: string
  let otherHome: string
  let first: Started
  let other: Started

  beforeAll(async () => {
    ;[home, otherHome] = await Promise.all([makeScratchDirectory(), makeScratchDirectory()])
    ;[first, other] = await Promise.all([start(home, samples), start(otherHome)])
  })

  test('kill -9 leaves nothing running, and the next start finds keys, chain and ledger as they were', async () => {
    await expectSamples(first)
    const refused = await run(home)
    expect(refused.exitCode, 'the home is in use').toBe(1)
    expect(refused.said).toMatch(/in use|already/i)
    const [proof] = await Promise.all([askForQuote(first).then((quote) => first.payer.pay(quote)), buy(other)])
    expect((await ask(first, { ...qrOrder, proof })).status).toBe(200)

    const exited = once(first.child, 'exit')
    first.child.kill('SIGKILL')
    await exited
    await awaitThat('Postgres and the chain are gone', async () => {
      return !(await answers(first.local.rpcUrl)) && !(await databaseAnswers(first.local.adminDatabaseUrl))
    })

    const second = await start(home, samples)
    const pageUrl = await expectSamples(second)
    expect(second.local).toMatchObject({
      tokenMint: first.local.tokenMint,
      paymentWallet: first.local.paymentWallet,
      demoWallet: first.local.demoWallet,
      receiptKey: first.local.receiptKey,
    })
    // The mark that the answer was sent may have died with the process; then it is sent once more.
    const again = await ask(second, { ...qrOrder, proof })
    if (again.status === 200) expect(again.headers.get('idempotent-replay')).toBe('true')
    else expect(again).toMatchObject({ status: 402, body: { reason: 'already_used' } })
    expect(await ask(second, { ...qrOrder, proof })).toMatchObject({ status: 402, body: { reason: 'already_used' } })
    // The key is in the home, so a token of the first start is still valid at the second.
    for (const token of [first.local.financeToken, second.local.auditorToken]) {
      const headers = { authorization: `Bearer ${token}` }
      expect((await ask(second, { path: '/api/finance/summary', headers })).status).toBe(200)
    }
    const connection = new Connection(second.local.rpcUrl, 'confirmed')
    const { value } = await connection.getTokenSupply(new PublicKey(second.local.tokenMint))
    expect(value.amount).toBe('99998500000')
    const { receipt } = await buy(second)
    // The lease on sealing of the process that was killed has to end first.
    await awaitThat('the sale is sealed', async () => {
      const stored = readCheckpoint(await readFile(join(home, 'checkpoint'), 'utf8'))
      return stored !== undefined && stored.size >= receipt.ledger.position
    })
    expect(await stopLocalProcess(second.child)).toBe(0)
    expect(await answers(pageUrl)).toBe(false)
    expect(await answers(second.local.rpcUrl)).toBe(false)
    expect(await databaseAnswers(second.local.adminDatabaseUrl)).toBe(false)

    // The remains of the ledger after its database is lost: enough to refuse another one.
    await rm(join(home, 'postgres'), { recursive: true })
    const third = await run(home)
    expect(third.exitCode).toBe(1)
    expect(third.said).toMatch(
      /ends at event 0, and the checkpoint of tollbook\/.*older backup.*put .*checkpoint away/s,
    )
  })

  test('the demo refuses to sell samples next to a service that queries the real providers, and names the remedy', async () => {
    const program = new URL('../../../src/cli/tollbook.js', import.meta.url).pathname
    const demo = promisify(execFile)(process.execPath, [program, 'demo', '--once', '--sample-upstreams'], {
      env: newcomerEnv(otherHome),
    })
    await expect(demo).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/asks the real providers; stop it, or leave out --sample-upstreams/),
    })
  })

  test('two homes have separate chains, no other user reads their keys, and a home sells again after a clean stop', async () => {
    expect(other.local.tokenMint).not.toBe(first.local.tokenMint)
    const { mode } = await stat(other.local.demoWallet.keypairPath)
    expect(mode & 0o077).toBe(0)
    expect(await stopLocalProcess(other.child)).toBe(0)
    const again = await start(otherHome)
    await buy(again)
    expect(await stopLocalProcess(again.child), 'after a start that followed a clean stop').toBe(0)
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { assertPresent } from '@tollbook/core/assert'
import { openLocalService } from '../../../src/cli/openLocalService.ts'
import { silentLog } from '../../../src/machine/log.ts'
import { ask, askForQuote, buy, type Counter, qrOrder } from '../../support/ask.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { localConfig, openLocalMode } from '../../support/openLocalMode.ts'
import {
  type LocalProcess,
  mainFile,
  newcomerEnv,
  startLocalProcess,
  stopLocalProcess,
} from '../../support/localProcess.ts'
import { createPayer } from '../../support/payer.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'

interface Running extends Counter {
  readonly local: LocalProcess['local']
}

interface Started extends Running, LocalProcess {}

interface Opened extends Running {
  close(): Promise<void>
}

async function start(home: string, flags: readonly string[] = []): Promise<Started> {
  const started = await startLocalProcess(home, flags)
  return { ...started, ...(await counterOf(started.local)) }
}

async function counterOf(local: LocalProcess['local']): Promise<Counter> {
  const secret = z.array(z.int()).parse(JSON.parse(await readFile(local.demoWallet.keypairPath, 'utf8')))
  const wallet = Keypair.fromSecretKey(Uint8Array.from(secret))
  return { baseUrl: local.baseUrl, payer: createPayer({ rpcUrl: local.rpcUrl, wallet }) }
}

const samples = ['--sample-upstreams']

async function open(home: string, flags: readonly string[] = []): Promise<Opened> {
  const { local, close } = await openLocalMode(localConfig(home, flags), lost)
  return { local, close, ...(await counterOf(local)) }
}

const lost: Error[] = []

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

/** Address of a page of the samples. */
async function expectSamples({ local }: Running): Promise<string> {
  const { pageUrl } = assertPresent(local.sampleUpstreams, 'a start with the flag has samples')
  expect(await (await fetch(pageUrl)).text()).toContain('Sample page')
  return pageUrl
}

describe('local mode', () => {
  /*
   * A process that starts takes eight seconds of processor time, so two homes side by side show everything. One:
   * samples come with the flag, again after a restart, and go with a stop; a home that is in use is refused with the
   * way out, and the one in it goes on. The other has no samples and ends by SIGTERM.
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
    // The address of the finance page, without the token that opens it.
    expect(first.printed.join('\n')).toContain(`finance page ${first.local.baseUrl}/finance`)
    expect(first.printed.join('\n')).not.toContain(first.local.financeToken.slice(0, 20))
    await expect(open(home), 'the home is in use').rejects.toThrow(/in use|already/i)
    const [proof] = await Promise.all([askForQuote(first).then((quote) => first.payer.pay(quote)), buy(other)])
    expect((await ask(first, { ...qrOrder, proof })).status).toBe(200)

    const exited = once(first.child, 'exit')
    first.child.kill('SIGKILL')
    await exited
    await awaitThat('Postgres and the chain are gone', async () => {
      return !(await answers(first.local.rpcUrl)) && !(await databaseAnswers(first.local.adminDatabaseUrl))
    })

    const second = await open(home, samples)
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
    await second.close()
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
    const demo = openLocalService(localConfig(otherHome, samples), { log: silentLog, onProgress: () => undefined })
    await expect(demo).rejects.toThrow(/asks the real providers; stop it, or leave out --sample-upstreams/)
  })

  test('a start on a port in use fails before it makes a database, a chain or a key', async () => {
    const unused = join(await makeScratchDirectory(), 'home')
    const { port } = new URL(other.local.baseUrl)
    const config = localConfig(unused)
    const start = openLocalMode({ ...config, server: { ...config.server, port: Number(port) } })
    await expect(start).rejects.toThrow(`port ${port} of 127.0.0.1 is in use: stop the process that listens there`)
    await expect(stat(unused)).rejects.toThrow('ENOENT')
  })

  test('two homes have separate chains, no other user reads their keys, and a home sells again after a clean stop', async () => {
    expect(other.local.tokenMint).not.toBe(first.local.tokenMint)
    const { mode } = await stat(other.local.demoWallet.keypairPath)
    expect(mode & 0o077).toBe(0)
    expect(await stopLocalProcess(other.child)).toBe(0)
    expect(await answers(other.local.rpcUrl)).toBe(false)
    expect(await databaseAnswers(other.local.adminDatabaseUrl)).toBe(false)
    const again = await open(otherHome)
    await buy(again)
    await again.close()
    expect(lost, 'no part ends by itself').toEqual([])
  })
})

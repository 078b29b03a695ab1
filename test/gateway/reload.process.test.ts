import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { createGate } from '../e2e/streamedAnswer.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { startLocalProcess, stopLocalProcess } from '../support/localProcess.ts'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'
import { createPayer } from '../support/payer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

test('SIGHUP sells by the changed file, ignores one with a mistake, and leaves starts and requests in progress alone', async () => {
  const api = await openLoopbackServer(answersJson(200, { ok: true }))
  const home = await makeScratchDirectory()
  const file = join(home, 'tollbook.yaml')
  const write = (usd: string) =>
    writeFile(
      file,
      `version: 1
upstreams: { a: { url: "${api.url}" } }
routes: [{ path: /one, summary: S, upstream: a, to: /one, price: { usd: "${usd}" } }]
`,
    )
  await write('0.01')
  // The database of local mode is the first thing that a start makes.
  const isStarting = () => existsSync(join(home, 'postgres'))
  const { child, local } = await startLocalProcess(home, ['--products', file], (spawned) => {
    void awaitThat('the start makes its database', isStarting).then(() => spawned.kill('SIGHUP'))
  })
  const key: number[] = JSON.parse(await readFile(resolve(home, local.demoWallet.keypairPath), 'utf8'))
  const payer = createPayer({ rpcUrl: local.rpcUrl, wallet: Keypair.fromSecretKey(Uint8Array.from(key)) })
  const service = { baseUrl: local.baseUrl, payer }
  const quote = () => askForQuote(service, { path: '/one' })
  const hasPrice = async (usd: number) => (await quote()).pricing.priceUSD === usd
  const hasMistakes = async () =>
    JSON.stringify((await ask(service, { path: '/api/health' })).body).includes('products file has mistakes')

  const [asked, gate] = [createGate(), createGate()]
  api.script((question, response) => {
    asked.open()
    void gate.opened.then(() => answersJson(200, { sold: 'as quoted' })(question, response))
  })
  const buying = ask(service, { path: '/one', proof: await payer.pay(await quote()) })
  await asked.opened
  await write('0.05')
  child.kill('SIGHUP')
  await awaitThat('the new price is quoted', () => hasPrice(0.05))
  gate.open()
  expect(await buying).toMatchObject({ status: 200, body: { sold: 'as quoted' } })

  await write('0')
  child.kill('SIGHUP')
  await awaitThat('the mistake is reported', hasMistakes)
  expect(await hasPrice(0.05)).toBe(true)
  await write('0.02')
  child.kill('SIGHUP')
  await awaitThat('the repaired file is sold', () => hasPrice(0.02))
  // Prices change before the documents, with which a reload ends.
  await awaitThat('no mistake is reported', async () => !(await hasMistakes()))
  expect(await stopLocalProcess(child)).toBe(0)
})

import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { systemClock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { createPayer } from '../support/payer.ts'
import type { TestWitness } from '../support/testWitness.ts'
import { findImageProblems, type ImageReport } from './compose/image.ts'
import { findExposures } from './compose/exposure.ts'
import { awaitPublished, publishAgain, publishers, readLedgerSize, startPublishers } from './compose/publishers.ts'
import {
  assertRan,
  type Container,
  createStack,
  readLogs,
  removeStack,
  type Stack,
  whyNoDocker,
} from './compose/stack.ts'
import { type Payers, startPayers } from './patroni/payers.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { runTollbook } from './restore/tollbook.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * The files that are shipped, on a real engine: built, started, sold through TLS, killed under load, replaced instance
 * by instance, backed up, rehearsed, destroyed and restored. The ports of docs/deploy.md must be free.
 */

const command = proofCommand(
  'compose',
  'Starts docker-compose.yml and does what docs/deploy.md says. About 6 minutes with images that were built before.',
)
  .option('--override <file...>', 'further Compose files, for a machine that lacks an image', [])
  .option('--without <service...>', 'services that are not started, such as grafana', [])
  .option('--skip-build', 'use the images that this engine has', false)
  .option('--payers <n>', 'payers at once', wholeNumber, 3)
  .option('--within <minutes>', 'time for the proof after the images are built; later it is broken', wholeNumber, 8)
const options = command
  .parse()
  .opts<{ override: string[]; without: string[]; skipBuild: boolean; payers: number; within: number }>()

const urls = { plain: 'http://127.0.0.1:3402', tls: 'https://localhost', rpc: 'http://127.0.0.1:8899' }
const answersAround = 8
const healthyTriesMax = 300
// Gap of any event on a slow machine: a bound, and not a promise.
const gapMaxMs = 30_000

async function prove(): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const directory = await makeTemporaryDirectory()
  opened.defer(directory.remove)
  const overrides = options.override.map((file) => resolve(file))
  const deadline = new AbortController()
  const stack = await createStack({ directory: directory.path, overrides, deadline: deadline.signal })
  opened.defer(() => removeStack(stack, [...profiles, 'down', '--volumes', '--timeout', '5']))
  const proof: Proof = { stack, wrong: [], home: join(directory.path, 'payer') }
  try {
    await build(stack)
    const timer = setTimeout(() => deadline.abort(), options.within * 60_000)
    opened.defer(() => clearTimeout(timer))
    await proveStack(proof)
  } catch (error) {
    const late = deadline.signal.aborted ? [`not finished within ${options.within} minutes`] : []
    const { output } = await readLogs(stack)
    concludeProof({ holds: false, lines: [...proof.wrong, ...late, describeError(error), output] })
  }
}

async function proveStack(proof: Proof): Promise<void> {
  const { stack, wrong } = proof
  await start(proof)
  const wallet = await fund(proof)
  await sellThroughTls(proof)
  await using witness = await startPublishers(stack, urls.plain)
  const sizeBefore = await readLedgerSize(urls.plain)
  const payer = createPayer({ rpcUrl: urls.rpc, wallet })
  const payers = startPayers({ payer, baseUrl: () => urls.plain, count: options.payers, productOf })
  await payers.awaitAnswers(answersAround)
  await killProcess(proof, payers, 'api-1')
  await killProcess(proof, payers, 'postgres')
  await replaceInstances(proof, payers)
  await backUp(proof, payers)
  const published = await expectPublished(proof, witness, sizeBefore)
  await payers.stop()
  await presentAgain(payers)
  await destroyAndRestore(proof)
  await sellThroughTls(proof)
  await expectPublished(proof, witness, published)
  await expectOk(proof, 'doctor', ['exec', '-T', 'api-1', 'tollbook', 'doctor'])
  await compareWithLedger(proof, payers)
  wrong.push(...(await findExposures(stack)))
  const image = await findImageProblems(stack)
  wrong.push(...image.problems)
  conclude(payers, image, wrong)
}

interface Proof {
  readonly stack: Stack
  readonly wrong: string[]
  /** Home of the paying command. */
  readonly home: string
}

const profiles = ['local-chain', 'tls', 'finance', 'backup', 'anchor', 'witness', 'wallet'].flatMap((profile) => [
  '--profile',
  profile,
])
const always = ['api-1', 'api-2', 'load-balancer', 'tls', 'finance', 'chain', 'prometheus', 'grafana', 'receive-wal']
const started = always.filter((service) => !options.without.includes(service))

async function build(stack: Stack): Promise<void> {
  if (options.skipBuild) return
  say('building the images')
  assertRan(await stack.compose(...profiles, 'build'))
}

async function start({ stack }: Proof): Promise<void> {
  await stack.addSettings({
    FINANCE_ISSUER: 'https://issuer.example.com',
    FINANCE_JWKS_URL: 'https://issuer.example.com/jwks.json',
  })
  await makeCertificate(stack)
  say('starting')
  assertRan(await stack.compose(...profiles, 'up', '--detach', ...started))
  for (const service of started) await awaitHealthy(stack, service)
  say(`${started.length} services are healthy: ${started.join(', ')}`)
}

async function makeCertificate({ directory, writeSecret }: Stack): Promise<void> {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', 'key.pem', '-out', 'certificate.pem']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
    cwd: directory,
    stdio: 'ignore',
  })
  await writeSecret(
    'tls-certificate',
    execFileSync('cat', ['certificate.pem', 'key.pem'], { cwd: directory, encoding: 'utf8' }),
  )
}

async function fund({ stack, home }: Proof): Promise<Keypair> {
  const wallet = Keypair.generate()
  const words = ['run', '--rm', '--no-deps', 'wallet', 'faucet', wallet.publicKey.toBase58(), '10000']
  assertRan(await stack.compose(...words))
  await writeFile(`${home}.json`, JSON.stringify([...wallet.secretKey]))
  say('the faucet has funded a wallet')
  return wallet
}

const sold = [
  ['POST', '/api/tools/qrcode', { data: 'hello' }],
  ['POST', '/api/tools/pdf', { html: '<h1>Invoice</h1><p>中文 한국어 हिन्दी 😀</p>' }],
] as const

/** The paying command of a customer, on this machine and over TLS. */
async function sellThroughTls({ stack, home, wrong }: Proof): Promise<void> {
  for (const [method, path, body] of sold) {
    const words = [
      'pay',
      method,
      path,
      '--json',
      JSON.stringify(body),
      '--max-usd',
      '0.1',
      '--mint',
      await mintOf(stack),
    ]
    const places = ['--base-url', urls.tls, '--rpc-url', urls.rpc, '--wallet', `${home}.json`]
    const env = { TOLLBOOK_HOME: home, NODE_EXTRA_CA_CERTS: join(stack.directory, 'certificate.pem') }
    const { exitCode, output } = await runTollbook([...words, ...places], env)
    say(`tollbook pay ${path} through TLS: exit code ${exitCode}`)
    if (exitCode !== 0) wrong.push(`pay ${path} through TLS: ${output.slice(0, 300)}`)
  }
}

/** As a customer learns it out of band: here from the container that provisioned the chain. */
async function mintOf({ compose }: Stack): Promise<string> {
  const file = '/var/lib/tollbook/provisioned/service.env'
  const output = assertRan(await compose('exec', '-T', 'api-1', 'cat', file))
  return /TOKEN_MINT='(\w+)'/.exec(output)?.[1] ?? ''
}

function productOf(symbol: string) {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: symbol }),
  }
  return { path: '/api/tools/qrcode', init }
}

/** `kill -9` of the container's first process, which restarts by the policy of the Compose file. */
async function killProcess({ stack, wrong }: Proof, payers: Payers, service: string): Promise<void> {
  const gap = payers.startGap()
  const before = await stack.container(service)
  process.kill(before.pid, 'SIGKILL')
  const after = await awaitRestarted(stack, before, service)
  await payers.awaitAnswers(answersAround)
  if (after.restarts <= before.restarts) wrong.push(`${service} was not restarted`)
  tellGap(wrong, `kill -9 of ${service}, healthy again`, gap)
}

/** The steps of an upgrade in docs/deploy.md. */
async function replaceInstances({ stack, wrong }: Proof, payers: Payers): Promise<void> {
  for (const service of ['api-1', 'api-2']) {
    const gap = payers.startGap()
    const before = await stack.container(service)
    assertRan(await stack.compose('up', '--detach', '--no-deps', '--force-recreate', service))
    const after = await awaitHealthy(stack, service)
    if (after.id === before.id) wrong.push(`${service} was not replaced`)
    await payers.awaitAnswers(answersAround)
    tellGap(wrong, `${service} is replaced`, gap)
  }
}

async function backUp(proof: Proof, payers: Payers): Promise<void> {
  const gap = payers.startGap()
  await expectOk(proof, 'backup under load', [
    'exec',
    '-T',
    '--user',
    'postgres',
    'postgres',
    'pgbackrest',
    'backup',
    '--type=full',
  ])
  await payers.awaitAnswers(answersAround)
  await expectOk(proof, 'drill under load', ['run', '--rm', 'drill'])
  tellGap(proof.wrong, 'backup and drill', gap)
}

function tellGap(wrong: string[], what: string, gap: () => number): void {
  const words = `${what}: longest time without an answer ${(gap() / 1000).toFixed(1)} s`
  say(words)
  if (gap() > gapMaxMs) wrong.push(words)
}

async function presentAgain(payers: Payers): Promise<void> {
  for (const payment of payers.acknowledged.slice(0, 30)) await payers.presentAgain(payment)
}

/** The section "Back up and restore" of docs/deploy.md, with everything that was received. */
async function destroyAndRestore(proof: Proof): Promise<void> {
  const { stack } = proof
  assertRan(await stack.compose('stop', 'api-1', 'api-2', 'finance'))
  assertRan(await stack.compose('stop', 'postgres'))
  assertRan(await stack.compose(...profiles, 'down'))
  const volume = 'tollbook-proof_database'
  assertRan(await stack.docker('volume', 'rm', volume))
  say('the database is destroyed')
  const received = '/var/lib/received/%f'
  const log = `pgbackrest archive-get %f "%p" || cp ${received} "%p" || cp ${received}.partial "%p"`
  const words = ['run', '--rm', '--no-deps', '--user', 'postgres', 'postgres', 'pgbackrest', 'restore']
  await expectOk(proof, 'restore', [...words, `--recovery-option=restore_command=${log}`])
  const restarted = started.filter((service) => service !== 'receive-wal')
  assertRan(await stack.compose(...profiles, 'up', '--detach', ...restarted))
  for (const service of restarted) await awaitHealthy(stack, service)
  say('the restored stack is healthy')
}

async function expectOk({ stack, wrong }: Proof, what: string, words: readonly string[]): Promise<void> {
  const { exitCode, output } = await stack.compose(...words)
  const last = output.trim().split('\n').at(-1) ?? ''
  say(`${what}: exit code ${exitCode}, ${last}`)
  if (exitCode !== 0) wrong.push(`${what} ended with ${exitCode}: ${output.slice(-800)}`)
}

/** Docker has noticed the death before health is asked: the old health is of the old process. */
async function awaitRestarted(stack: Stack, before: Container, service: string): Promise<Container> {
  for (let tries = 1; tries <= healthyTriesMax; tries++) {
    const { pid, health } = await stack.container(service)
    if (pid !== before.pid && pid !== 0 && health === 'healthy') break
    await systemClock.sleep(500)
  }
  return awaitHealthy(stack, service)
}

async function awaitHealthy(stack: Stack, service: string): Promise<Container> {
  for (let tries = 1; ; tries++) {
    const container = await stack.container(service)
    if (container.health === 'healthy') return container
    if (tries === healthyTriesMax) {
      const { output } = await stack.docker('logs', '--tail', '20', container.id)
      throw new Error(`${service} is ${container.health}: ${output}`)
    }
    await systemClock.sleep(500)
  }
}

/** Each payment in the ledger has its answer, and each answer that a payer got is there. */
async function compareWithLedger({ stack, wrong }: Proof, payers: Payers): Promise<void> {
  const words = ['tollbook', 'export', 'csv', '--table', 'payments']
  const output = assertRan(await stack.compose('exec', '-T', 'finance', ...words))
  const rows = output.split('\n').filter((line) => /^\d+,/.test(line))
  const [payments, fulfilled] = [rows.length, rows.filter((row) => row.includes(',fulfilled,')).length]
  // Both products are bought before and after the restore.
  const expected = payers.acknowledged.length + 2 * sold.length
  say(`the ledger has ${payments} payments, ${fulfilled} fulfilled; callers got ${expected} answers`)
  if (payments !== fulfilled || fulfilled !== expected)
    wrong.push(`${payments} payments, ${fulfilled} fulfilled, ${expected} answers`)
}

/** The anchor and the witness publish what the ledger has now, and their containers say that they are well. */
async function expectPublished({ stack }: Proof, witness: TestWitness, moreThan: number): Promise<number> {
  await publishAgain(stack, witness)
  for (const service of publishers) await awaitHealthy(stack, service)
  const { anchoredSize, cosignedSize } = await awaitPublished(stack, witness, { rpc: urls.rpc, moreThan })
  say(`published: a memo on chain of ${anchoredSize} events, a cosignature of ${cosignedSize} events`)
  return Math.max(anchoredSize, cosignedSize)
}

function conclude(payers: Payers, image: ImageReport, wrong: readonly string[]): void {
  const resold = payers.resold()
  const unanswered = [...new Set(payers.refused)]
  const problems = [
    ...wrong,
    ...(resold === 0 ? [] : [`${resold} payments bought two answers`]),
    ...(payers.refused.length === 0
      ? []
      : [`${payers.refused.length} payments without an answer: ${unanswered.join(', ')}`]),
  ]
  concludeProof({
    holds: problems.length === 0,
    lines: [`${payers.acknowledged.length} payments answered, ${resold} sold twice`, ...image.lines, ...problems],
  })
}

const missing = whyNoDocker()
if (missing === undefined) await prove()
else couldNotRun(missing)

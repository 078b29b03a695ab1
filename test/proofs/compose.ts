import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { systemClock } from '@tollbook/core/clock'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { createPayer } from '../support/payer.ts'
import { findImageProblems, type ImageReport } from './compose/image.ts'
import { findExposures } from './compose/exposure.ts'
import { assertRan, type Container, createStack, type Stack, whyNoDocker } from './compose/stack.ts'
import { type Payers, startPayers } from './patroni/payers.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { runTollbook } from './restore/tollbook.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * The files that are shipped, on a real engine: built, started, sold through TLS, killed under load, replaced instance by
 * instance, backed up, rehearsed, destroyed and restored. The ports of docs/deploy.md must be free.
 */

const command = proofCommand(
  'compose',
  'Starts docker-compose.yml and does what docs/deploy.md says. About 10 minutes.',
)
  .option('--override <file...>', 'further Compose files, for a machine that lacks an image', [])
  .option('--without <service...>', 'services that are not started, such as grafana', [])
  .option('--skip-build', 'use the images that this engine has', false)
  .option('--payers <n>', 'payers at once', wholeNumber, 3)
const options = command.parse().opts<{ override: string[]; without: string[]; skipBuild: boolean; payers: number }>()

const urls = { plain: 'http://127.0.0.1:3402', tls: 'https://localhost', rpc: 'http://127.0.0.1:8899' }
const answersAround = 8
const healthyTriesMax = 300

async function prove(): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const directory = await makeTemporaryDirectory()
  opened.defer(directory.remove)
  const settings = {
    FINANCE_ISSUER: 'https://issuer.example.com',
    FINANCE_JWKS_URL: 'https://issuer.example.com/jwks.json',
  }
  const overrides = options.override.map((file) => resolve(file))
  const stack = await createStack({ directory: directory.path, overrides, settings })
  opened.defer(async () => void (await down(stack)))
  await makeCertificate(stack)
  const wrong: string[] = []
  const proof: Proof = { stack, wrong, home: join(directory.path, 'payer') }

  await start(proof)
  const wallet = await fund(proof)
  await sellThroughTls(proof)
  const payer = createPayer({ rpcUrl: urls.rpc, wallet })
  const payers = startPayers({ payer, baseUrl: () => urls.plain, count: options.payers, productOf })
  await payers.awaitAnswers(answersAround)
  await killProcess(proof, payers, 'api-1')
  await killProcess(proof, payers, 'postgres')
  await replaceInstances(proof, payers)
  await backUp(proof, payers)
  await payers.stop()
  await presentAgain(payers)
  await destroyAndRestore(proof)
  await sellThroughTls(proof)
  await expectOk(proof, 'doctor', ['exec', '-T', 'api-1', 'tollbook', 'doctor'])
  wrong.push(...(await findExposures(stack)))
  const image = await findImageProblems(stack)
  wrong.push(...image.problems)
  conclude(payers, image, wrong)
}

interface Proof {
  readonly stack: Stack
  readonly wrong: string[]
  /** Of the paying command. */
  readonly home: string
}

const profiles = ['local-chain', 'tls', 'finance', 'backup'].flatMap((profile) => ['--profile', profile])
const always = ['api-1', 'api-2', 'load-balancer', 'tls', 'finance', 'chain', 'prometheus', 'grafana', 'backup-wal']
const started = always.filter((service) => !options.without.includes(service))

async function start({ stack }: Proof): Promise<void> {
  say('building and starting')
  if (!options.skipBuild) assertRan(await stack.compose(...profiles, 'build'))
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
  const before = await stack.container(service)
  process.kill(before.pid, 'SIGKILL')
  await payers.awaitAnswers(answersAround)
  const after = await awaitHealthy(stack, service)
  if (after.restarts <= before.restarts) wrong.push(`${service} was not restarted`)
  say(`kill -9 of ${service}: healthy again, ${payers.acknowledged.length} answers, longest gap ${seconds(payers)}`)
}

/** The steps of an upgrade in docs/deploy.md. */
async function replaceInstances({ stack, wrong }: Proof, payers: Payers): Promise<void> {
  for (const service of ['api-1', 'api-2']) {
    const before = await stack.container(service)
    assertRan(await stack.compose('up', '--detach', '--no-deps', '--force-recreate', service))
    const after = await awaitHealthy(stack, service)
    if (after.id === before.id) wrong.push(`${service} was not replaced`)
    await payers.awaitAnswers(answersAround)
    say(`${service} is replaced: ${payers.acknowledged.length} answers, longest gap ${seconds(payers)}`)
  }
}

async function backUp(proof: Proof, payers: Payers): Promise<void> {
  await expectOk(proof, 'backup under load', ['run', '--rm', 'backup'])
  await payers.awaitAnswers(answersAround)
  await expectOk(proof, 'drill under load', ['run', '--rm', 'drill'])
}

async function presentAgain(payers: Payers): Promise<void> {
  for (const payment of payers.acknowledged.slice(0, 30)) await payers.presentAgain(payment)
}

/** The section "Back up and restore" of docs/deploy.md, with everything that was received. */
async function destroyAndRestore(proof: Proof): Promise<void> {
  const { stack } = proof
  assertRan(await stack.compose(...profiles, 'down'))
  const volume = 'tollbook-proof_database'
  assertRan(await stack.docker('volume', 'rm', volume))
  say('the database is destroyed')
  const into = '/var/lib/postgresql/data'
  const words = ['run', '--rm', '--no-deps', '--volume', `${volume}:${into}`, 'backup', 'restore', '--into', into]
  await expectOk(proof, 'restore', words)
  const restarted = started.filter((service) => service !== 'backup-wal')
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

async function down({ compose }: Stack) {
  return compose(...profiles, '--profile', 'wallet', 'down', '--volumes', '--timeout', '5')
}

const seconds = (payers: Payers) => `${(payers.longestGapMs() / 1000).toFixed(1)} s`

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
    lines: [
      `${payers.acknowledged.length} payments answered, ${resold} sold twice, longest gap ${seconds(payers)}`,
      ...image.lines,
      ...problems,
    ],
  })
}

const missing = whyNoDocker()
if (missing === undefined) await prove()
else couldNotRun(missing)

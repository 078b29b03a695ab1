import '@tollbook/core/quietBindings'
import { execFile } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { openLocalService } from '../../src/cli/openLocalService.ts'
import { readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { proofCommand } from './proofCommand.ts'
import { noLimits } from './proofEnvironment.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The Python programs of the reference at `/docs`, unchanged except for the page that is rendered, each buy their
 * product from a service in local mode. They run in a virtual environment with `requests` and `solders` from the
 * package registry.
 */

const libraries = ['requests==2.34.2', 'solders==0.29.0']
const { python: given } = proofCommand(
  'python',
  `The Python samples of the reference, run with ${libraries.join(' and ')}.`,
)
  .option('--python <path>', 'an interpreter that has both libraries; otherwise they are installed for the proof')
  .parse()
  .opts<{ python?: string }>()

const run = promisify(execFile)
const installMs = 120_000
const catalog = z.object({
  data: z.object({ products: z.array(z.object({ path: z.string(), available: z.boolean() })) }),
})
const operation = z.looseObject({
  'x-codeSamples': z.array(z.object({ label: z.string(), source: z.string() })).optional(),
})
const document = z.object({ paths: z.record(z.string(), z.record(z.string(), operation)) })
const patience = 30
await using opened = new AsyncDisposableStack()
const home = await makeTemporaryDirectory()
opened.defer(home.remove)

const python = given ?? (await makeEnvironment(join(home.path, 'python')))
if (python === undefined) process.exitCode = 2
else await prove(python)

/** Undefined, with the reason, on a machine that cannot run the samples. */
async function makeEnvironment(folder: string): Promise<string | undefined> {
  try {
    await run('python3', ['-m', 'venv', folder])
    const words = ['install', '--retries', '1', '--only-binary', ':all:', ...libraries]
    await run(join(folder, 'bin', 'pip'), words, { timeout: installMs })
    return join(folder, 'bin', 'python')
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)
    say(`skipped: this machine cannot install ${libraries.join(' and ')}: ${reason}`)
    return undefined
  }
}

async function prove(interpreter: string): Promise<void> {
  const env = { TOLLBOOK_HOME: join(home.path, 'service'), PORT: '0', LOG_LEVEL: 'fatal', ...noLimits }
  const service = await openLocalService(readConfig(env, { sampleUpstreams: 'always' }), {
    log: silentLog,
    onProgress: (step) => say(`starting ${step}`),
  })
  opened.defer(() => service.close())
  const { baseUrl, rpcUrl, demoWallet, sampleUpstreams } = service.local
  await copyFile(assertPresent(demoWallet, 'local mode has a wallet').keypairPath, join(home.path, 'payer.json'))
  const { pageUrl } = assertPresent(sampleUpstreams, 'local mode has samples')
  const wrong: string[] = []
  const samples = await readSamples(baseUrl)
  for (const { path, source } of samples) {
    // The page of the example is on the internet.
    const program = source.replace(/"url":"[^"]*"/, JSON.stringify({ url: pageUrl }).slice(1, -1))
    await writeFile(join(home.path, 'sample.py'), program)
    const said = await run(interpreter, ['sample.py'], {
      cwd: home.path,
      env: { ...process.env, RPC_URL: rpcUrl },
    }).then(
      ({ stdout }) => stdout,
      (error: unknown) => String(error),
    )
    say(`${path}: ${said.slice(0, 100).replaceAll('\n', ' ')}`)
    if (!said.startsWith('200 ')) wrong.push(`${path}: ${said.slice(-400)}`)
  }
  if (samples.length === 0) wrong.push('the reference has no Python sample')
  concludeProof({ holds: wrong.length === 0, lines: [`${samples.length} samples in Python`, ...wrong] })
}

/** The sample of each product that is for sale. Local mode needs some seconds until its providers have answered. */
async function readSamples(baseUrl: string) {
  const read = async (path: string): Promise<unknown> => (await fetch(`${baseUrl}${path}`)).json()
  let products = catalog.parse(await read('/api/catalog')).data.products
  for (let attempt = 1; attempt <= patience && products.some(({ available }) => !available); attempt++) {
    await systemClock.sleep(500)
    products = catalog.parse(await read('/api/catalog')).data.products
  }
  const { paths } = document.parse(await read('/openapi.json'))
  return products
    .filter(({ available }) => available)
    .flatMap(({ path }) =>
      Object.values(paths[path] ?? {}).flatMap(({ 'x-codeSamples': samples = [] }) =>
        samples.filter(({ label }) => label === 'Python').map(({ source }) => ({ path, source })),
      ),
    )
}

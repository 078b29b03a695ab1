import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { openRenderer } from '../../src/rendering/openRenderer.ts'
import { openRenderWorker } from '../../src/rendering/openRenderWorker.ts'
import { RenderFailure, type Rendered } from '../../src/rendering/renderer.ts'
import { silentLog } from '../../src/machine/log.ts'
import { corpus } from './pages/corpus.ts'
import type { CorpusPage } from './pages/corpusPage.ts'
import { type Golden, goldenOf, readGoldens, writeGoldens } from './pages/golden.ts'
import { describeCapture, judgeCapture, type Kind } from './pages/judgeCapture.ts'
import { pathOf, serveCorpus } from './pages/serveCorpus.ts'
import { renderingProcesses, stillRunning } from './rendering/renderingProcesses.ts'
import { partOf, proofCommand } from './proofCommand.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * Every page of a corpus is captured completely or is marked with what it lacks, as a picture and on paper. Pages whose
 * flaw is known are the other half of the proof: a mark that is never set proves nothing.
 */

const command = proofCommand(
  'pages',
  'Captures pages that are hard to capture; each is complete or says what is missing.',
)
  .option('--only <text>', 'only pages whose name contains it')
  .option('--hostile', 'only pages that are made to harm', false)
  .option('--part <n/m>', 'only every m-th page, from the n-th', partOf, partOf('1/1'))
  .option('--output <folder>', 'writes the pictures and documents there, to be looked at')
  .option('--accept', 'makes these pictures the golden ones, to be looked at before they are committed', false)
const {
  output,
  only = '',
  hostile,
  part,
  accept,
} = command
  .parse()
  .opts<{ output?: string; only?: string; hostile: boolean; part: ReturnType<typeof partOf>; accept: boolean }>()

const hostileTimeoutMs = 10_000
const foldersBefore = profileFolders()
const margin = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }
const asked = new Set<string>()
const server = createServer((request, response) => {
  asked.add(request.url ?? '')
  serveCorpus(request, response)
}).listen(0, '0.0.0.0')
await once(server, 'listening')
const address = server.address()
assert(typeof address === 'object' && address !== null, 'a server that listens has a port')
const host = `127.0.0.1:${address.port}`
const allowHosts = [host, `127.0.0.2:${address.port}`]
const config = { allowHosts, loadTimeoutMs: 4_000 }
const renderer = await openRenderer({
  clock: systemClock,
  allowHosts,
  concurrency: 2,
  // Many of them end only with their time.
  ...(hostile ? { jobTimeoutMs: hostileTimeoutMs } : {}),
  openEngine: () => openRenderWorker({ clock: systemClock, log: silentLog, config }),
})
while (/being started/.test(renderer.whyUnavailable() ?? '')) await systemClock.sleep(100)
const why = renderer.whyUnavailable()
const wrong = why === undefined ? await run() : undefined
const processes = renderingProcesses()
await renderer.close()
server.close()
server.closeAllConnections()
if (wrong === undefined) couldNotRun(why ?? '')
else conclude(wrong)

async function run(): Promise<readonly string[]> {
  if (output !== undefined) await mkdir(output, { recursive: true })
  const goldens = await readGoldens()
  const wrong: string[] = []
  const chosen = [...corpus.entries()]
    .filter(([, { name, endings }]) => name.includes(only) && (endings !== undefined || !hostile))
    .filter((_, nth) => part(nth))
  for (const [nth, page] of chosen)
    for (const kind of ['picture', 'document'] as const) {
      asked.clear()
      const outcome = await capture(kind, nth, page)
      if (accept) acceptPicture(goldens, { kind, page, outcome })
      const problem = await judgeCapture({ page, kind, outcome, asked, golden: goldens.get(page.name) })
      if (problem !== undefined) wrong.push(`${page.name}, ${kind}: ${problem}`)
      say(
        `${problem === undefined ? 'as expected' : 'WRONG      '}  ${kind.padEnd(8)}  ${page.name}: ${describeCapture(outcome)}`,
      )
    }
  if (accept) await writeGoldens(goldens)
  say(`${chosen.length} pages, each twice`)
  return wrong
}

/** Also of other browsers on this machine, so only those that are new count. */
function profileFolders(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('tollbook-browser-'))
}

function conclude(wrong: readonly string[]): void {
  const orphans = stillRunning(processes).length
  const ours = new Set(processes.map(String))
  const folders = profileFolders().filter((name) => !foldersBefore.includes(name) && ours.has(name.split('-')[2] ?? ''))
  concludeProof({
    holds: wrong.length === 0 && orphans === 0 && folders.length === 0,
    lines: [
      `processes left behind ${orphans} of ${processes.length}, profile folders left behind ${folders.length}`,
      ...wrong,
    ],
  })
}

interface Accepted {
  readonly kind: Kind
  readonly page: CorpusPage
  readonly outcome: Rendered | RenderFailure
}

function acceptPicture(goldens: Map<string, Golden>, { kind, page, outcome }: Accepted): void {
  if (kind === 'picture' && page.moves !== true && !(outcome instanceof RenderFailure))
    goldens.set(page.name, goldenOf(outcome.bytes))
}

async function capture(kind: Kind, nth: number, { options = {} }: CorpusPage): Promise<Rendered | RenderFailure> {
  const url = `http://${host}${pathOf(nth)}`
  const customer = { payer: 'proof', payment: `${kind} ${nth}`, signal: AbortSignal.timeout(60_000) }
  try {
    const rendered = await (kind === 'picture'
      ? renderer.screenshot({ url, width: 1_000, height: 700, fullPage: true, ...options }, customer)
      : renderer.pdf(
          { page: { url }, format: 'A4', margin, printableWidth: 718, preferCSSPageSize: true, ...options },
          customer,
        ))
    const ending = kind === 'picture' ? 'png' : 'pdf'
    if (output !== undefined) await writeFile(join(output, `${nth}.${ending}`), rendered.bytes)
    return rendered
  } catch (error) {
    if (error instanceof RenderFailure) return error
    throw error
  }
}

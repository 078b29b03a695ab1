import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { openEgress } from '../../src/outbound/browser/openEgress.ts'
import { openRenderer } from '../../src/outbound/browser/openRenderer.ts'
import { RenderFailure, type Rendered } from '../../src/outbound/browser/renderer.ts'
import { silentLog } from '../../src/primitives/log.ts'
import { corpus, type CorpusPage, serveCorpus } from './pages/corpus.ts'
import { proofCommand } from './proofCommand.ts'
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
  .option('--output <folder>', 'writes the pictures and documents there, to be looked at')
const { output, only = '' } = command.parse().opts<{ output?: string; only?: string }>()

const margin = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }
const asked = new Set<string>()
const server = createServer((request, response) => {
  asked.add(request.url ?? '')
  void serveCorpus(request, response)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
assert(typeof address === 'object' && address !== null, 'a server that listens has a port')
const host = `127.0.0.1:${address.port}`
const renderer = await openRenderer({
  clock: systemClock,
  log: silentLog,
  egress: openEgress({ allowHosts: [host] }),
  chromiumPath: undefined,
  concurrency: 2,
  limits: { loadTimeoutMs: 4_000 },
})
while (/being started/.test(renderer.whyUnavailable() ?? '')) await systemClock.sleep(100)
const why = renderer.whyUnavailable()
if (why === undefined) await run()
else couldNotRun(why)
await renderer.close()
server.close()
server.closeAllConnections()

async function run(): Promise<void> {
  if (output !== undefined) await mkdir(output, { recursive: true })
  const wrong: string[] = []
  const chosen = [...corpus.entries()].filter(([, { name }]) => name.includes(only))
  for (const [nth, page] of chosen)
    for (const kind of ['picture', 'document'] as const) {
      asked.clear()
      const rendered = await capture(kind, nth, page)
      const problem = problemOf(page, kind, rendered)
      if (problem !== undefined) wrong.push(`${page.name}, ${kind}: ${problem}`)
      say(
        `${problem === undefined ? 'as expected' : 'WRONG      '}  ${kind.padEnd(8)}  ${page.name}: ${saidOf(rendered)}`,
      )
    }
  concludeProof({ holds: wrong.length === 0, lines: [`${chosen.length} pages, each twice`, ...wrong] })
}

async function capture(
  kind: 'picture' | 'document',
  nth: number,
  { options = {} }: CorpusPage,
): Promise<Rendered | RenderFailure> {
  const url = `http://${host}/${nth}`
  const customer = { payer: 'proof', payment: `${kind} ${nth}`, signal: AbortSignal.timeout(60_000) }
  try {
    const rendered = await (kind === 'picture'
      ? renderer.screenshot({ url, width: 1_000, height: 700, fullPage: true, ...options }, customer)
      : renderer.pdf({ page: { url }, format: 'A4', margin, preferCSSPageSize: true, ...options }, customer))
    const ending = kind === 'picture' ? 'png' : 'pdf'
    if (output !== undefined) await writeFile(join(output, `${nth}.${ending}`), rendered.bytes)
    return rendered
  } catch (error) {
    if (error instanceof RenderFailure) return error
    throw error
  }
}

function problemOf(
  page: CorpusPage,
  kind: 'picture' | 'document',
  rendered: Rendered | RenderFailure,
): string | undefined {
  if (rendered instanceof RenderFailure) return rendered.message
  const { missing = [], clipped = false, mayLackGlyphs = false, fetches = [] } = page
  const reasons = rendered.missing.map(({ reason }) => reason)
  if (reasons.join() !== missing.join())
    return `it says ${reasons.join() || 'complete'}, not ${missing.join() || 'complete'}`
  if (kind === 'picture' && rendered.clipped !== clipped) return `clipped is ${rendered.clipped}`
  if (rendered.missingGlyphs > 0 && !mayLackGlyphs) return `${rendered.missingGlyphs} characters have no font`
  const unasked = fetches.find((url) => !asked.has(url))
  return unasked === undefined ? undefined : `${unasked} was never asked for`
}

function saidOf(rendered: Rendered | RenderFailure): string {
  if (rendered instanceof RenderFailure) return `not captured: ${rendered.message}`
  const reasons = rendered.missing.map(({ reason }) => reason).join(', ')
  const marks = [
    reasons === '' ? 'complete' : `marked ${reasons}`,
    ...(rendered.clipped ? ['clipped'] : []),
    ...(rendered.missingGlyphs === 0 ? [] : [`${rendered.missingGlyphs} characters without a font`]),
  ]
  return marks.join(', ')
}

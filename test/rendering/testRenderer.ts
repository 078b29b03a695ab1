import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { openEgress } from '../../src/rendering/openEgress.ts'
import { openRenderEngine, type RenderEngineDeps } from '../../src/rendering/openRenderEngine.ts'
import { openRenderer } from '../../src/rendering/openRenderer.ts'
import type { Renderer } from '../../src/rendering/renderer.ts'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'

export interface Web {
  readonly port: number
  /** From then on connections are refused. */
  stop(): void
}

/** A web server on loopback; closed after the file. */
export async function startWeb(serve: RequestListener): Promise<Web> {
  const server = createServer(serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = (): void => {
    server.close()
    server.closeAllConnections()
  }
  afterFile(stop)
  const address = server.address()
  if (!isAddressInfo(address)) throw new Error('it listens on a port')
  return { port: address.port, stop }
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}

export interface TestRenderer extends Partial<RenderEngineDeps> {
  readonly jobTimeoutMs?: number
}

/** A renderer that has its browser, or undefined where none can be started: then there is nothing to test. */
export async function openTestRenderer(options: TestRenderer = {}): Promise<Renderer | undefined> {
  const { jobTimeoutMs, ...engine } = options
  const openEngine = () =>
    openRenderEngine({
      clock: systemClock,
      log: silentLog,
      egress: openEgress({ allowHosts: [] }),
      chromiumPath: undefined,
      ...engine,
    })
  const renderer = await openRenderer({
    clock: systemClock,
    allowHosts: [],
    concurrency: 2,
    ...(jobTimeoutMs === undefined ? {} : { jobTimeoutMs }),
    openEngine,
  })
  afterFile(() => renderer.close())
  return (await mayRender(() => renderer.whyUnavailable())) ? renderer : undefined
}

/** Waits until the browser has been started, or could not be. */
async function mayRender(whyUnavailable: () => string | undefined): Promise<boolean> {
  await awaitThat('a browser is started or not', () => !/being started/.test(whyUnavailable() ?? ''))
  const why = whyUnavailable()
  if (why !== undefined) process.stderr.write(`rendering is not tested: ${why}\n`)
  return why === undefined
}

/** Browser processes that a process has started. */
export function browsersOf(parent: number): readonly number[] {
  return childrenOf(parent, /chrom/)
}

/** Processes of pages, in the process groups of the browsers. */
export function renderersOf(browsers: readonly number[]): readonly string[] {
  const { stdout } = spawnSync('pgrep', ['-g', browsers.join(), '-f', 'type=renderer'], { encoding: 'utf8' })
  return stdout.split('\n').filter((pid) => pid !== '')
}

/** Children that run, by their command line. */
export function childrenOf(parent: number, command: RegExp): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const [, state, ppid] = /^\d+ \(.*\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
        return state !== 'Z' && Number(ppid) === parent && command.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
      } catch {
        return false
      }
    })
    .map(Number)
}

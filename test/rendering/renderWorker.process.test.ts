import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { systemClock } from '@tollbook/core/clock'
import { assertPresent } from '@tollbook/core/assert'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openRenderWorker } from '../../src/rendering/openRenderWorker.ts'
import type { RenderBounds } from '../../src/rendering/renderEngine.ts'
import { silentLog } from '../../src/machine/log.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { browsersOf, childrenOf, startWeb } from './testRenderer.ts'

const areAsked = Promise.withResolvers<void>()
let slowRequests = 0
const web = await startWeb((request, response) => {
  response.setHeader('content-type', 'text/html')
  // Answers the repeated requests only, so that the browser ends while the first ones wait.
  const isUnanswered = request.url === '/slow' && ++slowRequests <= 3
  if (isUnanswered && slowRequests === 3) areAsked.resolve()
  if (request.url !== '/silent' && !isUnanswered) response.end('<h1>page</h1>')
})
const host = `127.0.0.1:${web.port}`
vi.stubEnv('TOLLBOOK_TEST_SECRET', 'a secret of the service')
// Other files share the process, and the doctor names variables that nothing reads.
afterFile(() => void vi.unstubAllEnvs())
const engine = await openRenderWorker({ clock: systemClock, log: silentLog, config: { allowHosts: [host] } })
afterFile(() => engine.close())
const mayRender = await decided()

async function decided(): Promise<boolean> {
  await awaitThat('the worker has a browser or not', () => !/being started/.test(engine.whyUnavailable() ?? ''))
  return engine.whyUnavailable() === undefined
}

const bounds = (some: Partial<RenderBounds> = {}): RenderBounds => ({
  standing: 'stranger',
  timeoutMs: 10_000,
  signal: new AbortController().signal,
  hurry: new AbortController().signal,
  onStall: () => undefined,
  onBrowserLost: () => undefined,
  ...some,
})
const shoot = (path: string, some: Partial<RenderBounds> = {}) =>
  engine.render(
    { kind: 'screenshot', order: { url: `http://${host}${path}`, width: 640, height: 480, fullPage: false } },
    bounds(some),
  )
const workerPid = () => assertPresent(childrenOf(process.pid, /renderWorker/)[0], 'the worker runs')

describe.skipIf(!mayRender)('the rendering worker', () => {
  test('renders, and says why it cannot', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { bytes, httpStatus, missing } = await shoot('/')
    expect(vi.getTimerCount(), 'limits that would end the worker later').toBe(0)
    vi.useRealTimers()
    expect([Buffer.from(bytes).toString('latin1', 1, 4), httpStatus, missing]).toEqual(['PNG', 200, []])
    const refused = engine.render(
      { kind: 'pdf', order: { page: { url: 'http://10.0.0.1/' }, format: 'A4', margin: noMargin } },
      bounds(),
    )
    await expect(refused).rejects.toMatchObject({ name: 'RenderFailure', kind: 'forbidden', endsPayment: false })
  })

  test('knows nothing of the service: no variable, no file, no connection; nor do its browser and its pages', () => {
    const worker = workerPid()
    const browser = assertPresent(browsersOf(worker)[0], 'the browser runs')
    expect(namesIn(worker)).toEqual([
      'HOME',
      'NODE_CHANNEL_FD',
      'NODE_CHANNEL_SERIALIZATION_MODE',
      'PATH',
      'TMPDIR',
      'TZ',
      'UV_THREADPOOL_SIZE',
    ])
    // The browser sets some more for its sandbox.
    const ofBrowser = /^(PATH|HOME|TMPDIR|TZ|LANG|PWD|LD_LIBRARY_PATH|FONTCONFIG_FILE|(CHROME|SBX)_\w+)$/
    expect(namesIn(browser).filter((name) => !ofBrowser.test(name))).toEqual([])
    for (const pid of [worker, browser, ...descendantsOf(browser)]) {
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('TOLLBOOK_TEST_SECRET')
      expect(filesOf(pid).filter((file) => ourFiles.has(file))).toEqual([])
    }
  })

  test('has a thread for each lookup of an allowed name that its open pages can make at once', async () => {
    await shoot('/')
    const tasks = `/proc/${workerPid()}/task`
    const names = readdirSync(tasks).map((thread) => readFileSync(`${tasks}/${thread}/comm`, 'utf8'))
    expect(names.filter((name) => name.startsWith('libuv-worker'))).toHaveLength(64)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'of a service that runs as root is `nobody`, and cannot change the browser',
    () => {
      const worker = workerPid()
      const browser = assertPresent(browsersOf(worker)[0], 'the browser runs')
      for (const pid of [worker, browser])
        expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m)
      expect(statSync(readlinkSync(`/proc/${browser}/exe`))).toMatchObject({ uid: 0, mode: 0o100755 })
    },
  )

  test('ends a job whose caller has gone', async () => {
    const gone = new AbortController()
    const job = shoot('/silent', { signal: gone.signal })
    gone.abort()
    await expect(job).rejects.toMatchObject({ kind: 'timeout', endsPayment: false })
  })

  test('renders the page of a suspect in a separate browser', async () => {
    const [shared = 0] = browsersOf(workerPid())
    const gone = new AbortController()
    const job = shoot('/silent', { standing: 'suspect', signal: gone.signal })
    const own = await awaitThat('the page has a separate browser', () =>
      browsersOf(workerPid()).find((browser) => browser !== shared),
    )
    gone.abort()
    await expect(job).rejects.toMatchObject({ kind: 'timeout' })
    await awaitThat('the browser of the suspect has ended', () => !isAlive(own))
    expect(isAlive(shared)).toBe(true)
  })

  test('repeats each page of a browser that ended in a separate browser, and says that it ended', async () => {
    let lost = 0
    const onBrowserLost = (): void => void lost++
    const jobs = [1, 2, 3].map(() => shoot('/slow', { onBrowserLost }))
    await areAsked.promise
    process.kill(assertPresent(browsersOf(workerPid())[0], 'the browser of strangers runs'), 'SIGKILL')
    for (const answer of await Promise.all(jobs)) expect(answer).toMatchObject({ httpStatus: 200 })
    expect(lost).toBe(3)
  })

  test('is started again when it is killed, and leaves no browser behind', async () => {
    const [killed, [browser]] = [workerPid(), browsersOf(workerPid())]
    const job = expect(shoot('/silent')).rejects.toMatchObject({ kind: 'broken', endsPayment: false })
    process.kill(killed, 'SIGKILL')
    await job
    await awaitThat('the browser of the killed worker has ended', () => !isAlive(browser ?? 0))
    await awaitThat('another worker has a browser', () => engine.whyUnavailable() === undefined)
    expect(workerPid()).not.toBe(killed)
    expect(await shoot('/')).toMatchObject({ httpStatus: 200 })
    await engine.close()
    expect(childrenOf(process.pid, /renderWorker/)).toEqual([])
  })
})

const noMargin = { top: '0', right: '0', bottom: '0', left: '0' }

function namesIn(pid: number): readonly string[] {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  return entries.flatMap((entry) => /^\w+(?==)/.exec(entry)?.[0] ?? []).toSorted()
}

/** Connections and files that this process has open. */
const ourFiles = new Set(filesOf(process.pid).filter((file) => /^socket:|^\/(?!dev\/|proc\/)/.test(file)))

function filesOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(`${folder}/${fd}`)]
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid, /./).flatMap((child) => [child, ...descendantsOf(child)])
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

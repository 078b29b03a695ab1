import { type ChildProcess, fork, type ForkOptions } from 'node:child_process'
import { once } from 'node:events'
import { homedir, tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { collectLastOutput } from './browserProcess.ts'
import { checkChromiumPath, findChromiums } from './chromium.ts'
import type { RenderBounds, RenderEngine, RenderWork } from './renderEngine.ts'
import { pauseBeforeRetry } from './pauseBeforeRetry.ts'
import { RenderFailure, type Rendered } from './renderer.ts'
import { unprivileged } from './unprivileged.ts'
import { type WorkerNews, type WorkerOrder, workerNews, type WorkerConfig } from './workerMessages.ts'

export interface RenderWorkerDeps {
  readonly clock: Clock
  readonly log: Log
  readonly config: WorkerConfig
}

const entry = fileURLToPath(new URL('renderWorker.ts', import.meta.url))
// Enough for the pictures of the pages that are open at the same time. A 24-megapixel picture is about 100 MB of text
// in the browser's protocol.
const heapMegabytesMax = 1_024
// Threads of libuv, as in the service. The lookup of an allowed host blocks a thread while a name server is silent, and
// new browsers need other threads to create their profiles.
const threads = 64
// The worker itself ends a job at the deadline, and its browser when it closes. The service kills the worker this much
// later.
const graceMs = 5_000

interface Job extends Pick<RenderBounds, 'onStall' | 'onBrowserLost'> {
  readonly resolve: (rendered: Rendered) => void
  readonly reject: (failure: RenderFailure) => void
}

interface WorkerState extends RenderWorkerDeps {
  child: ChildProcess | undefined
  unavailable: string | undefined
  problem: string | undefined
  /** Number of times in a row that the worker ended before a browser was available. */
  ends: number
  /** True if the worker runs as `nobody`, because the service runs as root. */
  dropsRoot: boolean
  jobsStarted: number
  isHeard: boolean
  readonly jobs: Map<number, Job>
  readonly closing: AbortController
}

const isStarting = 'the browser is being started; try again in a few seconds'

/** Opens an engine in a worker process, which is restarted when it ends. Throws if CHROMIUM_PATH is wrong. */
export async function openRenderWorker(deps: RenderWorkerDeps): Promise<RenderEngine> {
  await checkChromiumPath(deps.config.chromiumPath)
  const worker: WorkerState = {
    ...deps,
    child: undefined,
    unavailable: isStarting,
    problem: undefined,
    ends: 0,
    dropsRoot: process.getuid?.() === 0,
    isHeard: false,
    jobsStarted: 0,
    jobs: new Map(),
    closing: new AbortController(),
  }
  void prepare(worker)
  return {
    whyUnavailable: () => worker.unavailable,
    problem: () => worker.problem,
    render: (work, bounds) => render(worker, work, bounds),
    close: () => close(worker),
  }
}

/**
 * Unpacks the browser while the service runs as root, so that neither the worker nor a page that controls it can change
 * the program.
 */
async function prepare(worker: WorkerState): Promise<void> {
  const { config, closing, log, dropsRoot } = worker
  try {
    if (dropsRoot) await findChromiums(config.chromiumPath, closing.signal).next()
  } catch (error) {
    log.warn({ event: 'browser_not_unpacked', error: describeError(error) })
  }
  if (!closing.signal.aborted) start(worker)
}

function start(worker: WorkerState): void {
  const child = forkWorker(worker)
  if (child === undefined) return
  worker.child = child
  const lastWords = collectLastOutput(child.stderr)
  child.on('message', (message) => hear(worker, message))
  child.once('error', (error) => ended(worker, child, describeError(error)))
  child.once('exit', (code, signal) => ended(worker, child, `${signal ?? code}${lastWords()}`))
}

/**
 * Starts the worker process. Undefined if the process cannot be created: a later attempt then keeps the user of the
 * service.
 */
function forkWorker(worker: WorkerState): ChildProcess | undefined {
  try {
    return fork(entry, [JSON.stringify(worker.config)], forkOptions(worker))
  } catch (error) {
    // `fork` throws EINVAL for root of a user namespace that does not map the account `nobody`.
    ended(worker, undefined, describeError(error))
    return undefined
  }
}

function forkOptions({ dropsRoot }: WorkerState): ForkOptions {
  return {
    // Do not pass on the environment of the service, because it contains keys and the address of the database.
    env: {
      PATH: '/usr/bin:/bin',
      HOME: homedir(),
      TMPDIR: tmpdir(),
      TZ: 'UTC',
      UV_THREADPOOL_SIZE: String(threads),
    },
    execArgv: [`--max-old-space-size=${heapMegabytesMax}`],
    // Use the binary message format, so that pictures are not encoded as JSON.
    serialization: 'advanced',
    // Detach the worker, so that Ctrl-C reaches only the service, which ends the worker after its last job.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    ...(dropsRoot ? unprivileged : {}),
  }
}

/**
 * Handles the end of a worker. Runs once for each worker, although some processes emit both `error` and `exit`. A
 * failed start emits `error`.
 */
function ended(worker: WorkerState, child: ChildProcess | undefined, how: string): void {
  if (worker.child !== child) return
  worker.child = undefined
  worker.unavailable = isStarting
  failAll(worker)
  if (worker.closing.signal.aborted) return
  worker.ends++
  worker.log.warn({ event: 'render_worker_ended', ends: worker.ends, how, asNobody: worker.dropsRoot })
  // Keep the user of the service next time, because `nobody` may not be able to read this program, for example below
  // /root.
  if (!worker.isHeard) worker.dropsRoot = false
  void startLater(worker)
}

async function startLater(worker: WorkerState): Promise<void> {
  if (await pauseBeforeRetry(worker.clock, worker.ends, worker.closing.signal)) start(worker)
}

function failAll({ jobs }: WorkerState): void {
  for (const job of jobs.values()) job.reject(new RenderFailure('broken', 'the rendering process ended'))
  jobs.clear()
}

function hear(worker: WorkerState, message: unknown): void {
  const parsed = workerNews.safeParse(message)
  if (parsed.success) return obey(worker, parsed.data)
  worker.log.warn({ event: 'render_worker_unintelligible', problem: parsed.error.issues[0]?.message })
  worker.child?.kill('SIGKILL')
}

function obey(worker: WorkerState, news: WorkerNews): void {
  worker.isHeard = true
  if (news.type === 'log') return worker.log[news.level](news.fields)
  if (news.type === 'state') {
    worker.unavailable = news.unavailable
    worker.problem = news.problem
    if (news.unavailable === undefined) worker.ends = 0
    return
  }
  const job = worker.jobs.get(news.id)
  if (news.type === 'stalled') return job?.onStall()
  if (news.type === 'browserLost') return job?.onBrowserLost()
  worker.jobs.delete(news.id)
  if (news.type === 'failed')
    return job?.reject(new RenderFailure(news.kind, news.message, { endsPayment: news.endsPayment }))
  const { httpStatus, finalUrl, ...rest } = news.rendered
  job?.resolve({ ...rest, httpStatus, finalUrl })
}

async function render(worker: WorkerState, work: RenderWork, bounds: RenderBounds): Promise<Rendered> {
  const { child } = worker
  if (child === undefined) throw new RenderFailure('broken', 'the rendering process is being started')
  const id = worker.jobsStarted++
  const send = (order: WorkerOrder): void => void child.send(order, () => undefined)
  const abandon = (): void => send({ type: 'abandon', id })
  const hurry = (): void => send({ type: 'hurry', id })
  const late = setTimeout(() => child.kill('SIGKILL'), bounds.timeoutMs + graceMs)
  bounds.signal.addEventListener('abort', abandon)
  bounds.hurry.addEventListener('abort', hurry)
  try {
    return await new Promise<Rendered>((resolve, reject) => {
      worker.jobs.set(id, { ...bounds, resolve, reject })
      send({ type: 'render', id, work, standing: bounds.standing, timeoutMs: bounds.timeoutMs })
      if (bounds.signal.aborted) abandon()
    })
  } finally {
    clearTimeout(late)
    bounds.signal.removeEventListener('abort', abandon)
    bounds.hurry.removeEventListener('abort', hurry)
  }
}

async function close(worker: WorkerState): Promise<void> {
  worker.closing.abort()
  const { child } = worker
  if (child?.pid === undefined) return
  const exited = once(child, 'exit')
  const late = setTimeout(() => child.kill('SIGKILL'), graceMs)
  child.send({ type: 'close' } satisfies WorkerOrder, () => undefined)
  await exited
  clearTimeout(late)
}

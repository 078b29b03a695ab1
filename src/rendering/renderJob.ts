import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'puppeteer'
import type { EgressProxy } from './egressProxy.ts'
import { tooLarge } from './navigationWatch.ts'
import { createPlaceWatch, placeTickMs } from './placeWatch.ts'
import type { RenderStage } from './renderEngine.ts'
import { finalUrlLengthMax, RenderFailure, type Rendered } from './renderer.ts'
import type { RenderTask } from './renderTask.ts'
import { visitPage, type Visit } from './visitPage.ts'

/** Network access of a job; the tests of the guard have one without restrictions. */
export interface Egress {
  /** Hosts that may be reached though their addresses are not global: `name` or `name:port`. */
  readonly allowHosts: readonly string[]
  readonly browserArguments: readonly string[]
  open(): Promise<EgressProxy>
  /** Shuts what a proxyOptions does not see, before the page loads anything. */
  guardPage(page: Page): Promise<void>
}

export interface JobDeps {
  readonly egress: Egress
  /** Ends the job; the page is closed whatever it does. */
  readonly signal: AbortSignal
  readonly loadTimeoutMs: number
  /** Others need the room of a page that gets nothing. */
  readonly hurry: AbortSignal
  /** The page passes its place on. */
  readonly onStall: () => void
  readonly onStage: (stage: RenderStage) => void
}

/**
 * One job in a separate browser context: no cookie, cache or storage of another caller, one proxy to the world, both
 * gone when it ends.
 */
export async function renderJob(browser: Browser, task: RenderTask, deps: JobDeps): Promise<JobOutcome> {
  const { egress, signal, onStage } = deps
  onStage('opening')
  const proxy = await egress.open()
  const watch = createPlaceWatch({ bytesMoved: proxy.bytesMoved, onStall: deps.onStall })
  const watching = setInterval(watch.tick, placeTickMs)
  const ended = whenAborted(signal)
  const opening = openContext(browser, proxy)
  const outcome = await Promise.race([
    opening.then((context) => renderIn(context, task, { ...deps, proxy })),
    ended.promise,
  ]).then(
    (rendered) => ({ rendered }),
    (error: unknown) => ({ failure: asFailure(error, { proxy, signal, browser }) }),
  )
  onStage('closing')
  ended.forget()
  clearInterval(watching)
  // The proxy first: nothing may be fetched for a job that is over.
  await proxy.close()
  return { ...outcome, obeyed: await closes(opening) }
}

export type JobOutcome = ({ readonly rendered: Rendered } | { readonly failure: RenderFailure }) & {
  /** The browser closed what the job had opened. One that does not is of no use to the next job. */
  readonly obeyed: boolean
}

const closeTimeoutMs = 2_000

function closes(opening: Promise<BrowserContext>): Promise<boolean> {
  const closed = opening
    .then((context) => context.close())
    .then(
      () => true,
      () => false,
    )
  return Promise.race([closed, sleep(closeTimeoutMs, false, { ref: false })])
}

function openContext(browser: Browser, proxy: EgressProxy): Promise<BrowserContext> {
  const proxyOptions =
    proxy.proxyServer === '' ? {} : { proxyServer: proxy.proxyServer, proxyBypassList: ['<-loopback>'] }
  return browser.createBrowserContext({ ...proxyOptions, downloadBehavior: { policy: 'deny' } })
}

function whenAborted(signal: AbortSignal) {
  let onAbort = (): void => undefined
  const promise = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(new RenderFailure('timeout', 'the page was not ready in time'))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
  })
  // It may be rejected when no caller waits any more.
  promise.catch(() => undefined)
  return { promise, forget: () => signal.removeEventListener('abort', onAbort) }
}

interface GuardedJob extends JobDeps {
  readonly proxy: EgressProxy
}

async function renderIn(context: BrowserContext, task: RenderTask, job: GuardedJob): Promise<Rendered> {
  const page = await context.newPage()
  await job.egress.guardPage(page)
  const crashed = new Promise<never>((_resolve, reject) => {
    page.once('error', (cause) => {
      reject(new RenderFailure('broken', 'the page used up its memory', { cause, endsPayment: true }))
    })
  })
  crashed.catch(() => undefined)
  return Promise.race([visitAndCapture(page, task, job), crashed])
}

async function visitAndCapture(page: Page, task: RenderTask, job: GuardedJob): Promise<Rendered> {
  const { proxy, onStage } = job
  onStage('loading')
  const visit = await visitPage(page, task, job)
  onStage('capturing')
  const captured = await task.capture(page, visit.world).finally(visit.check)
  // Again: the page may have led itself elsewhere while its picture was taken.
  const missing = [...visit.missing, ...captured.missing]
  return { ...captured, ...resultOf(page, visit), missing, refusedRequests: proxy.refusedCount() }
}

function resultOf(page: Page, { httpStatus, missingGlyphs }: Visit) {
  return {
    httpStatus,
    missingGlyphs,
    finalUrl: httpStatus === undefined ? undefined : page.url().slice(0, finalUrlLengthMax),
  }
}

interface Circumstances {
  readonly proxy: EgressProxy
  readonly signal: AbortSignal
  readonly browser: Browser
}

/** Translates errors of the browser into our words. The cause that ended the job comes before the browser's error. */
function asFailure(error: unknown, { proxy, signal, browser }: Circumstances): RenderFailure {
  if (proxy.isOverdrawn()) return tooLarge(error)
  if (signal.aborted) return new RenderFailure('timeout', 'the page was not ready in time', { cause: error })
  if (error instanceof RenderFailure) return error
  if (!browser.connected) return new RenderFailure('broken', 'the browser ended', { cause: error })
  return new RenderFailure('broken', 'the page could not be rendered', { cause: error })
}

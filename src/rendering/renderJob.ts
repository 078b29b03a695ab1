import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'puppeteer'
import type { EgressProxy } from './egressProxy.ts'
import { tooLarge } from './navigationWatch.ts'
import { createPlaceWatch, placeTickMs } from './placeWatch.ts'
import { finalUrlLengthMax, RenderFailure, type Rendered } from './renderer.ts'
import type { RenderTask } from './renderTask.ts'
import { visitPage, type Visit } from './visitPage.ts'

/** Tests replace this network access with unrestricted access. */
export interface Egress {
  readonly allowHosts: readonly string[]
  readonly browserArguments: readonly string[]
  open(): Promise<EgressProxy>
  /** Called before the page loads anything, for the access that the proxy does not see. */
  guardPage(page: Page): Promise<void>
}

export interface JobDeps {
  readonly egress: Egress
  /** If this signal is aborted, the job fails and its page is closed, whatever the state of the page. */
  readonly signal: AbortSignal
  readonly loadTimeoutMs: number
  readonly hurry: AbortSignal
  readonly onStall: () => void
}

/** Renders in a separate browser context, which has no cookies, cache or storage of other callers. */
export async function renderJob(browser: Browser, task: RenderTask, deps: JobDeps): Promise<JobOutcome> {
  const { egress, signal } = deps
  const proxy = await egress.open()
  const watch = createPlaceWatch(proxy.bytesMoved, deps.onStall)
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
  ended.forget()
  clearInterval(watching)
  // Close the proxy first, so that an ended job fetches nothing more.
  await proxy.close()
  return { ...outcome, obeyed: await closes(opening) }
}

export type JobOutcome = ({ readonly rendered: Rendered } | { readonly failure: RenderFailure }) & {
  /** A browser that does not close the job's context is replaced. */
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
  // Prevent an unhandled rejection when the job has already ended.
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
  const visit = await visitPage(page, task, job)
  const captured = await task.capture(page, visit.world).finally(visit.check)
  const missing = [...visit.missing, ...captured.missing]
  return { ...captured, ...resultOf(page, visit), missing, refusedRequests: job.proxy.refusedCount() }
}

function resultOf(page: Page, { httpStatus, missingGlyphs }: Visit) {
  return {
    httpStatus,
    missingGlyphs,
    finalUrl: httpStatus === undefined ? undefined : page.url().slice(0, finalUrlLengthMax),
  }
}

/**
 * Returns the failure of a job. If a known cause has ended the job, that cause is reported instead of the browser's
 * error.
 */
function asFailure(
  error: unknown,
  { proxy, signal, browser }: Pick<GuardedJob, 'proxy' | 'signal'> & { readonly browser: Browser },
): RenderFailure {
  if (proxy.isOverdrawn()) return tooLarge(error)
  if (signal.aborted) return new RenderFailure('timeout', 'the page was not ready in time', { cause: error })
  if (error instanceof RenderFailure) return error
  if (!browser.connected) return new RenderFailure('broken', 'the browser ended', { cause: error })
  return new RenderFailure('broken', 'the page could not be rendered', { cause: error })
}

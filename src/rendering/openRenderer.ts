import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { createPaymentBudgets, type PaymentBudgets } from './paymentBudgets.ts'
import type { RenderEngine, RenderWork } from './renderEngine.ts'
import { createRenderQueue, type RenderQueue, type RenderTurn, type TurnOutcome } from './renderQueue.ts'
import { type Buyer, RenderFailure, type Rendered, type Renderer } from './renderer.ts'

export interface RendererDeps {
  readonly clock: Clock
  readonly allowHosts: readonly string[]
  /** 0: nothing is rendered, and no engine is opened. */
  readonly concurrency: number
  /** Browser time that one payment buys, for all its attempts together. */
  readonly paymentTimeMs?: number
  readonly jobTimeoutMs?: number
  readonly openEngine: () => Promise<RenderEngine>
  readonly onAttempt?: (attempt: RenderAttempt) => void
}

export interface RenderAttempt {
  readonly payer: string
  readonly payment: string
  readonly outcome: TurnOutcome
  readonly failure?: string
  /** Browser time of all attempts of the payment, including this one. */
  readonly paymentTimeMs: number
}

// Shorter than the time limit of a handler (30 s by default), so that a job that has waited still has its full time.
const jobTimeoutMsDefault = 20_000
const paymentTimeMsDefault = 30_000
// Quotes are refused beyond this many waiting jobs per place. The queue is longer, so that callers who have paid are
// not refused.
const waitingPerPlaceMax = 10
const queuePerPlaceMax = 50
// Stalled pages are bounded, because such a page has given its place to another job but stays open and uses memory.
const stalledPerPlaceMax = 4

/** Opens the renderer. Payers and sites take turns, and a payment buys limited browser time. */
export async function openRenderer(deps: RendererDeps): Promise<Renderer> {
  const { clock, allowHosts, concurrency, paymentTimeMs = paymentTimeMsDefault } = deps
  if (concurrency === 0) return { ...switchedOff, allowHosts }
  const engine = await deps.openEngine()
  const queue = createRenderQueue({
    clock,
    placesMax: concurrency,
    waitingMax: concurrency * queuePerPlaceMax,
    stalledMax: concurrency * stalledPerPlaceMax,
  })
  const budgets = createPaymentBudgets(paymentTimeMs)
  const { jobTimeoutMs = jobTimeoutMsDefault, onAttempt = () => undefined } = deps
  const rendering = { clock, engine, queue, budgets, jobTimeoutMs, onAttempt }
  return {
    allowHosts,
    whyNoQuote: (payer) =>
      queue.aheadCount(payer) >= concurrency * waitingPerPlaceMax
        ? 'too many pages are being rendered'
        : engine.whyUnavailable(),
    whyUnavailable: () => engine.whyUnavailable(),
    problem: engine.problem,
    screenshot: (order, buyer) => renderInTurn(rendering, { kind: 'screenshot', order }, buyer),
    pdf: (order, buyer) => renderInTurn(rendering, { kind: 'pdf', order }, buyer),
    close: () => engine.close(),
  }
}

interface Rendering {
  readonly clock: Clock
  readonly engine: RenderEngine
  readonly queue: RenderQueue
  readonly budgets: PaymentBudgets
  readonly jobTimeoutMs: number
  readonly onAttempt: (attempt: RenderAttempt) => void
}

async function renderInTurn(deps: Rendering, work: RenderWork, buyer: Buyer): Promise<Rendered> {
  const { queue, budgets, onAttempt } = deps
  const { payer, payment } = buyer
  const report = (outcome: TurnOutcome, failure: { readonly failure?: string }): void =>
    onAttempt({ payer, payment, outcome, ...failure, paymentTimeMs: budgets.spentMs(payment) })
  try {
    const turn = await queue.enter({ ...buyer, site: siteOf(work, buyer) })
    if (turn === 'full') throw new RenderFailure('broken', 'too many pages are waiting')
    if (turn === 'aborted') throw new RenderFailure('timeout', 'the page waited too long for its turn')
    const rendered = await renderOnTurn(deps, work, { ...buyer, turn })
    report('rendered', {})
    return rendered
  } catch (error) {
    report(outcomeOf(error), { failure: describeError(error) })
    throw error
  }
}

async function renderOnTurn(
  { clock, engine, budgets, jobTimeoutMs }: Rendering,
  work: RenderWork,
  { payment, signal, turn }: Buyer & { readonly turn: RenderTurn },
): Promise<Rendered> {
  const startedAtMs = clock.monotonicMs()
  const bounds = {
    timeoutMs: Math.min(jobTimeoutMs, budgets.leftMs(payment)),
    signal,
    standing: turn.standing,
    hurry: turn.hurry,
    onStall: turn.stall,
    onBrowserLost: turn.loseBrowser,
  }
  const ended = await engine.render(work, bounds).then(
    (rendered) => ({ rendered }),
    (error: unknown) => ({ error }),
  )
  budgets.charge(payment, clock.monotonicMs() - startedAtMs)
  turn.leave('rendered' in ended ? 'rendered' : outcomeOf(ended.error))
  if ('rendered' in ended) return ended.rendered
  const { error } = ended
  if (error instanceof RenderFailure && !error.endsPayment && budgets.isSpent(payment))
    throw new RenderFailure(error.kind, error.message, { cause: error, endsPayment: true })
  throw error
}

function outcomeOf(error: unknown): TurnOutcome {
  return error instanceof RenderFailure && error.endsPayment ? 'failed' : 'interrupted'
}

/**
 * Returns the site of a job. Subdomains count as one site, because their owner can create any number of them. Content
 * that the caller sends counts for the payer.
 */
function siteOf(work: RenderWork, { payer }: Buyer): string {
  const page = work.kind === 'pdf' ? work.order.page : work.order
  if (!('url' in page)) return payer
  const hostname = URL.parse(page.url)?.hostname ?? ''
  return /^[\d.]+$|^\[/.test(hostname) ? hostname : hostname.split('.').slice(-2).join('.')
}

const switchedOff: Omit<Renderer, 'allowHosts'> = {
  whyNoQuote: () => 'this server renders no pages',
  whyUnavailable: () => 'this server renders no pages',
  problem: () => undefined,
  screenshot: () => Promise.reject(new RenderFailure('broken', 'this server renders no pages')),
  pdf: () => Promise.reject(new RenderFailure('broken', 'this server renders no pages')),
  close: () => Promise.resolve(),
}

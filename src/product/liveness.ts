import type { Clock } from '@tollbook/core/clock'
import { UpstreamFailure } from './upstreamFailure.ts'

/**
 * Which providers of one answer work. A provider counts once it has answered a probe or a buyer, until it fails a probe. A
 * product is quoted only while at least one of its providers counts. Probes run in the background, never during a request.
 */
export interface Liveness {
  answers(name: string): boolean
  someAnswer(): boolean
  /** A buyer got an answer. */
  noteAnswer(name: string): void
  /** A buyer got none, so the provider is probed soon. */
  noteFailure(name: string, failure: UpstreamFailure): void
  isDue(): boolean
  /** Probes until one provider answers; never throws `UpstreamFailure`. */
  probe(): Promise<void>
}

/** A provider whose answers decide whether a product is offered. */
export interface ProbedProvider {
  readonly name: string
  /** A probe costs part of a paid or scarce quota, so others are probed first. */
  readonly isMetered?: boolean
  whyUnavailable(): string | undefined
  /** Asks for something that the provider certainly has. False when it made no request. Throws only `UpstreamFailure`. */
  probe(): Promise<boolean>
}

export interface LivenessDeps {
  readonly clock: Clock
  /** False: every provider counts from the start. */
  readonly isProbed: boolean
}

// A recovered provider is noticed within a minute. One that fails is not asked more often than this.
const gapMinMs = 2_000
const gapMaxMs = 60_000
// 96 requests a day at most, of the 800 that the smallest metered plan has.
const meteredGapMs = 15 * 60_000
// Without buyers, a provider that answered is probed again after this time.
const idleMs = 30 * 60_000

interface ProviderState extends ProbedProvider {
  answers: boolean
  isDoubted: boolean
  heardAtMs: number
  probedAtMs: number
}

interface State extends LivenessDeps {
  /** Providers without a quota first. */
  readonly standings: readonly ProviderState[]
  nextAtMs: number
  gapMs: number
}

/** State is in memory of this instance. Without probes every provider counts as answering. */
export function createLiveness(deps: LivenessDeps, providers: readonly ProbedProvider[]): Liveness {
  const startedAtMs = deps.clock.monotonicMs()
  const standings = providers
    .toSorted((a, b) => Number(a.isMetered ?? false) - Number(b.isMetered ?? false))
    .map((provider): ProviderState => {
      const probe = () => provider.probe()
      const whyUnavailable = () => provider.whyUnavailable()
      const { name, isMetered = false } = provider
      const unheard = { isDoubted: false, heardAtMs: startedAtMs, probedAtMs: Number.NEGATIVE_INFINITY }
      return { name, isMetered, whyUnavailable, probe, answers: !deps.isProbed, ...unheard }
    })
  const state: State = { ...deps, standings, nextAtMs: startedAtMs, gapMs: gapMinMs }
  const find = (name: string) => standings.find((standing) => standing.name === name)
  return {
    answers: (name) => find(name)?.answers === true,
    someAnswer: () => standings.some(({ answers }) => answers),
    noteAnswer: (name) => noteAnswer(state, find(name)),
    noteFailure: (name, failure) => noteFailure(find(name), failure),
    isDue: () => isDue(state),
    probe: () => probe(state),
  }
}

function noteAnswer({ clock }: State, standing: ProviderState | undefined): void {
  if (standing === undefined) return
  standing.answers = true
  standing.isDoubted = false
  standing.heardAtMs = clock.monotonicMs()
}

/** Limits, pauses and missing items show that the provider works. */
const harmless = new Set<UpstreamFailure['kind']>(['rate_limited', 'resting', 'not_found', 'not_covered', 'incomplete'])

function noteFailure(standing: ProviderState | undefined, { kind }: UpstreamFailure): void {
  if (standing !== undefined && !harmless.has(kind)) standing.isDoubted = true
}

function isDue(state: State): boolean {
  const nowMs = state.clock.monotonicMs()
  return state.isProbed && nowMs >= state.nextAtMs && state.standings.some((standing) => isWanted(state, standing))
}

/** Doubted, silent for long, or needed because no provider can be asked. */
function isWanted(state: State, standing: ProviderState): boolean {
  const nowMs = state.clock.monotonicMs()
  if (standing.whyUnavailable() !== undefined) return false
  if (standing.isMetered === true && nowMs - standing.probedAtMs < meteredGapMs) return false
  if (standing.answers) return standing.isDoubted || nowMs - standing.heardAtMs >= idleMs
  return !isSellable(state)
}

function isSellable({ standings }: State): boolean {
  return standings.some(
    ({ answers, isDoubted, whyUnavailable }) => answers && !isDoubted && whyUnavailable() === undefined,
  )
}

async function probe(state: State): Promise<void> {
  const { clock, standings } = state
  for (const standing of standings) if (isWanted(state, standing)) await probeOne(state, standing)
  // Between three and five quarters of it, so that instances that started together do not probe together.
  const spread = 0.75 + (clock.monotonicMs() % 1) / 2
  state.gapMs = isSellable(state) ? gapMinMs : Math.min(state.gapMs * 2, gapMaxMs)
  state.nextAtMs = clock.monotonicMs() + state.gapMs * spread
}

async function probeOne(state: State, standing: ProviderState): Promise<void> {
  standing.probedAtMs = state.clock.monotonicMs()
  try {
    if (await standing.probe()) noteAnswer(state, standing)
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    // A provider that limits us keeps its standing: a limit does not show whether its answers are good.
    if (error.kind !== 'rate_limited' && error.kind !== 'resting') standing.answers = false
    standing.isDoubted = false
  }
}

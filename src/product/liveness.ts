import type { Clock } from '@tollbook/core/clock'
import { UpstreamFailure } from './upstreamFailure.ts'

/** A provider counts as working from its first answer until a probe fails for another reason than a limit. */
export interface Liveness {
  answers(name: string): boolean
  someAnswer(): boolean
  noteAnswer(name: string): void
  noteFailure(name: string, failure: UpstreamFailure): void
  isDue(): boolean
  /**
   * Probes working providers that failed for a buyer or were silent, and the others until one provider works. Never
   * throws `UpstreamFailure`.
   */
  probe(): Promise<void>
}

export interface ProbedProvider {
  readonly name: string
  /** Providers whose probe uses part of a paid or scarce quota are probed last. */
  readonly isMetered?: boolean
  whyUnavailable(): string | undefined
  /** Requests an item that the provider certainly has. False if no request was sent. Throws only `UpstreamFailure`. */
  probe(): Promise<boolean>
}

export interface LivenessDeps {
  readonly clock: Clock
  /** False: every provider counts as working from the start. */
  readonly isProbed: boolean
}

// While no provider works, the interval doubles from 4 s to a minute. Otherwise it is 2 s.
const gapMinMs = 2_000
const gapMaxMs = 60_000
// At most 96 probes a day, because some plans have only a few hundred requests a day.
const meteredGapMs = 15 * 60_000
// A working provider is probed again if it has not answered for this time.
const idleMs = 30 * 60_000

interface ProviderState extends ProbedProvider {
  answers: boolean
  isDoubted: boolean
  heardAtMs: number
  probedAtMs: number
}

interface State extends LivenessDeps {
  readonly standings: readonly ProviderState[]
  nextAtMs: number
  gapMs: number
}

export function createLiveness(deps: LivenessDeps, providers: readonly ProbedProvider[]): Liveness {
  const startedAtMs = deps.clock.monotonicMs()
  const standings = providers
    .toSorted((a, b) => Number(a.isMetered ?? false) - Number(b.isMetered ?? false))
    .map((provider): ProviderState => {
      const unheard = { isDoubted: false, heardAtMs: startedAtMs, probedAtMs: Number.NEGATIVE_INFINITY }
      return { ...provider, answers: !deps.isProbed, ...unheard }
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

/** Limits, pauses, missing items and incomplete answers do not show that a provider fails. */
const harmless = new Set<UpstreamFailure['kind']>(['rate_limited', 'resting', 'not_found', 'not_covered', 'incomplete'])

function noteFailure(standing: ProviderState | undefined, { kind }: UpstreamFailure): void {
  if (standing !== undefined && !harmless.has(kind)) standing.isDoubted = true
}

function isDue(state: State): boolean {
  const nowMs = state.clock.monotonicMs()
  return state.isProbed && nowMs >= state.nextAtMs && state.standings.some((standing) => isWanted(state, standing))
}

/**
 * True if the provider must be probed now. Two probes of a metered provider have a minimum distance. A working provider
 * is probed after a failure for a buyer or half an hour of silence. Another provider is probed only while none works.
 */
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
  // Vary the interval from 75 % to 125 %, so that instances that started together do not probe together.
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
    // Keep the last result after a rate limit, because a limit does not show whether the provider works.
    if (error.kind !== 'rate_limited' && error.kind !== 'resting') standing.answers = false
    standing.isDoubted = false
  }
}

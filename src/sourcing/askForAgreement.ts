import { assertPresent } from '@tollbook/core/assert'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import {
  askOne,
  chainMsMax,
  noAnswerOf,
  providerMsMax,
  ProvidersFailed,
  type ProvidersInTurn,
  type ProviderAnswer,
} from './askInTurn.ts'
import type { Provider, Witness } from './provider.ts'
import {
  type AgreedReading,
  type AgreementRule,
  isLargeMove,
  type Judgement,
  judgeReadings,
  type Reading,
} from './agreement/judgeReadings.ts'
import { familyOf } from './agreement/figures.ts'
import type { LastKnown } from './agreement/lastKnown.ts'

export interface AgreementPolicy<Query> extends AgreementRule {
  readonly keyOf: (query: Query) => string
  readonly lastKnown: LastKnown
  /** Sources that confirm the main figure but are never sold, such as exchanges. */
  readonly witnesses?: readonly Witness<Query>[]
}

/** Thrown if the sources contradict each other, or if the only answer lacks the evidence to be sold. */
export class ProvidersDiffer extends ProvidersFailed {
  readonly isAlone: boolean

  constructor(failures: readonly UpstreamFailure[], isAlone: boolean) {
    super(failures)
    this.isAlone = isAlone
  }
}

interface Heard<Data> {
  readonly reading: Reading
  /** Undefined for a witness, which has no complete answer. */
  readonly answer: ProviderAnswer<Data> | undefined
}

interface Inquiry<Query, Data> {
  readonly asking: ProvidersInTurn<Query, Data>
  readonly policy: AgreementPolicy<Query>
  readonly query: Query
  readonly endMs: number
  readonly heard: Heard<Data>[]
  readonly failures: UpstreamFailure[]
  readonly silent: string[]
}

/**
 * Queries some sources at once, and then further sources until the answers agree. Throws `ItemUnknown` or
 * `ProvidersFailed` if no answer can be sold.
 */
export async function askForAgreement<Query, Data>(
  asking: ProvidersInTurn<Query, Data>,
  policy: AgreementPolicy<Query>,
  query: Query,
): Promise<ProviderAnswer<Data>> {
  const { clock, options } = asking
  const endMs = clock.monotonicMs() + chainMsMax
  const inquiry: Inquiry<Query, Data> = { asking, policy, query, endMs, heard: [], failures: [], silent: [] }
  const lastKnown = policy.lastKnown.find(policy.keyOf(query))
  const witnesses = witnessesOf(policy, query)
  const needsSecond = hasSeveralSources(options.providers, policy, query)
  const waiting = availableFirst(options.providers, query)
  let judged: Judgement = { kind: 'none' }
  // Start with one provider if witnesses can confirm the price and a last known value can confirm the other figures.
  // Otherwise start with two.
  let size = witnesses.length > 0 && lastKnown !== undefined ? 1 : 2
  for (let asked = 0; waiting.length > 0; asked++) {
    const wave = waiting.splice(0, size).map((provider) => readProvider(inquiry, provider))
    const confirming = asked === 0 ? witnesses.map((witness) => readWitness(inquiry, witness)) : []
    const heard = await Promise.all([...wave, ...confirming])
    inquiry.heard.push(...heard.filter((one) => one !== undefined))
    const readings = inquiry.heard.map(({ reading }) => reading)
    judged = judgeReadings(readings, policy, { lastKnown, needsSecond })
    if (isSettled(judged, policy)) break
    size = judged.kind === 'none' ? 2 : 1
  }
  return concluded(inquiry, judged)
}

function witnessesOf<Query>({ witnesses = [] }: AgreementPolicy<Query>, query: Query): readonly Witness<Query>[] {
  return witnesses.filter((witness) => witness.covers(query))
}

/**
 * True if several sources have the item. A single answer is then not enough, even while the other sources do not
 * answer.
 */
function hasSeveralSources<Query, Data>(
  providers: readonly Provider<Query, Data>[],
  policy: AgreementPolicy<Query>,
  query: Query,
): boolean {
  const covering = providers.filter((provider) => provider.covers?.(query) !== false)
  return covering.length + witnessesOf(policy, query).length > 1
}

/** Lets the service refuse before it quotes. Undefined: an answer can be confirmed. */
export function whyUnconfirmable<Query, Data>(
  providers: readonly Provider<Query, Data>[],
  policy: AgreementPolicy<Query>,
  query: Query,
): string | undefined {
  if (!hasSeveralSources(providers, policy, query) || policy.lastKnown.find(policy.keyOf(query)) !== undefined)
    return undefined
  const ready = providers.filter(
    (provider) => provider.covers?.(query) !== false && provider.whyUnavailable() === undefined,
  )
  return ready.length + witnessesOf(policy, query).length > 1 || ready.some(({ hasSeries }) => hasSeries === true)
    ? undefined
    : 'only one source can be asked at the moment, and another has to confirm its answer'
}

/** Providers that rest or do not cover the item come last, because they fail without a request. */
function availableFirst<Query, Data>(providers: readonly Provider<Query, Data>[], query: Query) {
  const canAsk = (provider: Provider<Query, Data>) =>
    Number(provider.covers?.(query) !== false && provider.whyUnavailable() === undefined)
  return providers.toSorted((one, other) => canAsk(other) - canAsk(one))
}

function isAgreed(judged: Judgement): judged is AgreedReading {
  return 'sold' in judged
}

function isSettled(judged: Judgement, rule: AgreementRule): boolean {
  return isAgreed(judged) && judged.kind === 'agreed' && judged.isConfirmed && !isLargeMove(judged.sold, rule)
}

function concluded<Query, Data>(inquiry: Inquiry<Query, Data>, judged: Judgement): ProviderAnswer<Data> {
  const { asking, heard, failures, policy, query } = inquiry
  if (judged.kind === 'none') throw noAnswerOf(failures)
  if (!isAgreed(judged)) throw new ProvidersDiffer(failures, judged.kind === 'doubted')
  const { answer } = assertPresent(
    heard.find(({ reading }) => reading === judged.sold),
    'the sold reading was heard',
  )
  const sold = assertPresent(answer, 'a complete reading has its answer')
  // Remember only answers on which sources agree. If single answers confirmed each other, the price could drift far in
  // small steps.
  if (judged.kind === 'agreed' || !hasSeveralSources(asking.options.providers, policy, query))
    policy.lastKnown.remember(policy.keyOf(query), judged.sold.figures)
  return {
    ...sold,
    observation: { ...sold.observation, meta: { ...sold.observation.meta, agreement: noteOf(inquiry, judged) } },
    usedProviders: judged.near.map(({ source }) => source),
  }
}

/** Returns the evidence that `meta.agreement` shows to the buyer. */
function noteOf<Query, Data>({ policy, silent }: Inquiry<Query, Data>, agreed: AgreedReading): Json {
  const { main, tolerances } = policy
  const tolerance = tolerances[main]
  const shown = ({ source, figures, asOfMs }: Reading) => ({
    source,
    ...(main in figures ? { [main]: figures[main] ?? null } : {}),
    ...(asOfMs === undefined ? {} : { asOf: isoTime(asOfMs) }),
  })
  const { kind, near, apart, unconfirmed } = agreed
  return {
    kind,
    ...(tolerance !== undefined && 'percent' in tolerance ? { tolerancePercent: tolerance.percent } : {}),
    sources: near.map(shown),
    ...(apart.length === 0
      ? {}
      : { differed: apart.map(({ reading, fields }) => ({ ...shown(reading), fields: [...shownFields(fields)] })) }),
    ...(silent.length === 0 ? {} : { silent: [...silent] }),
    ...(unconfirmed.length === 0 ? {} : { unconfirmed: [...shownFields(unconfirmed)] }),
  }
}

const fieldsShownMax = 20

/** Shortens a list of more than 20 fields to its families, because a series has thousands of fields. */
function shownFields(fields: readonly string[]): readonly string[] {
  return fields.length <= fieldsShownMax ? fields : [...new Set(fields.map(familyOf))]
}

async function readProvider<Query, Data>(
  { asking, query, endMs, failures, silent }: Inquiry<Query, Data>,
  provider: Provider<Query, Data>,
): Promise<Heard<Data> | undefined> {
  const { clock, options, liveness } = asking
  const leftMs = Math.min(endMs - clock.monotonicMs(), providerMsMax)
  try {
    const answer = await askOne({ clock, options, provider, leftMs }, query)
    liveness.noteAnswer(provider.name)
    const { figures, asOfMs, doubt, isContinuous } = answer.observation
    const present = assertPresent(figures, 'a provider whose answers are compared reports its figures')
    const reading = { source: provider.name, figures: present, asOfMs, doubt, isContinuous, isComplete: true }
    return { reading, answer }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    // Count the failure only if time was left. Otherwise no request was sent, and the provider is not at fault.
    if (leftMs > 0) liveness.noteFailure(provider.name, error)
    failures.push(error)
    if (error.kind !== 'not_covered') silent.push(provider.name)
    return undefined
  }
}

async function readWitness<Query, Data>(
  { query, silent }: Inquiry<Query, Data>,
  { name, ask }: Witness<Query>,
): Promise<Heard<Data> | undefined> {
  try {
    const { figures, asOfMs } = await ask(query)
    return { reading: { source: name, figures, asOfMs, isComplete: false }, answer: undefined }
  } catch (error) {
    // Ignore the failure here, because the upstream has counted and logged it.
    if (!(error instanceof UpstreamFailure)) throw error
    silent.push(name)
    return undefined
  }
}

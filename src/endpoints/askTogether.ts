import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { UpstreamFailure } from '../outbound/upstreamFailure.ts'
import { askOne, noAnswerOf, providerMsMax, type ProvidersInTurn, type Remembered } from './askInTurn.ts'
import type { Provider } from './providers/provider.ts'

/** How answers of several providers are compared. */
export interface Agreement<Query, Data> {
  agree(one: Data, other: Data): boolean
  /** The compared figures, for `meta.evidence`. */
  evidence(data: Data): Readonly<Record<string, Json>>
  /** Reason why no answer to this query can be like this one. */
  whyImplausible(query: Query, data: Data): string | undefined
  /** Reason why an answer that no other provider confirms is not sold. */
  whyDoubtful(query: Query, data: Data): string | undefined
  /** Called with each answer that two providers agree on. */
  noteAgreed(query: Query, data: Data): void
}

export interface ProvidersTogether<Query, Data> extends ProvidersInTurn<Query, Data> {
  readonly agreement: Agreement<Query, Data>
}

const atOnce = 2
const chainMsMax = 10_000

/**
 * Asks two providers at once, and the others in turn until two agree. The answer is that of the first of the two that agree. If
 * only one provider answers, its answer is sold as that of a single source. If several answer and no two agree, none is sold.
 */
export async function askTogether<Query, Data>(
  together: ProvidersTogether<Query, Data>,
  query: Query,
): Promise<Remembered<Data>> {
  const { clock, options, liveness, agreement } = together
  const answers: Remembered<Data>[] = []
  const failures: UpstreamFailure[] = []
  const endMs = clock.monotonicMs() + chainMsMax
  async function hear(provider: Provider<Query, Data>): Promise<void> {
    const leftMs = Math.min(endMs - clock.monotonicMs(), providerMsMax)
    try {
      const answer = await askOne({ clock, options, provider, leftMs }, query)
      liveness.noteAnswer(provider.name)
      const why = agreement.whyImplausible(query, answer.observation.data)
      if (why !== undefined) throw new UpstreamFailure('incomplete', `${provider.name}: ${why}`)
      answers.push(answer)
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      if (leftMs > 0) liveness.noteFailure(provider.name, error)
      failures.push(error)
    }
  }
  const isReady = (one: Provider<Query, Data>) => one.whyUnavailable() === undefined && one.covers?.(query) !== false
  const inOrder = options.providers.toSorted((a, b) => Number(isReady(b)) - Number(isReady(a)))
  await Promise.all(inOrder.slice(0, atOnce).map(hear))
  for (const provider of inOrder.slice(atOnce)) {
    if (findPair(together, answers) !== undefined) break
    await hear(provider)
  }
  return decide(together, query, { answers, failures })
}

/** In the order of the providers, whichever answered first. */
function ordered<Query, Data>(
  { options }: ProvidersTogether<Query, Data>,
  answers: readonly Remembered<Data>[],
): readonly Remembered<Data>[] {
  const names = options.providers.map(({ name }) => name)
  return answers.toSorted((a, b) => names.indexOf(a.provider) - names.indexOf(b.provider))
}

function findPair<Query, Data>(
  together: ProvidersTogether<Query, Data>,
  answers: readonly Remembered<Data>[],
): Remembered<Data> | undefined {
  const agree = (one: Remembered<Data>) => (other: Remembered<Data>) =>
    other !== one && together.agreement.agree(one.observation.data, other.observation.data)
  return ordered(together, answers).find((one) => answers.some(agree(one)))
}

interface Heard<Data> {
  readonly answers: readonly Remembered<Data>[]
  readonly failures: readonly UpstreamFailure[]
}

function decide<Query, Data>(
  together: ProvidersTogether<Query, Data>,
  query: Query,
  { answers, failures }: Heard<Data>,
): Remembered<Data> {
  const { agreement } = together
  const [only, another] = answers
  if (only === undefined) throw noAnswerOf(failures)
  if (another === undefined) {
    const why = agreement.whyDoubtful(query, only.observation.data)
    if (why !== undefined)
      throw noAnswerOf([...failures, new UpstreamFailure('incomplete', `${only.provider}: ${why}`)])
    return marked(together, answers, only)
  }
  const sold = findPair(together, answers)
  if (sold === undefined)
    throw noAnswerOf([...failures, new UpstreamFailure('incomplete', 'the providers do not agree')])
  agreement.noteAgreed(query, sold.observation.data)
  return marked(together, answers, sold)
}

/** The answer with the opinions of all providers in its detail. */
function marked<Query, Data>(
  together: ProvidersTogether<Query, Data>,
  answers: readonly Remembered<Data>[],
  sold: Remembered<Data>,
): Remembered<Data> {
  const { agreement } = together
  const { observation } = sold
  const evidence = ordered(together, answers).map(({ provider, observation: { data, asOfMs } }) => ({
    source: provider,
    asOf: isoTime(asOfMs),
    agrees: agreement.agree(observation.data, data),
    ...agreement.evidence(data),
  }))
  const detail = { ...observation.detail, agreement: answers.length === 1 ? 'single_source' : 'agreed', evidence }
  return { ...sold, observation: { ...observation, detail } }
}

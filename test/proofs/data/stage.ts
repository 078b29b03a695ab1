import type { UpstreamName } from '../../../src/product/providerTerms.ts'
import type { ProviderDeps } from '../../../src/sourcing/provider.ts'
import type { Outcome } from '../../../src/product/product.ts'
import type { Answering } from '../../support/loopbackProvider.ts'
import type { BodyFacts } from './fieldFaults.ts'
import type { HonestReply } from './httpFaults.ts'

/** One order of one product, the honest replies to it, and the judgement of an answer by someone who knows the truth. */
export interface Stage {
  readonly name: string
  readonly providers: readonly StagedProvider[]
  /** A new product over the providers, as a service opens it at start. */
  open(deps: ProviderDeps, urlOf: (name: StagedName) => string): { buy(): Promise<Outcome> }
  /** Undefined for a right answer; otherwise the field that is wrong. `isAlone`: every other provider is silent. */
  whyWrong(data: unknown, isAlone: boolean): string | undefined
  /** Time after which an answer is no longer served from memory. Absent: no variant begins with a sale. */
  readonly forgottenAfterMs?: number
  /** Only every n-th fault of a field is tried, where many fields are alike. */
  readonly thinning?: number
  /** True: the times of the replies are of now, and not those of the fixtures. */
  readonly isNow?: boolean
  readonly apiKeys?: Readonly<Partial<Record<UpstreamName, string>>>
}

/** The feeds of publishers are not a named upstream. */
export type StagedName = UpstreamName | 'NEWS_FEEDS'

export interface StagedProvider {
  readonly name: StagedName
  readonly honest: HonestReply
  /** Replies to other requests, which stay honest. */
  readonly aside?: (asked: URL) => Answering | undefined
  /** Absent: only faults of HTTP. */
  readonly facts?: BodyFacts | undefined
}

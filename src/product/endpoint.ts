import type { z } from 'zod'
import type { CheckedOrder, SentParts } from './product.ts'
import type { Liveness } from './liveness.ts'
import type { ProductFacts } from './productFacts.ts'

/** An opened product: its definition, connected with the services of the process that it needs. */
export interface Endpoint extends ProductFacts {
  /**
   * Returns the reason why no caller can buy the product now, in words for the caller. Undefined if at least one caller
   * can buy it.
   */
  whyUnavailable(): string | undefined
  /** Returns the current source of answers. For a product without providers, returns `providers`. */
  suppliedBy(): Supplier
  /** Trackers of the product's providers. A background job probes the providers through them. */
  readonly probes: readonly Liveness[]
  /** Checks raw input against `parameters`. Returns the checked order, or the issues. */
  read(input: unknown, sent?: SentParts): ReadParameters
}

/**
 * Source of a product's answers. `samples`: local mode's substitutes for providers. `none`: no provider is configured,
 * or no provider answers.
 */
export type Supplier = 'providers' | 'samples' | 'none'

export type ReadParameters =
  | ({ readonly ok: true } & CheckedOrder)
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] }

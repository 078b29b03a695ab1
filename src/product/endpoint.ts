import type { z } from 'zod'
import type { CheckedOrder, SentParts } from './product.ts'
import type { Liveness } from './liveness.ts'
import type { ProductFacts } from './productFacts.ts'

export interface Endpoint extends ProductFacts {
  /**
   * Returns the reason why the product cannot be sold now, in words for the caller. A single order may differ: an order
   * with a cached answer can still be sold.
   */
  whyUnavailable(): string | undefined
  suppliedBy(): Supplier
  readonly probes: readonly Liveness[]
  read(input: unknown, sent?: SentParts): ReadParameters
}

/** `samples`: local mode's substitutes for providers. `none`: no provider is configured, or none answers. */
export type Supplier = 'providers' | 'samples' | 'none'

export type ReadParameters =
  | ({ readonly ok: true } & CheckedOrder)
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] }

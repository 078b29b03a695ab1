import type { z } from 'zod'
import type { CheckedOrder, SentParts } from './product.ts'
import type { Liveness } from './liveness.ts'
import type { ProductFacts } from './productFacts.ts'

/** A product that this process can sell: its definition and the parts of the process that it needs. */
export interface Endpoint extends ProductFacts {
  /** Undefined if the product can be sold to at least one caller; otherwise the reason, for the caller. */
  whyUnavailable(): string | undefined
  /** Returns the current source of answers. A product that needs no provider returns `providers`. */
  suppliedBy(): Supplier
  /** The sources whose providers are probed in the background. */
  readonly probes: readonly Liveness[]
  /** Checks raw input against `parameters`. */
  read(input: unknown, sent?: SentParts): ReadParameters
}

/** `samples`: local mode's substitutes for providers. `none`: no provider is configured, or none answers. */
export type Supplier = 'providers' | 'samples' | 'none'

export type ReadParameters =
  | ({ readonly ok: true } & CheckedOrder)
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] }

import type { z } from 'zod'
import type { CheckedOrder } from './product.ts'
import type { Liveness } from './liveness.ts'
import type { ProductFacts } from './productFacts.ts'

/** A product that this process can sell: its definition, connected to what it needs. */
export interface Endpoint extends ProductFacts {
  /** Undefined when at least one caller can be served; otherwise the reason, in words for the caller. */
  whyUnavailable(): string | undefined
  /** Names the source of answers at the moment. A product that needs no provider counts as supplied by providers. */
  suppliedBy(): Supplier
  /** The sources whose providers are probed in the background. */
  readonly probes: readonly Liveness[]
  /** Checks raw input against `parameters`. */
  read(input: unknown): ReadParameters
}

/** `samples`: the stand-ins of local mode. `none`: no provider is configured, or none answers. */
export type Supplier = 'providers' | 'samples' | 'none'

export type ReadParameters =
  | ({ readonly ok: true } & CheckedOrder)
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] }

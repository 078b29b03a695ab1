import type { z } from 'zod'
import type { Ordered } from '../product/product.ts'
import type { ProductFacts } from './productFacts.ts'

/** A product that this process can sell: its definition, connected to what it needs. */
export interface Endpoint extends ProductFacts {
  /** Undefined when at least one caller can be served; otherwise the reason, in words for the caller. */
  whyUnavailable(): string | undefined
  /** Checks raw input against `parameters`. */
  read(input: unknown): ReadParameters
}

export type ReadParameters =
  | ({ readonly ok: true } & Ordered)
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] }

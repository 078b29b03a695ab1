import type { CheckParameters } from './checkParameters.ts'
import type { Schema } from './parameterSchema.ts'
import type { RouteEntry } from './productsFile.ts'
import type { RoutePrices } from './routePrices.ts'

/** A route of the file whose every part was checked. */
export interface CheckedRoute {
  readonly route: RouteEntry
  readonly schema: Schema
  readonly check: CheckParameters
  readonly prices: RoutePrices
}

import { z } from 'zod'
import { defineProduct, type ProductDefinition } from '../product/productDefinition.ts'
import { type CheckParameters, type Parameters, parametersType } from './checkParameters.ts'
import { deliverRoute, type RouteDeps } from './deliverRoute.ts'
import { readTexts } from './orderTexts.ts'
import type { Schema } from './parameterSchema.ts'
import type { RouteEntry } from './productsFile.ts'
import type { RoutePrices } from './routePrices.ts'
import { readTarget } from './routeRequest.ts'

/** A route of the file whose every part was checked. */
export interface CheckedRoute {
  readonly route: RouteEntry
  readonly schema: Schema
  readonly check: CheckParameters
  readonly prices: RoutePrices
}

// A product needs an example of its answer. That of a route is known only when it is sold.
const answerOfUpstream = z.unknown().meta({ description: 'The answer of the API, unchanged.' })

/** Makes the product that a route describes. */
export function routeProduct(checked: CheckedRoute, deps: RouteDeps): ProductDefinition<unknown> {
  const { route, schema, check, prices } = checked
  const { priceMicroUsd, variants, variantOf } = prices
  const read = (input: unknown) => (route.method === 'GET' ? readTexts(schema, input) : input)
  const contentType = route.content_types[0] ?? 'application/json'
  return defineProduct<Parameters, unknown, unknown>({
    path: route.path,
    method: route.method,
    summary: route.summary,
    priceMicroUsd,
    ...(variants.length === 0 ? {} : { variants }),
    parameters: parametersType({ schema, check, inPath: readTarget(route.to).inPath }, read),
    answer: answerOfUpstream,
    stream: { contentType },
    ...(route.stream === 'passthrough' ? { streamOnDemand: { contentType: 'text/event-stream' } } : {}),
    example: { order: route.example, answer: {} },
    providers: [],
    demo: { order: () => route.example, check: () => 'delivered' },
    open: () => ({
      whyUnavailable: () => deps.client.whyUnavailable(),
      providersAnswer: () => deps.client.liveness.someAnswer(),
      probes: [deps.client.liveness],
      variant: variantOf,
      deliver: (order, job) => deliverRoute(deps, route, { order, job }),
    }),
  })
}

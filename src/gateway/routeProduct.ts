import { z } from 'zod'
import { segmentNames } from '@tollbook/core/pathTemplate'
import { defineProduct, type ProductDefinition } from '../product/productDefinition.ts'
import type { CheckedRoute } from './checkRoute.ts'
import { type Parameters, parametersType } from './checkParameters.ts'
import { deliverRoute } from './deliverRoute.ts'
import { deliverTool, type ToolDeps } from './deliverTool.ts'
import { readTexts } from './orderTexts.ts'
import { fixedNames, hasJsonBody, isJoined, readTarget } from './routeRequest.ts'
import { countInput, tokenNames } from './tokenUse.ts'

// A product must describe its answer, but the answer of a route is unknown until the upstream sends it.
const answerOfUpstream = z.unknown().meta({ description: 'The answer of the API, unchanged.' })

export function routeProduct(checked: CheckedRoute, deps: ToolDeps): ProductDefinition<unknown> {
  const { route, schema, check, prices } = checked
  const { priceMicroUsd, variants, metered, unit, variantOf } = prices
  const { content_types: bodyTypes, max: bodyBytesMax } = route.body
  // The values of a JSON body have types, so only the segments of the path are read as texts.
  const texts = hasJsonBody(route) ? segmentNames(route.path) : undefined
  const read = (input: unknown) => readTexts(schema, input, texts)
  const contentType = route.content_types[0] ?? 'application/json'
  return defineProduct<Parameters, unknown, unknown>({
    path: route.path,
    method: route.method,
    summary: route.summary,
    priceMicroUsd,
    ...(metered === undefined ? {} : { metered }),
    ...(unit === undefined ? {} : { usedUnit: unit.kind }),
    ...(variants.length === 0 ? {} : { variants }),
    parameters: parametersType(
      {
        schema,
        check,
        inPath: readTarget(route.to ?? '/').inPath,
        isJoined: (name) => isJoined(route, name),
        // The parameters of a JSON body are not in the query.
        fixed: hasJsonBody(route) ? [] : fixedNames(route),
        known: unit?.kind === 'tokens' ? tokenNames : [],
      },
      read,
    ),
    answer: answerOfUpstream,
    ...(route.answer === 'as_is' && route.tool === undefined ? { stream: { contentType } } : {}),
    ...(bodyTypes === undefined ? {} : { rawBody: { contentTypes: bodyTypes } }),
    bodyBytesMax,
    ...(route.forward.request.length === 0 ? {} : { passedHeaders: route.forward.request }),
    ...(route.forward.response.length === 0 ? {} : { returnedHeaders: route.forward.response }),
    ...(route.stream === 'passthrough' ? { streamOnDemand: { contentType: 'text/event-stream' } } : {}),
    example: { order: route.example, answer: {} },
    providers: [],
    demo: { order: () => route.example, check: () => 'delivered' },
    open: () => ({
      whyUnavailable: () => deps.client.whyUnavailable(),
      providersAnswer: () => deps.client.liveness.someAnswer(),
      probes: [deps.client.liveness],
      variant: variantOf,
      ...(unit?.kind === 'tokens' ? { inputUnits: countInput } : {}),
      deliver: (order, job) => (route.tool === undefined ? deliverRoute : deliverTool)(deps, checked, { order, job }),
    }),
  })
}

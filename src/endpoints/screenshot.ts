import { z } from 'zod'
import { findUrlProblem } from '../outbound/urlGuard.ts'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { pngSize } from './pngSize.ts'
import { type RenderDeps, renderOutcome } from './renderOutcome.ts'
import { integer } from './text.ts'

/** A target that may be tried. The guard at the connection has the last word. */
export function targetUrl(allowHosts: readonly string[]) {
  return z
    .string({
      error: ({ input }) =>
        input === undefined ? 'is required: an http or https URL' : 'must be an http or https URL',
    })
    .superRefine((value, context) => {
      const problem = findUrlProblem(value, allowHosts)
      if (problem !== undefined) context.addIssue(problem)
    })
    .meta({ description: 'an http or https URL on port 80 or 443, of a public host', format: 'uri', maxLength: 2_048 })
}

export function createScreenshot({ clock, renderer, artifacts, artifactUrl, allowHosts }: RenderDeps): Endpoint {
  return defineEndpoint({
    path: '/api/tools/screenshot',
    method: 'POST',
    summary: 'Picture of a web page',
    schema: z.strictObject({
      url: targetUrl(allowHosts),
      width: integer({ min: 320, max: 3_840, default: 1_280 }),
      height: integer({ min: 240, max: 2_160, default: 720 }),
      fullPage: z.boolean({ error: 'must be true or false' }).default(false),
    }),
    whyUnavailable: () => renderer.whyUnavailable() ?? artifacts.whyUnavailable(),
    handle: (parameters, { signal }) =>
      renderOutcome(
        clock,
        () => renderer.screenshot(parameters, signal),
        async (bytes) => {
          const { name, expiresAt } = await artifacts.keep('image/png', bytes)
          return { data: { imageUrl: artifactUrl(name), ...pngSize(bytes), format: 'png' }, expiresAt }
        },
      ),
  })
}

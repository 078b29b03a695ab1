import { z } from 'zod'
import { findUrlProblem } from '../outbound/urlGuard.ts'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { neverBuilt } from './neverBuilt.ts'
import { integer } from './text.ts'

/** A target that may be tried. The guard at the connection has the last word. */
export const targetUrl = z
  .string({
    error: ({ input }) => (input === undefined ? 'is required: an http or https URL' : 'must be an http or https URL'),
  })
  .superRefine((value, context) => {
    const problem = findUrlProblem(value)
    if (problem !== undefined) context.addIssue(problem)
  })
  .meta({ description: 'an http or https URL on port 80 or 443, of a public host', format: 'uri', maxLength: 2_048 })

export function createScreenshot(): Endpoint {
  return defineEndpoint({
    path: '/api/tools/screenshot',
    method: 'POST',
    summary: 'Picture of a web page',
    schema: z.strictObject({
      url: targetUrl,
      width: integer({ min: 320, max: 3_840, default: 1_280 }),
      height: integer({ min: 240, max: 2_160, default: 720 }),
      fullPage: z.boolean({ error: 'must be true or false' }).default(false),
    }),
    ...neverBuilt('screenshots'),
  })
}
